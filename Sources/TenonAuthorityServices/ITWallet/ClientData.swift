// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The name of an instance: the tag that the device drew for its hardware key, at least 16 random bytes in base64url. It
/// has at most 64 characters, since certificates carry it as a common name.
struct InstanceTag: Equatable {
    /// Without padding. It is the id of the device, too.
    let id: String

    private static let sizes = 16...48

    /// - Parameter text: with or without padding.
    /// - Throws: ``TenonError/Code/messageMember``.
    init(_ text: String) throws(TenonError) {
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let bare = String(text.dropLast(padding))
        guard padding == 0 || padding < 3 && text.utf8.count % 4 == 0,
            let bytes = try? TextEncoding.base64url.decode(bare), InstanceTag.sizes.contains(bytes.count)
        else {
            throw TenonError(.messageMember, message: "The tag is not 16 to 48 bytes in base64url.")
        }
        id = bare
    }
}

/// The client data of a call, whose SHA-256 the TPM certifies or the hardware key signs. It is compact JSON with its
/// members in this order, and all texts as they were sent.
struct ClientData {
    private var text = "{"

    /// For an initialization: the thumbprint is that of the hardware key.
    init(nonce: String, tag: String, thumbprint: String) throws(TenonError) {
        try add("nonce", nonce)
        try add("hardware_key_tag", tag)
        try add("jwk_thumbprint", thumbprint)
        text += "}"
    }

    /// For a use of the hardware key: the thumbprint is that of the key in the request's `cnf`.
    ///
    /// - Parameter isList: whether it stands in an array.
    init(nonce: String, thumbprint: String, isList: Bool) throws(TenonError) {
        try add("nonce", nonce)
        // A thumbprint is base64url, which JSON need not escape.
        text += isList ? ",\"jwk_thumbprints\":[\"\(thumbprint)\"]}" : ",\"jwk_thumbprint\":\"\(thumbprint)\"}"
    }

    /// The SHA-256.
    var digest: Digest { get throws(TenonError) { try Digest(hashing: Array(text.utf8)) } }

    private mutating func add(_ name: String, _ value: String) throws(TenonError) {
        text += text == "{" ? "" : ","
        text += "\"\(name)\":" + String(decoding: try JSON.string(value).encoded(), as: UTF8.self)
    }
}
