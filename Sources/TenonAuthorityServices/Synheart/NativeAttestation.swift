// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// What the callback `get_attestation` gave the runtime, as it stands in `attestation` of a registration
/// (docs/native-callbacks.md): the bytes of a proof in base64, or the word that there is none.
struct NativeAttestation {
    /// The largest proof.
    private static let longest = 16_384

    /// base64url, as in `proof`; nil if there is none.
    let proof: String?

    init(_ message: MessageObject) throws(TenonError) {
        switch try message.text("format", maxBytes: 64) {
        case "tpm2":
            guard let bytes = try message.bytes("blob", sizes: 1...NativeAttestation.longest) else {
                throw message.missing("blob")
            }
            proof = TextEncoding.base64url.encode(bytes)
        case "none": proof = nil
        default: throw message.refusal("format", "is neither tpm2 nor none")
        }
    }
}
