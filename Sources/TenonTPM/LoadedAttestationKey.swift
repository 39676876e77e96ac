// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
internal import Tenon

/// An attestation key that is loaded.
final class LoadedAttestationKey: Sendable {
    /// The key in its TPM.
    let object: LoadedObject
    let publicArea: PublicArea

    init(_ make: (inout OpaquePointer?) -> tenon_status) throws(TenonError) {
        object = try LoadedObject(make)
        publicArea = try object.publicArea
    }

    /// TPM2_Certify of a key.
    func attest(_ key: LoadedObject, _ data: [UInt8], _ certificates: [[UInt8]]) throws(TenonError) -> Proof {
        let proof = try bytes(capacity: TENON_PROOF_MAX) { buffer, written in
            certificates.withCoreBytes { certificates, count in
                data.withUnsafeBufferPointer {
                    tenon_tpm_key_attest(
                        key.pointer, object.pointer, buffer.baseAddress, buffer.count, &written, $0.baseAddress,
                        $0.count, certificates?.assumingMemoryBound(to: tenon_bytes.self), count)
                }
            }
        }
        return Proof(dataRepresentation: proof)
    }

    func activate(
        _ activation: Activation, _ credential: Credential, _ certificate: [UInt8]
    ) throws(TenonError) -> Digest {
        var value = tenon_digest()
        let status = activation.withCore { activation in
            withCore(certificate, credential) { certificate, credential, encrypted in
                tenon_tpm_ak_activate(
                    object.pointer, &value, certificate.baseAddress, certificate.count, credential.baseAddress,
                    credential.count, encrypted.baseAddress, encrypted.count,
                    activation.assumingMemoryBound(to: tenon_activation.self))
            }
        }
        try TenonError.check(status)
        return try withUnsafeBytes(of: value) { value throws(TenonError) in
            try Digest(rawRepresentation: Array(value))
        }
    }

    func secret(_ credential: Credential, _ certificate: [UInt8]) throws(TenonError) -> Secret {
        try Secret(capacity: 64) { buffer, written in
            withCore(certificate, credential) { certificate, credential, encrypted in
                tenon_tpm_ak_secret(
                    object.pointer, buffer.baseAddress, buffer.count, &written, certificate.baseAddress,
                    certificate.count, credential.baseAddress, credential.count, encrypted.baseAddress,
                    encrypted.count)
            }
        }
    }

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    private func withCore<Result>(
        _ certificate: [UInt8], _ credential: Credential, _ body: (Bytes, Bytes, Bytes) -> Result
    ) -> Result {
        certificate.withUnsafeBufferPointer { certificate in
            credential.idObject.withUnsafeBufferPointer { credentialBytes in
                credential.encryptedSecret.withUnsafeBufferPointer { body(certificate, credentialBytes, $0) }
            }
        }
    }
}
