// SPDX-License-Identifier: Apache-2.0

/// What holds the keys of a device: a TPM. The registrar names a key by its ``KeyFacts`` and nothing else, so a vault
/// may keep keys loaded, or load them for each use.
///
/// Asynchronous functions block no thread of the cooperative pool.
package protocol KeyVault: Sendable {
    /// Whether the private halves cannot leave the device.
    var isHardware: Bool { get }

    /// The same keys, whose signatures follow the rule.
    ///
    /// - Throws: ``TenonError/Code/serviceStep`` if the vault cannot promise that.
    func signing(_ rule: SignatureRule) throws(TenonError) -> any KeyVault

    /// Checks that the hardware can make and attest keys now: it is not locked, and nothing that is needed is off.
    func checkHardware() async throws(TenonError)

    /// Removes what the hardware itself keeps of a key: its persistent copy.
    func discard(_ facts: KeyFacts) async throws(TenonError)

    /// The same on the caller's thread, which it blocks.
    func blockingDiscard(_ facts: KeyFacts) throws(TenonError)

    /// Makes a signing key. Its file is the registrar's to write, before anybody is told of the key.
    func makeKey() async throws(TenonError) -> KeyFacts

    /// The key that the facts are of.
    ///
    /// - Throws: an error of the category ``TenonError/Category/gone`` only for a key that is lost for good, seen twice
    ///   (decision: gone); with it the identity ends. So do its functions that sign.
    func key(_ facts: KeyFacts) async throws(TenonError) -> any DeviceKey

    /// The same on the caller's thread, which it blocks.
    func blockingKey(_ facts: KeyFacts) throws(TenonError) -> any DeviceKey

    /// The key for a signature that is made now. That it is lost may show in the signature only (decision: unseen-key).
    func unseenKey(_ facts: KeyFacts) async throws(TenonError) -> any DeviceKey

    /// The same on the caller's thread, which it blocks.
    func blockingUnseenKey(_ facts: KeyFacts) throws(TenonError) -> any DeviceKey

    /// Drops what the vault keeps of a key, so that the next use asks the TPM.
    func forget(_ facts: KeyFacts)

    /// The facts about the key in a file.
    func facts(ofFile pem: [UInt8]) async throws(TenonError) -> KeyFacts

    // Errors of the following functions say nothing about a signing key, whatever their category is (decision:
    // command-and-code).

    /// Makes an attestation key that lives and dies with a signing key.
    func makeAttestationKey(beside key: KeyFacts) async throws(TenonError) -> KeyFacts

    /// The public area of an attestation key, which a service is shown.
    ///
    /// - Throws: an error of the category ``TenonError/Category/gone``, ``TenonError/Category/format`` or
    ///   ``TenonError/Category/rejected`` if the key must be made again.
    func publicArea(ofAttestationKey ak: KeyFacts) async throws(TenonError) -> PublicArea

    /// The endorsement key's certificate and those above it, leaf first (DER). They name the device for ever.
    ///
    /// - Throws: ``TenonError/Code/ekMissing`` when there is none.
    func endorsementCertificates() async throws(TenonError) -> [[UInt8]]

    /// SHA-256 of the endorsement key's SPKI, by which the device is known from another one.
    func endorsementKeyID() async throws(TenonError) -> Digest

    /// The same on the caller's thread, which it blocks.
    func blockingEndorsementKeyID() throws(TenonError) -> Digest

    /// Has the TPM prove that the key lives in it.
    func proof(
        of key: KeyFacts, by ak: KeyFacts, qualifyingData: [UInt8], certificates: [[UInt8]]
    ) async throws(TenonError) -> Proof

    /// Has the attestation key state what the PCRs are.
    func quote(of pcrs: Set<Int>, by ak: KeyFacts, qualifyingData: [UInt8]) async throws(TenonError) -> Quote

    /// Answers a challenge that came with a credential for the endorsement key of this certificate.
    func activate(
        _ activation: Activation, with credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Digest

    /// Opens a credential for an attestation CA, which is told the secret itself.
    func secret(
        of credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Secret
}

// Functions that only some identities need.
extension KeyVault {
    package func signing(_ rule: SignatureRule) throws(TenonError) -> any KeyVault {
        guard rule == .asMade else { throw .noSuchStep }
        return self
    }

    package func checkHardware() async throws(TenonError) {}

    package func unseenKey(_ facts: KeyFacts) async throws(TenonError) -> any DeviceKey { try await key(facts) }

    package func blockingUnseenKey(_ facts: KeyFacts) throws(TenonError) -> any DeviceKey { try blockingKey(facts) }

    package func discard(_ facts: KeyFacts) async throws(TenonError) {}

    package func blockingDiscard(_ facts: KeyFacts) throws(TenonError) {}

    package func facts(ofFile pem: [UInt8]) async throws(TenonError) -> KeyFacts { throw .noSuchStep }

    package func forget(_ facts: KeyFacts) {}

    package func secret(
        of credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Secret { throw .noSuchStep }

    package func quote(
        of pcrs: Set<Int>, by ak: KeyFacts, qualifyingData: [UInt8]
    ) async throws(TenonError) -> Quote { throw .noSuchStep }
}

extension Flow {
    /// The key to register: that of an earlier try if possible, because the service may hold it (W4).
    func registrationKey() async throws(TenonError) -> IdentityKey {
        let isReplaced = context.declaration.replacesUnsentKey && !hasMadeKey
        if let key = record.key(.current), isReplaced, !key.isOffered {
            // Its file goes to the attic with the next sweep.
            record.forgetKeys()
        }
        if let key = record.key(.current) {
            do throws(TenonError) {
                _ = try await vault.key(key.facts)
                return key
            } catch  where error.category == .gone {
                guard !key.isOffered else { throw try await invalidated() }
                // It was never sent.
                record.forgetKeys()
            }
        }
        try await profile.checkBeforeFirstKey()
        if context.declaration.checksTPM { try await vault.checkHardware() }
        let machine = try? await vault.endorsementKeyID()
        record.place(in: machine, deviceLocalID: try RequestHeaders.makeNonce())
        return try await makeKey(.current)
    }

    /// The key to which the registration binds itself.
    func nextKeyIfCommitted() async throws(TenonError) -> PublicKey? {
        guard context.declaration.keys == .committedNext else { return nil }
        return try await load(keyToCommit(.next)).publicKey
    }

    /// The key to which a message binds itself. Once such a message may have left, there is no other in its place
    /// (decision: key-roles).
    func keyToCommit(_ role: KeyRole) async throws(TenonError) -> IdentityKey {
        guard let key = record.key(role) else { return try await makeKey(role) }
        do throws(TenonError) {
            _ = try await vault.key(key.facts)
            return key
        } catch  where error.category == .gone && !key.isCommitted {
            try record.drop(key.generation)
            return try await makeKey(role)
        }
    }

    /// Makes a key and writes it to disk before it is sent.
    func makeKey(_ role: KeyRole) async throws(TenonError) -> IdentityKey {
        let facts = try await vault.makeKey()
        let held = held
        let generation = try await context.onDisk { store throws(TenonError) in
            let generation = try store.nextGeneration(held)
            try store.save(facts, as: .generation(generation), held)
            return generation
        }
        let key = try record.add(facts, as: role, generation: generation, isHardware: vault.isHardware)
        try await save()
        hasMadeKey = true
        return key
    }

    /// A key of the identity. One that is registered and lost ends it.
    ///
    /// - Parameter toSign: whether it signs next, which shows that it is lost; so does what it has signed in this call
    ///   (decision: unseen-key).
    @discardableResult
    func load(_ key: IdentityKey, toSign: Bool = false) async throws(TenonError) -> any DeviceKey {
        do throws(TenonError) {
            let isAsked = !toSign && !signers.contains(key.generation)
            return try await isAsked ? vault.key(key.facts) : vault.unseenKey(key.facts)
        } catch  where error.category == .gone && key.role == .current {
            throw try await invalidated()
        }
    }

    /// Takes up the key that was given up while another TPM was here, if the one that is here now takes it.
    ///
    /// - Throws: what a TPM says that is busy, or not there: that says nothing about the key.
    @discardableResult
    func takeUpAbandonedKey() async throws(TenonError) -> Bool {
        guard let key = record.abandonedKey else { return false }
        vault.forget(key.facts)
        do throws(TenonError) {
            _ = try await vault.key(key.facts)
        } catch  where error.category == .gone {
            return false
        }
        try record.revive()
        try await save()
        return true
    }

    /// Records that the TPM will never sign with the keys of this identity again, and returns the error to throw.
    func invalidated() async throws(TenonError) -> TenonError {
        let ekID = try? await vault.endorsementKeyID()
        let cause = record.causeOfLoss(ekID: ekID)
        try await invalidate(because: cause)
        return .invalidated(cause)
    }

    func invalidate(because cause: IdentityReason) async throws(TenonError) {
        guard record.state != .keyInvalid, record.key(.current)?.isOffered == true else { return }
        try record.invalidate(because: cause)
        try await save()
    }

    /// The attestation key of this origin. If the TPM does not accept it, it is made again, which loses nothing.
    func attestationKey(beside key: IdentityKey) async throws(TenonError) -> (KeyFacts, PublicArea) {
        let authority = try attestationAuthority
        if let ak = record.attestationKey, ak.shownTo == nil || ak.shownTo == authority {
            do throws(TenonError) {
                return (ak.facts, try await vault.publicArea(ofAttestationKey: ak.facts))
            } catch  where [.gone, .format, .rejected].contains(error.category) {}
        }
        let facts = try await vault.makeAttestationKey(beside: key.facts)
        let area = try await vault.publicArea(ofAttestationKey: facts)
        let held = held
        try await context.onDisk { store throws(TenonError) in try store.save(facts, as: .attestation, held) }
        record.attestationKey = AttestationKey(facts: facts, shownTo: authority)
        try await save()
        return (facts, area)
    }
}

extension TenonError {
    static let invalidated = TenonError(
        .keyInvalidated, message: "The key of this identity can never sign again. Register the device again.")
    /// The same, as far as is known why.
    static func invalidated(_ cause: IdentityReason?) -> TenonError {
        switch cause {
        case .foreignTPM:
            TenonError(
                .keyInvalidated,
                message:
                    "This TPM did not make the key of this identity. With its own TPM, the identity continues.")
        case .superseded:
            TenonError(
                .keyInvalidated,
                message:
                    "The service holds a key that this state does not know. Restore the newer state, or register again."
            )
        default: .invalidated
        }
    }
    static let revoked = TenonError(
        .deviceRevoked, message: "The service revoked this device. Reset the identity to start again.")
    static let notRegistered = TenonError(.notRegistered, message: "This device is not registered. Register it first.")
}
