// SPDX-License-Identifier: Apache-2.0

extension IdentityRecord {
    /// Takes the value of a record of this version. What it makes of it is to be compared with what was read.
    init(_ json: JSON) throws(TenonError) {
        let members = try RecordMembers(json, "record")
        let name = try IdentityName(
            profile: members.text("profile"), baseURL: members.text("base_url"), appID: members.text("app_id"))
        var record = IdentityRecord(
            name, origin: try members.text("origin"), dialect: try members.text("dialect"),
            platform: try members.text("platform"), alias: try members.text("alias"),
            deviceLocalID: try members.text("device_local_id"), isDev: try members.flag("dev"))
        try record.takeKeys(members)
        try record.takeFacts(members)
        try record.takeSettings(members)
        let state: IdentityState = try members.choice("state")
        let reason: IdentityReason? = try members.optional("reason") { key throws(TenonError) in try members.choice(key)
        }
        self.init(restoring: state, cause: state == .keyInvalid ? reason : nil, in: record)
    }

    private mutating func takeKeys(_ members: RecordMembers) throws(TenonError) {
        for value in try members.list("keys") {
            keys.append(try IdentityKey(RecordMembers(value, "keys")))
        }
        lastGeneration = try members.count("last_generation")
        attestationKey = try members.optional("ak") { key throws(TenonError) in try AttestationKey(members.members(key))
        }
        ekID = try members.optional("ek_id", members.digest)
        journal = try members.optional("journal") { key throws(TenonError) in try Journal(members.members(key)) }
        lastSlot = try members.optional("last_slot", members.number)
        signsByNext = try members.later("signs_by_next", members.flag) ?? false
    }

    private mutating func takeSettings(_ members: RecordMembers) throws(TenonError) {
        attestationSettings = try members.later("attestation_settings") { key throws(TenonError) in
            try AttestationSettings(members.members(key))
        }
        compromisedGeneration = try members.later("compromised_generation", members.count)
    }

    private mutating func takeFacts(_ members: RecordMembers) throws(TenonError) {
        isRevoked = try members.flag("revoked")
        deviceID = try members.optional("device_id", members.text)
        registeredAt = try members.optional("registered_at", members.number)
        keyRotatedAt = try members.optional("key_rotated_at", members.number)
        refusedAt = try members.optional("refused_at") { key throws(TenonError) in
            try BootMoment(members.members(key))
        }
        clock = try members.optional("clock") { key throws(TenonError) in try ClockOffset(members.members(key)) }
        attestation = try members.optional("attestation") { key throws(TenonError) in try members.choice(key) }
        for value in try members.list("sig_versions") {
            guard let version = value.integer else { throw Self.malformed("sig_versions") }
            signatureVersions.append(version)
        }
    }
}

extension AttestationSettings {
    fileprivate init(_ members: RecordMembers) throws(TenonError) {
        let url = try members.optional("ca_url", members.text)
        let roots = try members.certificates("ca_roots")
        self.init(
            service: url.map { .init(url: $0, roots: roots) }, endorsement: try members.certificates("ek_chain"))
    }
}

extension BootMoment {
    fileprivate init(_ members: RecordMembers) throws(TenonError) {
        self.init(milliseconds: try members.number("boot_ms"), boot: try members.text("boot"))
    }
}

extension ClockOffset {
    fileprivate init(_ members: RecordMembers) throws(TenonError) {
        self.init(
            milliseconds: try members.number("clock_offset_ms"), learntAt: try members.number("learnt_at_ms"),
            wallLessBoot: try members.number("wall_less_boot_ms"), boot: try members.text("boot"))
    }
}

extension KeyFacts {
    fileprivate init(_ members: RecordMembers) throws(TenonError) {
        try self.init(
            pem: members.base64("file"), name: members.hex("name"), parent: members.optional("parent", members.hex),
            witness: members.optional("witness", members.hex))
    }
}

extension IdentityKey {
    fileprivate init(_ members: RecordMembers) throws(TenonError) {
        self.init(
            generation: try members.count("generation"), role: try members.choice("role"),
            facts: try KeyFacts(members.members("facts")), isHardware: try members.flag("hardware"),
            isOffered: try members.flag("offered"))
    }
}

extension AttestationKey {
    fileprivate init(_ members: RecordMembers) throws(TenonError) {
        self.init(
            facts: try KeyFacts(members.members("facts")), shownTo: try members.optional("shown_to", members.text),
            isActivated: try members.flag("activated"),
            certificate: try members.optional("certificate") { key throws(TenonError) in
                try Certificate(members.members(key))
            })
    }
}

extension AttestationKey.Certificate {
    fileprivate init(_ members: RecordMembers) throws(TenonError) {
        self.init(
            issuer: try members.text("issuer"), serial: try members.hex("serial"),
            notBefore: try members.number("not_before"), notAfter: try members.number("not_after"),
            digest: try members.digest("sha256"))
    }
}

extension Journal {
    fileprivate init(_ members: RecordMembers) throws(TenonError) {
        self.init(
            operation: try members.choice("operation"), resend: try members.choice("resend"),
            slot: try members.optional("slot", members.number), message: try members.base64("message"),
            oldGeneration: try members.optional("old_generation", members.count),
            newGeneration: try members.count("new_generation"))
        phase = try members.choice("phase")
        awaitsApproval = try members.flag("awaits_approval")
        effectiveAt = try members.optional("effective_at", members.number)
        effectiveFrom = try members.later("effective_from") { key throws(TenonError) in
            try BootMoment(members.members(key))
        }
    }
}
