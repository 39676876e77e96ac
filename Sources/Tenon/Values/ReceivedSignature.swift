// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// The parts of a request that its signature of version 2 covers, as a verifier received them (docs/signing.md).
package struct CoveredTexts: Sendable {
    package var method: String
    /// The host in lower case, with the port unless it is the scheme's own.
    package var authority: String
    package var path: String
    /// Begins with its question mark, which stands alone if there is no query.
    package var query: String
    /// Nil exactly when the request does not have the header.
    package var contentType: String?
    package var contentEncoding: String?
    package var appID: String
    package var deviceID: String
    /// What `Content-Digest` says, which is to be compared with the content.
    package var content: Digest

    /// - Parameter target: as it was received: a path, and perhaps a query.
    package init(
        method: String, authority: String, target: String, contentType: String?, contentEncoding: String?,
        appID: String, deviceID: String, content: Digest
    ) {
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        self.method = method
        self.authority = authority
        path = String(target[..<mark])
        query = mark == target.endIndex ? "?" : String(target[mark...])
        self.contentType = contentType
        self.contentEncoding = contentEncoding
        self.appID = appID
        self.deviceID = deviceID
        self.content = content
    }

    /// Lends the request to the core, with the values that came in `Signature-Input`.
    fileprivate func withCore(
        _ signature: ReceivedSignature, _ body: (UnsafePointer<tenon_request2>) -> tenon_status
    ) throws(TenonError) {
        // For the core, an empty text would be one that is not there.
        guard contentType != "", contentEncoding != "" else { throw TenonError(status: Int32(TENON_ERROR_COMPONENT)) }
        let texts = [
            method, authority, path, query, contentType, contentEncoding, appID, deviceID, signature.nonce,
            signature.keyID,
        ]
        var bytes: [UInt8] = []
        let places = texts.map { text -> Range<Int>? in
            guard let text else { return nil }
            bytes += text.utf8
            defer { bytes.append(0) }
            return bytes.count - text.utf8.count..<bytes.count
        }
        let status = bytes.withUnsafeBytes { bytes in
            let start = bytes.bindMemory(to: CChar.self).baseAddress
            func text(_ index: Int) -> tenon_text {
                guard let place = places[index] else { return tenon_text() }
                return tenon_text(text: start.map { $0 + place.lowerBound }, n: place.count)
            }
            var request = tenon_request2()
            (request.method, request.authority, request.path, request.query) = (text(0), text(1), text(2), text(3))
            (request.content_type, request.content_encoding) = (text(4), text(5))
            (request.app_id, request.device_id, request.nonce, request.keyid) = (text(6), text(7), text(8), text(9))
            (request.created, request.expires) = (signature.core.created, signature.core.expires)
            (request.content, request.form) = (content.core, signature.core.form)
            return withUnsafePointer(to: request, body)
        }
        try TenonError.check(status)
    }
}

/// What the headers `Signature-Input` and `Signature` of a request of version 2 say: each has its one form.
package struct ReceivedSignature: Sendable {
    fileprivate let core: tenon_signed2
    /// A UUID in lower case.
    package let nonce: String
    /// The thumbprint of the key, as text.
    package let keyID: String

    /// Reads the values of the two headers.
    ///
    /// - Throws: the first rule that is broken: ``TenonError/Code/signatureInput``, `validity`, `signatureValue`,
    ///   `batchSize`, `batchIndex`, `batchPath`, `signatureRange`, `signatureHigh`.
    package init(input: String, value: String) throws(TenonError) {
        var core = tenon_signed2()
        let status = input.withCoreText { input, count in
            value.withCoreText { tenon_signed2_read(&core, input, count, $0, $1) }
        }
        try TenonError.check(status)
        self.core = core
        nonce = withUnsafeBytes(of: core.nonce) { String(decoding: $0, as: UTF8.self) }
        keyID = withUnsafeBytes(of: core.keyid) { String(decoding: $0, as: UTF8.self) }
    }

    /// The most requests that one signature stands for.
    package static let largestBatch = Int(TENON_BATCH_MAX)

    /// Unix seconds.
    package var created: Int64 { Int64(core.created) }
    package var expires: Int64 { Int64(core.expires) }
    /// Whether one signature stands for several requests.
    package var isBatch: Bool { core.form == UInt32(TENON_FORM_BATCH) }
    /// The number of requests in the batch; 0 in the plain form.
    package var size: Int { Int(core.size) }
    /// The place of this request in the batch.
    package var index: Int { Int(core.index) }

    /// Whether the headers that the signature covers are those that the request has.
    package func covers(_ texts: CoveredTexts) -> Bool {
        (core.covers & UInt32(TENON_COVERS_CONTENT_TYPE) != 0) == (texts.contentType != nil)
            && (core.covers & UInt32(TENON_COVERS_CONTENT_ENCODING) != 0) == (texts.contentEncoding != nil)
    }

    /// Checks the forms of the request, and hashes nothing.
    ///
    /// - Throws: the code of the first text that does not have its form.
    package func check(_ texts: CoveredTexts) throws(TenonError) {
        try texts.withCore(self) { request in
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(TENON_SIGNATURE_INPUT_MAX)) { input in
                var written = 0
                return tenon_request2_input(input.baseAddress, input.count, &written, nil, request)
            }
        }
    }

    /// Computes what the key signed: at most some twelve hashes, and no key.
    package func root(of texts: CoveredTexts) throws(TenonError) -> SignedRoot {
        var (digest, root) = (tenon_digest(), tenon_root())
        try texts.withCore(self) { request in
            withUnsafePointer(to: core) { tenon_signed2_digest($0, &digest, request) }
        }
        try TenonError.check(withUnsafePointer(to: core) { tenon_signed2_root($0, &root, &digest) })
        return SignedRoot(core: root)
    }
}

/// What a key signed, and its signature: the statement about the root of a batch, or the digest of a plain request.
package struct SignedRoot: Sendable {
    fileprivate let core: tenon_root

    fileprivate init(core: tenon_root) { self.core = core }

    /// That of the key that is said to have signed.
    package var thumbprint: Digest { Digest(core: core.thumbprint) }
    /// The root of the batch; of a plain request its digest.
    package var root: Digest { Digest(core: core.root) }
    /// The number of requests; 0 for a plain one.
    package var size: Int { Int(core.size) }

    /// Verifies the signature. That the thumbprint is this key's is for the caller to compare.
    ///
    /// - Throws: ``TenonError/Code/signatureInvalid``.
    package func verify(with key: PublicKey) throws(TenonError) {
        let verifier = try Verifier(key)
        try TenonError.check(withUnsafePointer(to: core) { tenon_root_verify(verifier.handle, $0) })
    }
}

extension SignedRoot: Hashable {
    /// Compares everything, the signature too.
    package static func == (left: SignedRoot, right: SignedRoot) -> Bool {
        withUnsafeBytes(of: left.core) { left in
            withUnsafeBytes(of: right.core) { right in left.elementsEqual(right) }
        }
    }

    package func hash(into hasher: inout Hasher) { withUnsafeBytes(of: core.root) { hasher.combine(bytes: $0) } }
}

extension Digest {
    /// Takes the value of `Content-Digest` (RFC 9530), which has one form.
    ///
    /// - Throws: ``TenonError/Code/contentDigest``.
    package init(contentDigest text: String) throws(TenonError) {
        var digest = tenon_digest()
        try TenonError.check(text.withCoreText { tenon_content_digest_read(&digest, $0, $1) })
        self.init(core: digest)
    }
}
