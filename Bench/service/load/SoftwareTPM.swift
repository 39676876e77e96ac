// SPDX-License-Identifier: Apache-2.0
internal import CBenchIdentity
internal import Tenon
internal import TestEvidence

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
        akArea = ProofRig.area(ak.publicKey, 0x0005_0472, attests: true)
        akName = ProofRig.name(akArea)
    }

    deinit { bench_ek_free(ek) }

    /// What answers a challenge that came with a credential.
    func value(_ activation: Activation, credential: [UInt8], encrypted: [UInt8]) throws(TenonError) -> Digest {
        try activation.value(secret: secret(credential: credential, encrypted: encrypted), ekID: ekID, akName: akName)
    }

    /// TPM2_ActivateCredential.
    func secret(credential: [UInt8], encrypted: [UInt8]) throws(TenonError) -> Secret {
        var isOpen = false
        let secret = Secret(count: BENCH_SECRET_SIZE) { bytes in
            isOpen = bytes.withUnsafeMutableBufferPointer { out in
                bench_ek_open(
                    ek, out.baseAddress, credential, credential.count, encrypted, encrypted.count, akName) == 1
            }
        }
        guard isOpen else { throw TenonError(.credentialForm, message: "The credential is not this EK's and AK's.") }
        return secret
    }

    /// TPM2_Certify by the AK of a key beside it.
    ///
    /// - Parameter certificates: of the AK.
    func proof(
        of key: PublicKey, _ qualifyingData: Digest, certificates: [[UInt8]] = []
    ) throws(TenonError) -> Proof {
        var rig = ProofRig(key: key, ak: ak, nonce: qualifyingData)
        rig.certificates = certificates
        return try rig.proof()
    }
}
