// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The JSON whose hash a signature or a statement of the TPM is about. Its bytes are hashed, so it has one form: compact,
/// with the members in this order (docs/it-wallet.md).
package enum ClientData {
    /// What an initialization binds together.
    ///
    /// - Parameter member: what the dialect calls the nonce.
    package static func initialization(
        _ member: String, nonce: String, tag: String, thumbprint: String
    ) throws(TenonError) -> [UInt8] {
        try check(nonce)
        return Array(
            #"{"\#(member)":"\#(nonce)","hardware_key_tag":"\#(tag)","jwk_thumbprint":"\#(thumbprint)"}"#.utf8)
    }

    /// What the hardware key signs for a fresh key.
    package static func use(_ member: String, nonce: String, thumbprint: String) throws(TenonError) -> [UInt8] {
        try check(nonce)
        return Array(#"{"\#(member)":"\#(nonce)","jwk_thumbprint":"\#(thumbprint)"}"#.utf8)
    }

    /// The same of an attestation of several keys.
    package static func keys(_ member: String, nonce: String, thumbprints: [String]) throws(TenonError) -> [UInt8] {
        try check(nonce)
        let list = thumbprints.map { "\"\($0)\"" }.joined(separator: ",")
        return Array(#"{"\#(member)":"\#(nonce)","jwk_thumbprints":[\#(list)]}"#.utf8)
    }

    /// A nonce is opaque and goes back as it came. One that two sides could write in two ways as JSON is not taken.
    package static func isNonce(_ text: String) -> Bool {
        1...512 ~= text.utf8.count
            && text.utf8.allSatisfy { 0x20...0x7e ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    private static func check(_ nonce: String) throws(TenonError) {
        guard isNonce(nonce) else { throw .nonceForm }
    }
}

extension TenonError {
    static let nonceForm = TenonError(
        .serviceAnswer,
        message: "The provider's nonce is not 1 to 512 printable ASCII characters without quotes and backslashes.")
}
