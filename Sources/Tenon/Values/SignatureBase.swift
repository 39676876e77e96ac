// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// The two forms of a request of signature version 2 (docs/signing.md).
public enum RequestForm: String, Hashable, Sendable, CaseIterable {
    /// One signature for one request; any library for RFC 9421 verifies it.
    case plain
    /// One signature for all requests of a batch.
    case batch
}

/// The parts of a request that signature version 2 covers, beside its content.
package struct RequestTarget: Hashable, Sendable {
    package var method: String
    /// The host in lower case, with the port unless it is the scheme's own.
    package var authority: String
    package var path: String
    /// Without its question mark; nil for a request without a query.
    package var query: String?
    /// nil exactly if the request does not have the header.
    package var contentType: String?
    package var contentEncoding: String?

    package init(
        _ method: String, authority: String, path: String, query: String? = nil, contentType: String? = nil,
        contentEncoding: String? = nil
    ) {
        (self.method, self.authority, self.path, self.query) = (method, authority, path, query)
        (self.contentType, self.contentEncoding) = (contentType, contentEncoding)
    }
}

/// A request of signature version 2, ready to be signed: the base of RFC 9421, 2.5, in the one form of this profile.
///
/// Only the core makes these values. A key therefore never signs a digest that somebody else computed.
public struct SignatureBase: Sendable {
    /// The form that is signed.
    public let form: RequestForm
    /// The value of `Signature-Input`.
    public let input: String
    /// SHA-256 of the base.
    package let digest: Digest
    /// SHA-256 of the content.
    package let content: Digest
    package let nonce: String
    package let appID: String
    package let deviceID: String
    /// Unix seconds on the service's clock.
    package let created: Int64

    // The texts one behind the other, and where each ends.
    private let texts: [UInt8]
    private let ends: [Int]
    private let covers: (contentType: Bool, contentEncoding: Bool)

    /// How long a request is good after it was made.
    package static let validity: Int64 = 300

    /// Checks all texts, draws the nonce and hashes the base.
    ///
    /// - Parameter content: SHA-256 of the content as it is sent, also of an empty one.
    /// - Throws: ``TenonError/Code/authority``, ``TenonError/Code/path``, ``TenonError/Code/query``,
    ///   ``TenonError/Code/component`` or another code of the text that does not have its form.
    package init(
        _ target: RequestTarget, content: Digest, appID: String, deviceID: String, thumbprint: String,
        created: Int64, form: RequestForm, nonce: String? = nil
    ) throws(TenonError) {
        let nonce = if let nonce { nonce } else { try RequestHeaders.makeNonce() }
        (self.form, self.content, self.nonce, self.created) = (form, content, nonce, created)
        (self.appID, self.deviceID) = (appID, deviceID)
        covers = (target.contentType != nil, target.contentEncoding != nil)
        let parts = [
            target.method, target.authority, target.path, "?" + (target.query ?? ""), target.contentType ?? "",
            target.contentEncoding ?? "", appID, deviceID, nonce, thumbprint,
        ]
        var (texts, ends): ([UInt8], [Int]) = ([], [])
        texts.reserveCapacity(parts.reduce(0) { $0 + $1.utf8.count })
        for part in parts {
            texts += part.utf8
            ends.append(texts.count)
        }
        (self.texts, self.ends) = (texts, ends)
        (input, digest) = try Self.rendered(texts, ends, covers, content, created, form)
    }

    /// The value of `Content-Digest`.
    package var contentDigest: String {
        let content = content.core
        return Self.text(capacity: TENON_CONTENT_DIGEST_SIZE) { buffer, written in
            withUnsafePointer(to: content) { tenon_content_digest(buffer.baseAddress, buffer.count, &written, $0) }
        }
    }

    /// The value of `Signature` in the plain form.
    package func value(of signature: Signature) -> String {
        let signature = signature.core
        return Self.text(capacity: TENON_SIGNATURE_VALUE_MAX) { buffer, written in
            withUnsafePointer(to: signature) { tenon_signature2(buffer.baseAddress, buffer.count, &written, $0) }
        }
    }

    /// Has a key of the core sign the plain form.
    func signature(by key: OpaquePointer) throws(TenonError) -> Signature {
        var signature = tenon_signature()
        let status = Self.withCore(texts, ends, covers, content, created, form) {
            tenon_key_sign_request2(key, &signature, $0)
        }
        try TenonError.check(status)
        return try Signature(core: signature)
    }

    private static func rendered(
        _ texts: [UInt8], _ ends: [Int], _ covers: (Bool, Bool), _ content: Digest, _ created: Int64,
        _ form: RequestForm
    ) throws(TenonError) -> (String, Digest) {
        var digest = tenon_digest()
        var status: tenon_status = 0
        let input = text(capacity: TENON_SIGNATURE_INPUT_MAX) { buffer, written in
            status = withCore(texts, ends, covers, content, created, form) {
                tenon_request2_input(buffer.baseAddress, buffer.count, &written, &digest, $0)
            }
            return status
        }
        try TenonError.check(status)
        return (input, Digest(core: digest))
    }

    /// Lends the request as the core takes it.
    private static func withCore(
        _ texts: [UInt8], _ ends: [Int], _ covers: (contentType: Bool, contentEncoding: Bool), _ content: Digest,
        _ created: Int64, _ form: RequestForm, _ body: (UnsafePointer<tenon_request2>) -> tenon_status
    ) -> tenon_status {
        texts.withUnsafeBytes { bytes in
            let start = bytes.bindMemory(to: CChar.self).baseAddress
            func text(_ index: Int, isThere: Bool = true) -> tenon_text {
                let from = index == 0 ? 0 : ends[index - 1]
                guard isThere, let start else { return tenon_text(text: nil, n: 0) }
                return tenon_text(text: start + from, n: ends[index] - from)
            }
            var request = tenon_request2(
                method: text(0), authority: text(1), path: text(2), query: text(3),
                content_type: text(4, isThere: covers.contentType),
                content_encoding: text(5, isThere: covers.contentEncoding), app_id: text(6), device_id: text(7),
                nonce: text(8), keyid: text(9), created: UInt64(clamping: created),
                expires: UInt64(clamping: created) &+ UInt64(validity), content: content.core,
                form: UInt32(form == .plain ? TENON_FORM_PLAIN : TENON_FORM_BATCH))
            return body(&request)
        }
    }

    /// A text that the core writes; empty if it refuses.
    private static func text(
        capacity: Int, _ write: (UnsafeMutableBufferPointer<CChar>, inout Int) -> tenon_status
    ) -> String {
        String(unsafeUninitializedCapacity: capacity) { buffer in
            var written = 0
            let status = buffer.withMemoryRebound(to: CChar.self) { write($0, &written) }
            return status == 0 ? written : 0
        }
    }
}

/// The SHA-256 of a content that comes in pieces.
package struct ContentHash: Sendable {
    private var stream = tenon_sha256_stream()

    package init() throws(TenonError) { try TenonError.check(tenon_sha256_begin(&stream)) }

    package mutating func update(_ bytes: [UInt8]) throws(TenonError) {
        try TenonError.check(tenon_sha256_update(&stream, bytes.span))
    }

    package mutating func finish() throws(TenonError) -> Digest {
        var digest = tenon_digest()
        try TenonError.check(tenon_sha256_finish(&stream, &digest))
        return Digest(core: digest)
    }
}

/// The values of the headers of a signed request of version 2. What some of the headers are called is for the service's
/// profile to say.
package struct SignatureHeaders: Sendable {
    package let base: SignatureBase
    /// The value of `Signature`.
    package let signature: String

    package init(_ base: SignatureBase, _ signature: String) { (self.base, self.signature) = (base, signature) }

    /// The headers of RFC 9530 and RFC 9421.
    package var standard: [(name: String, value: String)] {
        [("Content-Digest", base.contentDigest), ("Signature-Input", base.input), ("Signature", signature)]
    }
}
