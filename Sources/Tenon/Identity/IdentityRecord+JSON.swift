// SPDX-License-Identifier: Apache-2.0

// What is written. Every member of a version is there always; what is not known is null.
extension IdentityRecord {
    /// 2 has what the device was told for its attestation, which keys were reported as compromised, which key signs while
    /// a rotation is not settled, and from which moment of the boot on a new one counts.
    static let version: Int64 = 2

    func json(version: Int64) -> JSON {
        let first: JSON = [
            "version": .integer(version),
            "profile": .string(name.profile), "base_url": .string(name.baseURL), "app_id": .string(name.appID),
            "origin": .string(origin), "dialect": .string(dialect), "platform": .string(platform),
            "alias": .string(alias), "dev": .bool(isDev),
            "state": .string(state.rawValue), "reason": .or(reason?.rawValue), "revoked": .bool(isRevoked),
            "device_id": .or(deviceID), "device_local_id": .string(deviceLocalID),
            "registered_at": .or(registeredAt), "key_rotated_at": .or(keyRotatedAt),
            "refused_at": refusedAt?.json ?? .null, "clock": clock?.json ?? .null,
            "attestation": .or(attestation?.rawValue), "ak": attestationKey?.json ?? .null,
            "ek_id": .hex(ekID?.rawRepresentation),
            "sig_versions": .array(signatureVersions.map { .integer($0) }),
            "keys": .array(keys.map(\.json)), "last_generation": .integer(Int64(lastGeneration)),
            "journal": journal?.json(version: version) ?? .null, "last_slot": .or(lastSlot),
        ]
        guard version >= 2 else { return first }
        return first.with("attestation_settings", attestationSettings?.json ?? .null)
            .with("compromised_generation", .or(compromisedGeneration.map { Int64($0) }))
            .with("signs_by_next", .bool(signsByNext))
    }
}

extension AttestationSettings {
    fileprivate var json: JSON {
        [
            "ca_url": .or(service?.url), "ca_roots": .certificates(service?.roots ?? []),
            "ek_chain": .certificates(endorsement),
        ]
    }
}

extension BootMoment {
    fileprivate var json: JSON { ["boot_ms": .integer(milliseconds), "boot": .string(boot)] }
}

extension ClockOffset {
    fileprivate var json: JSON {
        [
            "clock_offset_ms": .integer(milliseconds), "learnt_at_ms": .integer(learntAt),
            "wall_less_boot_ms": .integer(wallLessBoot), "boot": .string(boot),
        ]
    }
}

extension KeyFacts {
    fileprivate var json: JSON {
        [
            "name": .hex(name), "parent": .hex(parent), "witness": .hex(witness),
            "sha256": .hex(digest.rawRepresentation), "file": .string(TextEncoding.base64.encode(pem)),
        ]
    }
}

extension IdentityKey {
    fileprivate var json: JSON {
        [
            "generation": .integer(Int64(generation)), "role": .string(role.rawValue), "hardware": .bool(isHardware),
            "offered": .bool(isOffered), "facts": facts.json,
        ]
    }
}

extension AttestationKey {
    fileprivate var json: JSON {
        [
            "facts": facts.json, "shown_to": .or(shownTo), "activated": .bool(isActivated),
            "certificate": certificate?.json ?? .null,
        ]
    }
}

extension AttestationKey.Certificate {
    fileprivate var json: JSON {
        [
            "issuer": .string(issuer), "serial": .hex(serial), "not_before": .integer(notBefore),
            "not_after": .integer(notAfter), "sha256": .hex(digest.rawRepresentation),
        ]
    }
}

extension Journal {
    fileprivate func json(version: Int64) -> JSON {
        let first: JSON = [
            "operation": .string(operation.rawValue), "phase": .string(phase.rawValue),
            "resend": .string(resend.rawValue), "slot": .or(slot),
            "message": .string(TextEncoding.base64.encode(message)),
            "old_generation": .or(oldGeneration.map { Int64($0) }), "new_generation": .integer(Int64(newGeneration)),
            "awaits_approval": .bool(awaitsApproval), "effective_at": .or(effectiveAt),
        ]
        return version < 2 ? first : first.with("effective_from", effectiveFrom?.json ?? .null)
    }
}

extension JSON {
    fileprivate func with(_ key: String, _ value: JSON) -> JSON {
        var object = object ?? JSONObject()
        object[key] = value
        return .object(object)
    }

    fileprivate static func certificates(_ certificates: [[UInt8]]) -> JSON {
        .array(certificates.map { .string(TextEncoding.base64.encode($0)) })
    }

    fileprivate static func or(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
    fileprivate static func or(_ number: Int64?) -> JSON { number.map { .integer($0) } ?? .null }
    fileprivate static func hex(_ bytes: [UInt8]?) -> JSON { or(bytes.map { TextEncoding.hex.encode($0) }) }
}
