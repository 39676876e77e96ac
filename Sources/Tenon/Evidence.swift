// SPDX-License-Identifier: Apache-2.0

/// What a ``Proof`` holds. Nothing of it was verified: ``Proof/verify(_:nonce:policy:)`` does that.
public struct Evidence: Hashable, Sendable {
    /// The key's public area, TPMT_PUBLIC. Of a proof that was accepted it is a ``PublicArea``.
    public var publicArea: [UInt8]
    /// What the TPM says of the key, TPMS_ATTEST.
    public var certified: [UInt8]
    /// The attestation key's signature over it, TPMT_SIGNATURE; for some verifiers its DER form.
    public var signature: [UInt8]
    /// The attestation key's certificate and those above it, leaf first; none when the key is known otherwise.
    public var certificates: [[UInt8]]

    public init(publicArea: [UInt8], certified: [UInt8], signature: [UInt8], certificates: [[UInt8]] = []) {
        self.publicArea = publicArea
        self.certified = certified
        self.signature = signature
        self.certificates = certificates
    }
}
