// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// Replaces a TPM, and fails as a test wants. As with a TPM, a key lives in its file, and only the vault that made it
/// accepts the file; so does a vault with the same seed in another process.
package final class ScriptedVault: KeyVault {
    private struct State {
        var keys: [[UInt8]: SoftwareKey] = [:]
        var gone: Set<[UInt8]> = []
        var faults: [Call: TenonError] = [:]
        var proofs: [[UInt8]] = []
        var activations: [Activation] = []
        var activated: [[UInt8]] = []
        var above: [[UInt8]] = []
        var attestationKeys = 0
        var rule = SignatureRule.asMade
        var gate: SigningGate?
        var onProof: (@Sendable () -> Void)?
        var onBlocking: (@Sendable () -> Void)?
        var isBare = false
    }

    package enum Call: Hashable, Sendable {
        case make, load, makeAK, areaOfAK, endorsement, machine, proof, activate
    }

    private let state = Mutex(State())
    /// The kind of signature that its keys make.
    package enum Kind: Sendable {
        case signatures
        /// A ``Token``.
        case tokens
        /// Always the same signature, which costs nothing, for a bench.
        case constants
    }

    package let isHardware: Bool
    private let seed: String
    private let kind: Kind
    private let seedName = Array(repeating: UInt8(7), count: 34)
    package let ekCertificate: [UInt8]

    package init(
        _ kind: Kind = .signatures, isHardware: Bool = true, seed: String? = nil, ekCertificate: [UInt8] = [0x30, 0x00]
    ) {
        self.isHardware = isHardware
        self.ekCertificate = ekCertificate
        self.seed = seed ?? String(UInt64.random(in: 0 ... .max), radix: 16)
        self.kind = kind
    }

    package var keysMade: Int { state.withLock { $0.keys.count - $0.attestationKeys } }
    package var attestationKeysMade: Int { state.withLock { $0.attestationKeys } }
    /// The certified keys, in order.
    package var proofs: [[UInt8]] { state.withLock { $0.proofs } }
    package var activations: [Activation] { state.withLock { $0.activations } }

    /// The certificates by which credentials were opened, in order.
    package var activated: [[UInt8]] { state.withLock { $0.activated } }

    /// The certificates above that of its endorsement key.
    package func setAbove(_ certificates: [[UInt8]]) { state.withLock { $0.above = certificates } }

    package func fail(_ call: Call, _ error: TenonError?) { state.withLock { $0.faults[call] = error } }

    /// Called while a proof is made.
    package func onProof(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onProof = body } }

    /// Called when a thread is blocked for a key, or for a token of one.
    package func onBlocking(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onBlocking = body } }

    package func clear() { state.withLock { $0.gone = Set($0.keys.keys) } }

    /// Makes the vault refuse all attestation keys that it made.
    package func loseAttestationKeys() {
        state.withLock { state in
            state.gone.formUnion(state.keys.keys.filter { String(decoding: $0, as: UTF8.self).contains("AK ") })
        }
    }

    package func lose(_ pem: [UInt8]) { state.withLock { _ = $0.gone.insert(pem) } }

    /// Brings the former vault back, as after a swapped disk or a volume that was not mounted.
    package func bringBack() { state.withLock { $0.gone = [] } }

    /// From now on a key's loss shows when the key signs, as with a TPM without a resource manager.
    package func makeBare() { state.withLock { $0.isBare = true } }

    /// From now on its keys are behind a gate.
    package func put(behind gate: SigningGate) { state.withLock { $0.gate = gate } }

    package func signing(_ rule: SignatureRule) -> any KeyVault {
        state.withLock { $0.rule = rule }
        return self
    }

    package func makeKey() async throws(TenonError) -> KeyFacts {
        try check(.make)
        return try make("KEY")
    }

    package func key(_ facts: KeyFacts) async throws(TenonError) -> any DeviceKey {
        try load(facts)
    }

    package func blockingKey(_ facts: KeyFacts) throws(TenonError) -> any DeviceKey {
        state.withLock { $0.onBlocking }?()
        return try load(facts)
    }

    package func unseenKey(_ facts: KeyFacts) async throws(TenonError) -> any DeviceKey {
        guard state.withLock({ $0.isBare }) else { return try await key(facts) }
        let publicKey = try Self.read(facts.pem).publicKey
        return UnseenKey(publicKey: publicKey) { [self] () throws(TenonError) in try load(facts) }
    }

    package func blockingUnseenKey(_ facts: KeyFacts) throws(TenonError) -> any DeviceKey {
        guard state.withLock({ $0.isBare }) else { return try blockingKey(facts) }
        let publicKey = try Self.read(facts.pem).publicKey
        return UnseenKey(publicKey: publicKey) { [self] () throws(TenonError) in try blockingKey(facts) }
    }

    private func load(_ facts: KeyFacts) throws(TenonError) -> any DeviceKey {
        try check(.load)
        let key = try find(facts.pem)
        if state.withLock({ $0.rule }) == .strict { return StrictKey(key: key) }
        if let gate = state.withLock({ $0.gate }) { return GatedKey(key: key, gate: gate) }
        guard kind != .signatures else { return key }
        return TokenKey(
            publicKey: key.publicKey, isConstant: kind == .constants, onBlocking: state.withLock { $0.onBlocking })
    }

    package func facts(ofFile pem: [UInt8]) async throws(TenonError) -> KeyFacts {
        let name = try [0, 11] + Digest(hashing: pem).rawRepresentation
        return try KeyFacts(pem: pem, name: name, parent: seedName, witness: seedName)
    }

    package func makeAttestationKey(beside key: KeyFacts) async throws(TenonError) -> KeyFacts {
        try check(.makeAK)
        // The parent of a lost key is lost, too.
        guard (try? find(key.pem)) != nil else {
            throw TenonError(.parentMissing, message: "The TPM was cleared.")
        }
        state.withLock { $0.attestationKeys += 1 }
        return try make("AK")
    }

    package func publicArea(ofAttestationKey ak: KeyFacts) async throws(TenonError) -> PublicArea {
        try check(.areaOfAK)
        let point = try find(ak.pem).publicKey.rawRepresentation
        // TPMT_PUBLIC of a restricted key that signs with ECDSA and SHA-256 (TPM 2.0 Part 2, 12.2.4).
        let head: [UInt8] = [0, 0x23, 0, 0x0b, 0, 5, 4, 0x72, 0, 0, 0, 0x10, 0, 0x18, 0, 0x0b, 0, 3, 0, 0x10]
        return try PublicArea(dataRepresentation: head + [0, 32] + point[..<32] + [0, 32] + point[32...])
    }

    package func endorsementCertificates() async throws(TenonError) -> [[UInt8]] {
        try check(.endorsement)
        return [ekCertificate] + state.withLock { $0.above }
    }

    package func endorsementKeyID() async throws(TenonError) -> Digest { try blockingEndorsementKeyID() }

    package func blockingEndorsementKeyID() throws(TenonError) -> Digest {
        try check(.machine)
        return try Digest(hashing: ekCertificate)
    }

    package func proof(
        of key: KeyFacts, by ak: KeyFacts, qualifyingData: [UInt8], certificates: [[UInt8]]
    ) async throws(TenonError) -> Proof {
        try check(.proof)
        let hook = state.withLock { state in
            state.proofs.append(qualifyingData)
            return state.onProof
        }
        hook?()
        let (point, name) = (
            try find(key.pem).publicKey.rawRepresentation, try Digest(hashing: ak.pem).rawRepresentation
        )
        return Proof(dataRepresentation: Array("proof".utf8) + point + qualifyingData + name)
    }

    package func quote(
        of pcrs: Set<Int>, by ak: KeyFacts, qualifyingData: [UInt8]
    ) async throws(TenonError) -> Quote {
        try check(.proof)
        _ = try find(ak.pem)
        return Quote(dataRepresentation: Array("quote".utf8) + qualifyingData)
    }

    package func activate(
        _ activation: Activation, with credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Digest {
        try check(.activate)
        state.withLock { state in
            state.activations.append(activation)
            state.activated.append(certificate)
        }
        guard credential.idObject.count == 34 else {
            return try Digest(hashing: Array("activated".utf8) + credential.idObject)
        }
        // A whole secret behind its size.
        let secret = Secret(copying: credential.idObject.span.extracting(droppingFirst: 2))
        return try activation.value(
            secret: secret, ekID: Digest(hashing: certificate), akName: await publicArea(ofAttestationKey: ak).name)
    }

    package func secret(
        of credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Secret {
        try check(.activate)
        return Secret(copying: credential.idObject.span)
    }

    private func check(_ call: Call) throws(TenonError) {
        if let error = state.withLock({ $0.faults[call] }) { throw error }
    }

    /// `KIND SEED SCALAR`.
    private func make(_ kind: String) throws(TenonError) -> KeyFacts {
        let scalar = (0..<32).map { UInt8.random(in: $0 == 0 ? 0...127 : 0...255) }
        let pem = Array("-----\(kind) \(seed) \(TextEncoding.hex.encode(scalar)) \n".utf8)
        let key = try SoftwareKey(scalar: scalar)
        state.withLock { $0.keys[pem] = key }
        let name = try [0, 11] + Digest(hashing: pem).rawRepresentation
        return try KeyFacts(pem: pem, name: name, parent: seedName, witness: seedName)
    }

    private static func read(_ pem: [UInt8]) throws(TenonError) -> SoftwareKey {
        let words = String(decoding: pem, as: UTF8.self).split(separator: " ")
        return try SoftwareKey(scalar: TextEncoding.hex.decode(String(words[2])))
    }

    private func find(_ pem: [UInt8]) throws(TenonError) -> SoftwareKey {
        let (key, isGone) = state.withLock { ($0.keys[pem], $0.gone.contains(pem)) }
        let words = String(decoding: pem, as: UTF8.self).split(separator: " ")
        guard !isGone, words.count == 4, words[1] == seed else {
            throw TenonError(.keyGone, message: "The TPM was cleared.")
        }
        if let key { return key }
        let made = try Self.read(pem)
        state.withLock { $0.keys[pem] = made }
        return made
    }
}
