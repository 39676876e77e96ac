// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon

/// Replaces a TPM: keeps keys in memory, by the text of their file.
final class MemoryVault: KeyVault {
    private struct State {
        var keys: [[UInt8]: SoftwareKey] = [:]
        var isCleared = false
        var hasAttestation = true
    }

    private let state = Mutex(State())
    let isHardware = true

    /// As TPM2_Clear does.
    func clear() { state.withLock { $0.isCleared = true } }
    func loseAttestation() { state.withLock { $0.hasAttestation = false } }

    func makeKey() async throws(TenonError) -> KeyFacts {
        let key = try SoftwareKey()
        let pem = key.publicKey.rawRepresentation
        state.withLock { $0.keys[pem] = key }
        let parent = [0, 11] + Array(repeating: UInt8(7), count: 32)
        return try KeyFacts(
            pem: pem, name: [0, 11] + Digest(hashing: pem).rawRepresentation, parent: parent, witness: parent)
    }

    func key(_ facts: KeyFacts) async throws(TenonError) -> any DeviceKey { try find(facts) }
    func blockingKey(_ facts: KeyFacts) throws(TenonError) -> any DeviceKey { try find(facts) }
    func makeAttestationKey(beside key: KeyFacts) async throws(TenonError) -> KeyFacts { try await makeKey() }

    func publicArea(ofAttestationKey ak: KeyFacts) async throws(TenonError) -> PublicArea {
        let point = try find(ak).publicKey.rawRepresentation
        let head: [UInt8] = [
            0x00, 0x23, 0x00, 0x0b, 0x00, 0x05, 0x04, 0x72, 0x00, 0x00, 0x00, 0x10, 0x00, 0x18, 0x00, 0x0b, 0x00, 0x03,
            0x00, 0x10,
        ]
        return try PublicArea(dataRepresentation: head + [0, 32] + point.prefix(32) + [0, 32] + point.suffix(32))
    }

    func endorsementCertificates() async throws(TenonError) -> [[UInt8]] { [[0x30, 0x00]] }
    func endorsementKeyID() async throws(TenonError) -> Digest { try blockingEndorsementKeyID() }
    func blockingEndorsementKeyID() throws(TenonError) -> Digest { try Digest(hashing: [0x30, 0x00]) }

    /// The nonce, which the service of these tests checks.
    func proof(
        of key: KeyFacts, by ak: KeyFacts, qualifyingData: [UInt8], certificates: [[UInt8]]
    ) async throws(TenonError) -> Proof {
        guard state.withLock({ $0.hasAttestation }) else {
            throw TenonError(.ekMissing, message: "This TPM has no endorsement key.")
        }
        return Proof(dataRepresentation: qualifyingData)
    }

    func activate(
        _ activation: Activation, with credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Digest {
        let secret = Secret(copying: credential.idObject.span.extracting(droppingFirst: 2))
        let ekID = try await endorsementKeyID()
        let akName = try await publicArea(ofAttestationKey: ak).name
        return try activation.value(secret: secret, ekID: ekID, akName: akName)
    }

    private func find(_ facts: KeyFacts) throws(TenonError) -> SoftwareKey {
        let (key, isCleared) = state.withLock { ($0.keys[facts.pem], $0.isCleared) }
        guard let key, !isCleared else { throw TenonError(.keyGone, message: "The TPM was cleared.") }
        return key
    }
}
