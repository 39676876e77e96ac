// SPDX-License-Identifier: Apache-2.0
import Tenon

/// Proofs as a TPM makes them, told a second time by code that is not the core's. Each field may be changed before the
/// proof is made of them.
struct ProofRig {
    var key: PublicKey
    let ak: SoftwareKey
    var nonce: Digest
    var attributes: UInt32 = 0x0004_0472
    var akAttributes: UInt32 = 0x0005_0472
    var magic: UInt32 = 0xff54_4347
    var isClockSafe = true
    var parentQualifiedName = [0x00, 0x0b] + [UInt8](repeating: 5, count: 32)
    /// Of the EK under which the AK lies, in the endorsement hierarchy.
    var ekName = [0x00, 0x0b] + [UInt8](repeating: 9, count: 32)
    var firmware: UInt64 = 0x0001_0002_0003_0004
    var certificates: [[UInt8]] = []

    init() throws {
        key = try SoftwareKey().publicKey
        ak = try SoftwareKey(signsDigests: true)
        nonce = try Digest(hashing: Array("nonce".utf8))
    }

    /// TPMT_PUBLIC (TPM 2.0 Part 2, 12.2.4); the scheme of an AK is ECDSA with SHA-256.
    static func area(_ key: PublicKey, _ attributes: UInt32, attests: Bool = false) -> [UInt8] {
        let point = key.rawRepresentation
        return [0x00, 0x23, 0x00, 0x0b] + big(attributes) + [0, 0, 0, 0x10]
            + (attests ? [0, 0x18, 0, 0x0b] : [0, 0x10]) + [0, 0x03, 0, 0x10]
            + sized(Array(point[..<32])) + sized(Array(point[32...]))
    }

    var keyArea: [UInt8] { Self.area(key, attributes) }
    var akArea: [UInt8] { Self.area(ak.publicKey, akAttributes, attests: true) }

    static func name(_ area: [UInt8]) throws -> [UInt8] {
        try [0x00, 0x0b] + Digest(hashing: area).rawRepresentation
    }

    /// TPMS_ATTEST (Part 2, 10.12.12).
    func certified() throws -> [UInt8] {
        let name = try Self.name(keyArea)
        let qualified = try Self.name(parentQualifiedName + name)
        let qualifiedEK = try Self.name([0x40, 0x00, 0x00, 0x0b] + ekName)
        let signer = try Self.name(qualifiedEK + Self.name(akArea))
        let clock = [UInt8](repeating: 0, count: 16) + [isClockSafe ? 1 : 0]
        let firmware = Self.big(UInt32(firmware >> 32)) + Self.big(UInt32(firmware & 0xffff_ffff))
        return Self.big(magic) + [0x80, 0x17] + Self.sized(signer) + Self.sized(nonce.rawRepresentation) + clock
            + firmware + Self.sized(name) + Self.sized(qualified)
    }

    func evidence() throws -> Evidence {
        let certified = try certified()
        let signature = try ak.signature(for: Digest(hashing: certified)).rawRepresentation
        return Evidence(
            publicArea: keyArea, certified: certified,
            signature: [0, 0x18, 0, 0x0b] + Self.sized(Array(signature[..<32])) + Self.sized(Array(signature[32...])),
            certificates: certificates)
    }

    func proof() throws -> Proof { try Proof(evidence()) }

    /// The policy of a service that knows the AK.
    func policy() throws -> ProofPolicy {
        ProofPolicy(trust: .ak(try PublicArea(dataRepresentation: akArea)), now: now)
    }

    let now: Int64 = 1_800_000_000

    private static func big(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - 8 * $0) & 0xff) } }

    private static func sized(_ bytes: [UInt8]) -> [UInt8] { [0, UInt8(bytes.count)] + bytes }
}

/// An authority, an issuer below it, and an EK of the vectors.
struct AuthorityRig {
    let rootKey: SoftwareKey
    let issuerKey: SoftwareKey
    let root: AttestationAuthority
    let issuer: AttestationAuthority
    let ek: EndorsementKey
    var terms = CertificateTerms(serial: Array(1...16), notBefore: 1_799_999_700, notAfter: 1_807_776_000)

    init() throws {
        rootKey = try SoftwareKey(signsDigests: true)
        issuerKey = try SoftwareKey(signsDigests: true)
        root = try AttestationAuthority(root: "Root", key: rootKey, terms: terms)
        issuer = AttestationAuthority(
            certificate: try root.certificate(forAuthority: "Issuer", key: issuerKey.publicKey, terms: terms),
            key: issuerKey)
        let certificates = try Vectors.certificates("certificates.txt")
        ek = try EndorsementKey(
            verifying: [certificates["ek"]!],
            policy: EndorsementPolicy(roots: [certificates["root"]!], now: 1_800_000_000))
    }

    /// The chain of an AK, leaf first.
    func chain(for area: [UInt8]) throws -> [[UInt8]] {
        let ak = try PublicArea(dataRepresentation: area)
        return [try issuer.certificate(for: ak, of: ek, terms: terms), issuer.certificate]
    }
}
