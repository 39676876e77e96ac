// SPDX-License-Identifier: Apache-2.0
internal import CBenchIdentity
internal import Tenon

/// The maker of the EKs of a load.
final class Maker: Sendable {
    private nonisolated(unsafe) let maker: OpaquePointer

    /// Looks for primes: seconds for hundreds of EKs.
    init(count: Int) throws(TenonError) {
        guard let maker = bench_maker_new(count) else {
            throw TenonError(.memory, message: "The EKs of the load cannot be made.")
        }
        self.maker = maker
    }

    deinit { bench_maker_free(maker) }

    /// What an authority has to trust, PEM.
    var root: String {
        var rest = TextEncoding.base64.encode(certificate(0))[...]
        var text = "-----BEGIN CERTIFICATE-----\n"
        while !rest.isEmpty {
            text += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END CERTIFICATE-----\n"
    }

    func tpm(_ number: Int) throws(TenonError) -> SoftwareTPM {
        guard let ek = bench_ek_new(maker, number) else {
            throw TenonError(.memory, message: "The EKs of the load cannot be made.")
        }
        return try SoftwareTPM(ek, above: certificate(1))
    }

    private func certificate(_ which: Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: BENCH_CERTIFICATE_MAX) { bytes, count in
            count = bench_maker_certificate(maker, which, bytes.baseAddress, bytes.count)
        }
    }
}

/// What a TPM does for a registration, in memory, with an EK of RSA-2048.
final class SoftwareTPM: Sendable {
    private nonisolated(unsafe) let ek: OpaquePointer
    private let ak: SoftwareKey
    /// The EK's certificate and the one above it, DER.
    let chain: [[UInt8]]
    let akArea: [UInt8]
    private let akName: [UInt8]
    private let ekID: Digest

    /// Takes the EK.
    fileprivate init(_ ek: OpaquePointer, above: [UInt8]) throws(TenonError) {
        self.ek = ek
        let leaf = [UInt8](unsafeUninitializedCapacity: BENCH_CERTIFICATE_MAX) { bytes, count in
            count = bench_ek_certificate(ek, bytes.baseAddress, bytes.count)
        }
        chain = [leaf, above]
        ekID = try EndorsementKey(unverified: leaf).id
        ak = try SoftwareKey(signsDigests: true)
        akArea = SoftwareTPM.area(ak.publicKey, 0x0005_0472, attests: true)
        akName = try SoftwareTPM.name(akArea)
    }

    deinit { bench_ek_free(ek) }

    /// What answers a challenge that came with a credential.
    func value(_ activation: Activation, credential: [UInt8], encrypted: [UInt8]) throws(TenonError) -> Digest {
        var isOpen = false
        let secret = Secret(count: BENCH_SECRET_SIZE) { bytes in
            isOpen = bytes.withUnsafeMutableBufferPointer { out in
                bench_ek_open(
                    ek, out.baseAddress, credential, credential.count, encrypted, encrypted.count, akName) == 1
            }
        }
        guard isOpen else { throw TenonError(.credentialForm, message: "The credential is not this EK's and AK's.") }
        return try activation.value(secret: secret, ekID: ekID, akName: akName)
    }

    /// TPM2_Certify by the AK of a key beside it (TPM 2.0 Part 2, 10.12.12).
    func proof(of key: PublicKey, _ qualifyingData: Digest) throws(TenonError) -> Proof {
        let area = SoftwareTPM.area(key, 0x0004_0472)
        let name = try SoftwareTPM.name(area)
        let parent = [0x00, 0x0b] + [UInt8](repeating: 5, count: 32)
        let certified =
            [0xff, 0x54, 0x43, 0x47, 0x80, 0x17] + SoftwareTPM.sized(try SoftwareTPM.name(parent + akName))
            + SoftwareTPM.sized(qualifyingData.rawRepresentation) + [UInt8](repeating: 0, count: 16) + [1]
            + [UInt8](repeating: 1, count: 8) + SoftwareTPM.sized(name)
            + SoftwareTPM.sized(try SoftwareTPM.name(parent + name))
        let signature = try ak.signature(for: Digest(hashing: certified)).rawRepresentation
        return try Proof(
            Evidence(
                publicArea: area, certified: certified,
                signature: [0, 0x18, 0, 0x0b] + SoftwareTPM.sized(Array(signature[..<32]))
                    + SoftwareTPM.sized(Array(signature[32...]))))
    }

    /// TPMT_PUBLIC (Part 2, 12.2.4).
    private static func area(_ key: PublicKey, _ attributes: UInt32, attests: Bool = false) -> [UInt8] {
        let point = key.rawRepresentation
        return [0x00, 0x23, 0x00, 0x0b] + (0..<4).map { UInt8(attributes >> (24 - 8 * $0) & 0xff) } + [0, 0, 0, 0x10]
            + (attests ? [0, 0x18, 0, 0x0b] : [0, 0x10]) + [0, 0x03, 0, 0x10] + sized(Array(point[..<32]))
            + sized(Array(point[32...]))
    }

    private static func name(_ bytes: [UInt8]) throws(TenonError) -> [UInt8] {
        try [0x00, 0x0b] + Digest(hashing: bytes).rawRepresentation
    }

    private static func sized(_ bytes: [UInt8]) -> [UInt8] { [0, UInt8(bytes.count)] + bytes }
}
