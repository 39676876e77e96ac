// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc
import Tenon
import TenonTPM
import TestFolders
import Testing

/// The state of a TPM whose maker gave it EK certificates, of RSA-2048 and P-384: what
/// `Tests/Scripts/swtpm_state.sh .build/make/swtpm` makes, and `make check-swift` with it.
enum Endorsed {
    static let state = folder + "/state"

    /// The certificates above those of the EKs.
    static func issuer() throws -> [UInt8] { try certificate("issuer.pem") }
    static func root() throws -> [UInt8] { try certificate("root.pem") }
    static let rootFile = folder + "/root.pem"
    /// The certificate that signed those of the EKs, for an authority that gets only the EKs' certificates.
    static let trustedFile = folder + "/issuer.pem"

    private static let folder =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/.build/make/swtpm"

    private static func certificate(_ name: String) throws -> [UInt8] {
        // Without it: Tests/Scripts/swtpm_state.sh .build/make/swtpm
        let text = String(decoding: try readFile("\(folder)/\(name)"), as: UTF8.self)
        let lines = text.split(separator: "\n").drop { $0 != "-----BEGIN CERTIFICATE-----" }.dropFirst()
        return try TextEncoding.base64.decode(lines.prefix { $0 != "-----END CERTIFICATE-----" }.joined())
    }
}

/// The keys and certificates of a device before it registers.
struct Device {
    let key: TPM.PrivateKey
    let ak: TPM.AttestationKey
    /// The EK's certificate and the one above it.
    let chain: [[UInt8]]

    init(_ tpm: TPM, _ kind: EndorsementKey.Kind = .p384) throws {
        key = try TPM.PrivateKey(in: tpm)
        ak = try TPM.AttestationKey(beside: key)
        chain = [try tpm.endorsementCertificate(kind), try Endorsed.issuer()]
    }

    var keyText: String { TextEncoding.base64.encode(key.publicKey.derRepresentation) }

    func activation(_ challenge: String, for service: Service) -> Activation {
        Activation(origin: service.origin, appID: service.appID, challenge: challenge, keyText: keyText)
    }
}

/// The service's side of a folded activation: the entry under a challenge, without a secret.
struct Service {
    var origin = "https://auth.example"
    var appID = "app"
    let policy: EndorsementPolicy
    // Both services of a test share a key, so only the bound values distinguish them.
    let key = Secret(count: 32) { bytes in for index in bytes.indices { bytes[index] = UInt8(index) } }

    init() throws {
        policy = EndorsementPolicy(roots: [try Endorsed.root()], now: Int64(time(nil)), allowsSimulator: true)
    }

    struct Pending {
        let challenge: String
        let ek: EndorsementKey
        let ak: PublicArea
    }

    func challenge(
        _ challenge: String, _ chain: [[UInt8]], _ akArea: [UInt8]
    ) throws(TenonError) -> (pending: Pending, credential: Credential) {
        let ak = try PublicArea(dataRepresentation: akArea)
        try ak.verifyIsAttestationKey()
        let ek = try EndorsementKey(verifying: chain, policy: policy)
        let secret = try Activation.secret(forChallenge: challenge, ekID: ek.id, akName: ak.name, key: key)
        let credential = try Credential(secret, for: ek, akName: ak.name)
        return (Pending(challenge: challenge, ek: ek, ak: ak), credential)
    }

    func challenge(
        _ challenge: String = "c", to device: Device, _ ak: TPM.AttestationKey? = nil
    ) throws(TenonError) -> (pending: Pending, credential: Credential) {
        try self.challenge(challenge, device.chain, (ak ?? device.ak).publicArea.dataRepresentation)
    }

    @discardableResult
    func register(
        _ pending: Pending, _ keyText: String, value: [UInt8], proof: [UInt8]
    ) throws(TenonError) -> VerificationReport {
        let activation = Activation(origin: origin, appID: appID, challenge: pending.challenge, keyText: keyText)
        let secret = try Activation.secret(
            forChallenge: pending.challenge, ekID: pending.ek.id, akName: pending.ak.name, key: key)
        try activation.verify(value, secret: secret, ekID: pending.ek.id, akName: pending.ak.name)
        let publicKey = try PublicKey(derRepresentation: TextEncoding.base64.decode(keyText))
        return try Proof(dataRepresentation: proof).verify(
            publicKey, nonce: Digest(bindingChallenge: pending.challenge, toKeyText: keyText),
            policy: ProofPolicy(trust: .ak(pending.ak), now: policy.now))
    }
}
