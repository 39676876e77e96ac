// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
public import Tenon

/// The keys of a device in a TPM. It keeps the last used keys loaded, enough for all keys of an identity.
package final class TPMKeyVault: KeyVault {
    private struct Loaded {
        var keys: [(digest: Digest, key: TPM.PrivateKey)] = []
        var ak: (digest: Digest, key: TPM.AttestationKey)?
    }

    /// What the TPM said on this connection.
    private struct Certificate {
        let bytes: [UInt8]
        let connection: UInt32
    }

    private static let mostKeys = 3

    private let tpm: TPM
    private let disclosure: TPM.Disclosure
    private let options: TPM.PrivateKey.Options
    private let loaded = Mutex(Loaded())
    /// What the last look at the machine's id read. A service is shown this rather than a second reading, and once
    /// (decision: one-reading).
    private let lastRead = Mutex<Certificate?>(nil)

    package let isHardware = true

    private let unlock: TPM.Unlock?

    package init(
        _ tpm: TPM, _ disclosure: TPM.Disclosure = .nothing, options: TPM.PrivateKey.Options = [],
        unlock: TPM.Unlock? = nil
    ) {
        self.tpm = tpm
        self.disclosure = disclosure
        self.options = options
        self.unlock = unlock
    }

    package func signing(_ rule: SignatureRule) -> any KeyVault {
        rule == .asMade ? self : TPMKeyVault(tpm, disclosure, options: [.verified, .lowS], unlock: unlock)
    }

    package func checkHardware() async throws(TenonError) {
        let info = try await tpm.info()
        guard !info.lockout.isLocked else {
            throw TenonError(
                .attestationUnavailable, message: "The TPM is locked after failed tries, so no key is made.",
                mend: "Wait until the TPM forgives a try, or reset the lockout: tenon doctor")
        }
        guard info.isStorageEnabled, info.isEndorsementEnabled else {
            throw TenonError(
                .attestationUnavailable, message: "A hierarchy of the TPM is switched off, so no key is made.",
                mend: "Switch it on in the firmware: tenon doctor")
        }
    }

    package func discard(_ facts: KeyFacts) async throws(TenonError) {
        guard mayHaveCopy(facts.pem) else { return }
        do throws(TenonError) {
            try await privateKey(facts).evict()
        } catch  where [.gone, .argument].contains(error.code.category) {}
    }

    package func blockingDiscard(_ facts: KeyFacts) throws(TenonError) {
        guard mayHaveCopy(facts.pem) else { return }
        do throws(TenonError) {
            if let key = kept(facts) { return try key.evict() }
            try TPM.PrivateKey(dataRepresentation: facts.pem, in: tpm, options: options).evict()
        } catch  where [.gone, .argument].contains(error.code.category) {}
    }

    /// The file says whether there is a persistent copy. A key that this TPM does not take has none here.
    private func mayHaveCopy(_ pem: [UInt8]) -> Bool {
        String(decoding: pem, as: UTF8.self).contains("tenon-handle: ")
    }

    package func makeKey() async throws(TenonError) -> KeyFacts {
        guard let unlock else { return try keep(try await TPM.PrivateKey(in: tpm, options: options)) }
        return try keep(try await TPM.PrivateKey(in: tpm, guardedBy: unlock(), options: options))
    }

    package func key(_ facts: KeyFacts) async throws(TenonError) -> any DeviceKey {
        let key = try await privateKey(facts)
        if waitsForItsUse(facts) {
            try await key.check()
            try keep(key)
        }
        return guarded(key)
    }

    package func blockingKey(_ facts: KeyFacts) throws(TenonError) -> any DeviceKey {
        let key = try blockingPrivateKey(facts)
        if waitsForItsUse(facts) {
            try key.check()
            try keep(key)
        }
        return key
    }

    package func unseenKey(_ facts: KeyFacts) async throws(TenonError) -> any DeviceKey {
        guarded(try await privateKey(facts))
    }

    package func blockingUnseenKey(_ facts: KeyFacts) throws(TenonError) -> any DeviceKey {
        try blockingPrivateKey(facts)
    }

    private func guarded(_ key: TPM.PrivateKey) -> any DeviceKey {
        if let unlock { GuardedKey(key: key, unlock: unlock) } else { key }
    }

    /// Whether reading the key's file asks the TPM nothing (decision: unseen-key). Only a key that it takes is kept.
    private func waitsForItsUse(_ facts: KeyFacts) -> Bool {
        !tpm.isManaged && !mayHaveCopy(facts.pem) && kept(facts) == nil
    }

    package func forget(_ facts: KeyFacts) {
        loaded.withLock { loaded in loaded.keys.removeAll { $0.digest == facts.digest } }
    }

    package func facts(ofFile pem: [UInt8]) async throws(TenonError) -> KeyFacts {
        let key = try await TPM.PrivateKey(dataRepresentation: pem, in: tpm, options: options)
        if !tpm.isManaged && !mayHaveCopy(pem) { try await key.check() }
        return try keep(key)
    }

    package func makeAttestationKey(beside key: KeyFacts) async throws(TenonError) -> KeyFacts {
        try keep(try await TPM.AttestationKey(beside: privateKey(key)))
    }

    package func publicArea(ofAttestationKey ak: KeyFacts) async throws(TenonError) -> PublicArea {
        try await attestationKey(ak).publicArea
    }

    package func endorsementCertificates() async throws(TenonError) -> [[UInt8]] {
        switch disclosure {
        case .nothing: throw .undisclosed
        case .certificates(let chain): return chain
        case .endorsement(let above):
            if let last = takeLastRead() { return [last] + above }
            return [try await tpm.anyEndorsementCertificate()] + above
        }
    }

    // The TPM's own certificate comes first: the machine's id must not depend on certificates from elsewhere.
    package func endorsementKeyID() async throws(TenonError) -> Digest {
        let connection = tpm.connection
        let certificate: [UInt8]
        do throws(TenonError) { certificate = try await tpm.anyEndorsementCertificate() } catch {
            return try EndorsementKey(unverified: given(error)).id
        }
        let id = try EndorsementKey(unverified: certificate).id
        lastRead.withLock { $0 = Certificate(bytes: certificate, connection: connection) }
        return id
    }

    package func blockingEndorsementKeyID() throws(TenonError) -> Digest {
        let certificate: [UInt8]
        do throws(TenonError) { certificate = try tpm.anyEndorsementCertificate() } catch {
            certificate = try given(error)
        }
        return try EndorsementKey(unverified: certificate).id
    }

    /// The certificate that was read last, once, unless the TPM may be another one since.
    private func takeLastRead() -> [UInt8]? {
        let last = lastRead.withLock { last in
            defer { last = nil }
            return last
        }
        return last?.connection == tpm.connection ? last?.bytes : nil
    }

    /// The certificate from elsewhere, for a TPM that has none.
    private func given(_ error: TenonError) throws(TenonError) -> [UInt8] {
        guard error.code == .ekMissing, case .certificates(let chain) = disclosure, let leaf = chain.first else {
            throw error
        }
        return leaf
    }

    package func proof(
        of key: KeyFacts, by ak: KeyFacts, qualifyingData: [UInt8], certificates: [[UInt8]]
    ) async throws(TenonError) -> Proof {
        let (key, ak) = (try await privateKey(key), try await attestationKey(ak))
        guard let unlock else {
            return try await key.attest(by: ak, qualifyingData: qualifyingData, certificates: certificates)
        }
        return try await key.attest(
            by: ak, qualifyingData: qualifyingData, certificates: certificates, guardedBy: unlock())
    }

    package func quote(
        of pcrs: Set<Int>, by ak: KeyFacts, qualifyingData: [UInt8]
    ) async throws(TenonError) -> Quote {
        try await attestationKey(ak).quote(pcrs, qualifyingData: qualifyingData)
    }

    package func activate(
        _ activation: Activation, with credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Digest {
        try await attestationKey(ak).activate(activation, with: credential, certificate: certificate)
    }

    package func secret(
        of credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Secret {
        try await attestationKey(ak).secret(of: credential, certificate: certificate)
    }

    private func privateKey(_ facts: KeyFacts) async throws(TenonError) -> TPM.PrivateKey {
        if let key = kept(facts) { return key }
        let key = try await TPM.PrivateKey(dataRepresentation: facts.pem, in: tpm, options: options)
        if !waitsForItsUse(facts) { try keep(key) }
        return key
    }

    private func blockingPrivateKey(_ facts: KeyFacts) throws(TenonError) -> TPM.PrivateKey {
        if let key = kept(facts) { return key }
        let key = try TPM.PrivateKey(dataRepresentation: facts.pem, in: tpm, options: options)
        if !waitsForItsUse(facts) { try keep(key) }
        return key
    }

    private func attestationKey(_ facts: KeyFacts) async throws(TenonError) -> TPM.AttestationKey {
        if let kept = loaded.withLock({ $0.ak }), kept.digest == facts.digest { return kept.key }
        let key = try await TPM.AttestationKey(dataRepresentation: facts.pem, in: tpm)
        try keep(key)
        return key
    }

    private func kept(_ facts: KeyFacts) -> TPM.PrivateKey? {
        loaded.withLock { loaded in loaded.keys.first { $0.digest == facts.digest }?.key }
    }

    @discardableResult
    private func keep(_ key: TPM.PrivateKey) throws(TenonError) -> KeyFacts {
        let facts = try KeyFacts(
            pem: key.dataRepresentation, name: key.name, parent: key.parentName, witness: key.witness)
        loaded.withLock { loaded in
            loaded.keys.removeAll { $0.digest == facts.digest }
            loaded.keys.append((facts.digest, key))
            if loaded.keys.count > Self.mostKeys { loaded.keys.removeFirst() }
        }
        return facts
    }

    @discardableResult
    private func keep(_ ak: TPM.AttestationKey) throws(TenonError) -> KeyFacts {
        let facts = try KeyFacts(pem: ak.dataRepresentation, name: ak.name, parent: ak.parentName, witness: ak.witness)
        loaded.withLock { $0.ak = (facts.digest, ak) }
        return facts
    }
}

extension TenonError {
    fileprivate static let undisclosed = TenonError(
        .ekMissing,
        message: "The certificate of the TPM's endorsement key is needed, but showing it was not allowed.")
}

extension TPM {
    /// Asks a person for the value that guards a key, such as a PIN, of 1 to 32 bytes: once for each use of the key, and
    /// when it is made. The TPM counts wrong values, and locks itself after too many.
    public typealias Unlock = @Sendable () async throws(TenonError) -> [UInt8]

    /// The part of the TPM's identity that a service may be shown.
    public enum Disclosure: Hashable, Sendable {
        /// It may be shown nothing. A service that attests by the endorsement key then refuses the device.
        case nothing
        /// It may be shown the certificate of the endorsement key, which identifies the machine for ever and is the
        /// same for all services. The certificates above it, leaf first (DER), are sent for services that do not have
        /// them.
        case endorsement(above: [[UInt8]] = [])
        /// It may be shown these certificates, leaf first (DER), for a TPM that holds no certificate (decision:
        /// given-chain).
        case certificates([[UInt8]])
    }
}

extension DeviceIdentity.Keys {
    /// Makes a vault of keys that are made in a TPM and never leave it.
    ///
    /// - Parameters:
    ///   - tpm: nil is ``TPM/default()``.
    ///   - disclosure: a decision of the device's operator.
    ///   - unlock: for keys that a person unlocks for each use; nil: the keys need no value.
    public static func tpm(
        _ tpm: TPM? = nil, disclosure: TPM.Disclosure = .nothing, unlock: TPM.Unlock? = nil
    ) throws(TenonError) -> DeviceIdentity.Keys {
        DeviceIdentity.Keys(TPMKeyVault(try TPM.given(tpm), disclosure, unlock: unlock))
    }
}
