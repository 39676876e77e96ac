// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon

/// Stands for a TPM: keys in memory by the text of their file, and whatever fault a test wants.
final class ScriptedVault: KeyVault {
    private struct State {
        var keys: [[UInt8]: SoftwareKey] = [:]
        var gone: Set<[UInt8]> = []
        var faults: [Call: TenonError] = [:]
        var proofs: [[UInt8]] = []
        var activations: [Activation] = []
        var attestationKeys = 0
        var onProof: (@Sendable () -> Void)?
    }

    enum Call: Hashable {
        case make, load, makeAK, areaOfAK, endorsement, proof, activate
    }

    private let state = Mutex(State())
    let isHardware: Bool
    let seed = Array(repeating: UInt8(7), count: 34)
    let ekCertificate: [UInt8]

    init(isHardware: Bool = true, ekCertificate: [UInt8] = [0x30, 0x00]) {
        self.isHardware = isHardware
        self.ekCertificate = ekCertificate
    }

    var keysMade: Int { state.withLock { $0.keys.count - $0.attestationKeys } }
    var attestationKeysMade: Int { state.withLock { $0.attestationKeys } }
    /// What was certified, in order.
    var proofs: [[UInt8]] { state.withLock { $0.proofs } }
    var activations: [Activation] { state.withLock { $0.activations } }

    func fail(_ call: Call, _ error: TenonError?) { state.withLock { $0.faults[call] = error } }

    /// What happens while a proof is made.
    func onProof(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onProof = body } }

    /// The TPM is cleared.
    func clear() { state.withLock { $0.gone = Set($0.keys.keys) } }

    /// It takes none of the attestation keys that it made.
    func loseAttestationKeys() {
        state.withLock { state in
            state.gone.formUnion(state.keys.keys.filter { String(decoding: $0, as: UTF8.self).contains("AK ") })
        }
    }

    /// The one that was there before is back: it was another machine's disk, or a volume that was not mounted.
    func bringBack() { state.withLock { $0.gone = [] } }

    func makeKey() async throws(TenonError) -> KeyFacts {
        try check(.make)
        return try add(SoftwareKey(), "KEY")
    }

    func key(_ facts: KeyFacts) async throws(TenonError) -> any DeviceKey { try blockingKey(facts) }

    func blockingKey(_ facts: KeyFacts) throws(TenonError) -> any DeviceKey {
        try check(.load)
        let (key, isGone) = state.withLock { ($0.keys[facts.pem], $0.gone.contains(facts.pem)) }
        guard let key, !isGone else { throw TenonError(.keyGone, message: "The TPM was cleared.") }
        return key
    }

    func facts(ofFile pem: [UInt8]) async throws(TenonError) -> KeyFacts {
        let name = try [0, 11] + Digest(hashing: pem).rawRepresentation
        return try KeyFacts(pem: pem, name: name, parent: seed, witness: seed)
    }

    func makeAttestationKey(beside key: KeyFacts) async throws(TenonError) -> KeyFacts {
        try check(.makeAK)
        state.withLock { $0.attestationKeys += 1 }
        return try add(SoftwareKey(), "AK")
    }

    func publicArea(ofAttestationKey ak: KeyFacts) async throws(TenonError) -> PublicArea {
        try check(.areaOfAK)
        let (key, isGone) = state.withLock { ($0.keys[ak.pem], $0.gone.contains(ak.pem)) }
        guard let key, !isGone else { throw TenonError(.keyGone, message: "The TPM was cleared.") }
        return try PublicArea(dataRepresentation: ProofRig.area(key.publicKey, 0x0005_0472, attests: true))
    }

    func endorsementCertificates() async throws(TenonError) -> [[UInt8]] {
        try check(.endorsement)
        return [ekCertificate]
    }

    func endorsementKeyID() async throws(TenonError) -> Digest { try blockingEndorsementKeyID() }
    func blockingEndorsementKeyID() throws(TenonError) -> Digest { try Digest(hashing: ekCertificate) }

    func proof(
        of key: KeyFacts, by ak: KeyFacts, qualifyingData: [UInt8], certificates: [[UInt8]]
    ) async throws(TenonError) -> Proof {
        try check(.proof)
        let hook = state.withLock { state in
            state.proofs.append(qualifyingData)
            return state.onProof
        }
        hook?()
        let name = try Digest(hashing: ak.pem).rawRepresentation
        return Proof(dataRepresentation: Array("proof".utf8) + qualifyingData + name)
    }

    func activate(
        _ activation: Activation, with credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Digest {
        try check(.activate)
        state.withLock { $0.activations.append(activation) }
        return try Digest(hashing: Array("activated".utf8) + credential.idObject)
    }

    func secret(
        of credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Secret {
        try check(.activate)
        return Secret(copying: credential.idObject.span)
    }

    private func check(_ call: Call) throws(TenonError) {
        if let error = state.withLock({ $0.faults[call] }) { throw error }
    }

    private func add(_ key: SoftwareKey, _ kind: String) throws(TenonError) -> KeyFacts {
        let number = state.withLock { $0.keys.count + 1 }
        let pem = Array("-----\(kind) \(number)-----\n".utf8)
        state.withLock { $0.keys[pem] = key }
        let name = try [0, 11] + Digest(hashing: pem).rawRepresentation
        return try KeyFacts(pem: pem, name: name, parent: seed, witness: seed)
    }
}
