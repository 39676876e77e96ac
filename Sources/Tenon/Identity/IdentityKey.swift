// SPDX-License-Identifier: Apache-2.0

/// The facts about a key that its file does not state, and a copy of the file (decision: key-digest).
package struct KeyFacts: Equatable, Sendable {
    static let longestFile = 4096

    /// The file.
    package let pem: [UInt8]
    /// The SHA-256 of the file.
    package let digest: Digest
    /// The TPM's Names of the key, of its parent, and of what the TPM's seed is known by.
    package let name: [UInt8]
    package let parent: [UInt8]?
    package let witness: [UInt8]?

    package init(pem: [UInt8], name: [UInt8], parent: [UInt8]?, witness: [UInt8]?) throws(TenonError) {
        guard 1...Self.longestFile ~= pem.count else {
            throw TenonError(.length, message: "A key file must have 1 to \(Self.longestFile) bytes, not \(pem.count).")
        }
        for name in [name, parent, witness].compactMap({ $0 }) where !(1...66 ~= name.count) {
            throw TenonError(.length, message: "A Name must have 1 to 66 bytes, not \(name.count).")
        }
        self.pem = pem
        digest = try Digest(hashing: pem)
        self.name = name
        self.parent = parent
        self.witness = witness
    }
}

/// The purpose of a key.
package enum KeyRole: String, CaseIterable, Sendable {
    /// Signs: the one that the service holds, or is to hold by the registration in the journal.
    case current
    /// Is to follow: offered by a rotation, or committed to before.
    case next
    /// Is to follow the next one: a rotation that reveals that binds itself to this (decision: key-roles).
    case following
    /// Came before the current one, and is kept until the service accepted a request signed by that
    /// (decision: one-offered-key).
    case previous
}

/// A signing key of the identity.
package struct IdentityKey: Equatable, Sendable {
    package let generation: Int
    package var role: KeyRole
    package var facts: KeyFacts
    package let isHardware: Bool
    /// Whether its public half may have left the device: then it is offered again, and never dropped but by a reset.
    package var isOffered: Bool
    /// Whether a message that may have left the device is bound to it: nothing can take its place.
    package var isCommitted: Bool

    package init(
        generation: Int, role: KeyRole, facts: KeyFacts, isHardware: Bool, isOffered: Bool, isCommitted: Bool = false
    ) {
        self.generation = generation
        self.role = role
        self.facts = facts
        self.isHardware = isHardware
        self.isOffered = isOffered
        self.isCommitted = isCommitted
    }
}

/// The key that says that the others were born in the TPM.
package struct AttestationKey: Equatable, Sendable {
    package struct Certificate: Equatable, Sendable {
        /// The origin that issued it, and the only one that it is shown to.
        package var issuer: String
        package var serial: [UInt8]
        /// Seconds since 1970.
        package var notBefore: Int64
        package var notAfter: Int64
        /// The SHA-256 of its file.
        package var digest: Digest

        package init(issuer: String, serial: [UInt8], notBefore: Int64, notAfter: Int64, digest: Digest) {
            self.issuer = issuer
            self.serial = serial
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.digest = digest
        }

        /// Whether two thirds of its life are over (decision: ak-certificate).
        func isDue(at time: Int64) -> Bool {
            let (life, overflow) = notAfter.subtractingReportingOverflow(notBefore)
            return overflow || life < 0 || time >= notAfter &- life / 3
        }
    }

    package var facts: KeyFacts
    /// The origin, or the attestation CA, that saw it: never a second one.
    package var shownTo: String?
    /// Whether the service took a registration that it proved: only then does it know this attestation key.
    package var isActivated: Bool
    package var certificate: Certificate?

    package init(
        facts: KeyFacts, shownTo: String? = nil, isActivated: Bool = false, certificate: Certificate? = nil
    ) {
        self.facts = facts
        self.shownTo = shownTo
        self.isActivated = isActivated
        self.certificate = certificate
    }
}

// How keys stand in a record.
extension KeyFacts: RecordObject {
    static func coded(_ coder: RecordCoder, _ known: KeyFacts?) throws(TenonError) -> KeyFacts {
        // The digest is the file's: one that is not is found when the record is compared with what was read.
        _ = try coder.member("sha256", known?.digest, .digest)
        return try KeyFacts(
            pem: coder.member("file", known?.pem, .base64), name: coder.member("name", known?.name, .hex),
            parent: coder.optional("parent", known?.parent, .hex),
            witness: coder.optional("witness", known?.witness, .hex))
    }
}

extension IdentityKey: RecordObject {
    static func coded(_ coder: RecordCoder, _ known: IdentityKey?) throws(TenonError) -> IdentityKey {
        try IdentityKey(
            generation: coder.member("generation", known?.generation, .count),
            role: coder.member("role", known?.role, .choice), facts: coder.member("facts", known?.facts, .object),
            isHardware: coder.member("hardware", known?.isHardware, .flag),
            isOffered: coder.member("offered", known?.isOffered, .flag),
            isCommitted: coder.optional("committed", known?.isCommitted, .flag, since: 3) ?? false)
    }
}

extension AttestationKey: RecordObject {
    static func coded(_ coder: RecordCoder, _ known: AttestationKey?) throws(TenonError) -> AttestationKey {
        try AttestationKey(
            facts: coder.member("facts", known?.facts, .object),
            shownTo: coder.optional("shown_to", known?.shownTo, .text),
            isActivated: coder.member("activated", known?.isActivated, .flag),
            certificate: coder.optional("certificate", known?.certificate, .object))
    }
}

extension AttestationKey.Certificate: RecordObject {
    static func coded(_ coder: RecordCoder, _ known: Self?) throws(TenonError) -> Self {
        try Self(
            issuer: coder.member("issuer", known?.issuer, .text), serial: coder.member("serial", known?.serial, .hex),
            notBefore: coder.member("not_before", known?.notBefore, .number),
            notAfter: coder.member("not_after", known?.notAfter, .number),
            digest: coder.member("sha256", known?.digest, .digest))
    }
}
