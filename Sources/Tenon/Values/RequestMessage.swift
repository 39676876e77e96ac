// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// A request to sign or verify: `METHOD \n path \n timestamp \n body`, hashed piece by piece.
///
/// A value: a copy continues on its own, and you may drop one without a call.
public struct RequestMessage: Sendable {
    var core = tenon_request()

    /// Begins a request; its body is added with ``update(_:)``.
    ///
    /// - Parameters:
    ///   - method: `[A-Z]`, 1 to 32.
    ///   - path: the path as the service mounts it: begins with `/`, printable ASCII, without `?` and `#`.
    ///   - timestamp: Unix seconds as text, `[1-9][0-9]{9,11}`; this very text goes into the header.
    /// - Throws: ``TenonError/Code/method``, ``TenonError/Code/path`` or ``TenonError/Code/timestamp``.
    public init(method: String, path: String, timestamp: String) throws(TenonError) {
        let status = method.withCoreText { method, methodCount in
            path.withCoreText { path, pathCount in
                timestamp.withCoreText {
                    tenon_request_begin(&core, method, methodCount, path, pathCount, $0, $1)
                }
            }
        }
        try TenonError.check(status)
    }

    /// Adds bytes of the body as they are sent.
    ///
    /// - Throws: ``TenonError/Code/stream`` after ``finish()``.
    public mutating func update(_ body: Span<UInt8>) throws(TenonError) {
        try TenonError.check(tenon_request_update(&core, body))
    }

    /// Adds bytes of the body as they are sent.
    public mutating func update(_ body: [UInt8]) throws(TenonError) { try update(body.span) }

    /// The digest that the device signs and the service verifies; the message is wiped.
    ///
    /// - Throws: ``TenonError/Code/stream`` the second time.
    public mutating func finish() throws(TenonError) -> Digest {
        var digest = tenon_digest()
        try TenonError.check(tenon_request_finish(&core, &digest))
        return Digest(core: digest)
    }
}

/// The values of the headers of a signed request, each of a form that may stand in a header. What the headers are called
/// is for the service's profile to say.
public struct RequestHeaders: Sendable {
    // The values, each followed by a NUL, back to back.
    private let bytes: [UInt8]
    private let offsets: tenon_header_offsets

    /// Checks and renders the values.
    ///
    /// - Parameter timestamp: the text that was signed.
    /// - Parameter nonce: a fresh one for each request, see ``makeNonce()``.
    /// - Throws: ``TenonError/Code/appID``, ``TenonError/Code/deviceID``, ``TenonError/Code/timestamp`` or
    ///   ``TenonError/Code/nonce`` when a text does not have its form.
    public init(
        signature: Signature, appID: String, deviceID: String, timestamp: String, nonce: String
    ) throws(TenonError) {
        let signature = signature.core
        var offsets = tenon_header_offsets()
        var status: tenon_status = 0
        bytes = [UInt8](unsafeUninitializedCapacity: TENON_HEADERS_MAX) { buffer, written in
            status = RequestHeaders.withTexts(appID, deviceID, timestamp, nonce) { app, device, timestamp, nonce in
                buffer.withMemoryRebound(to: CChar.self) { out in
                    withUnsafePointer(to: signature) {
                        tenon_request_headers(
                            out.baseAddress, out.count, &written, &offsets, $0, app.start, app.count, device.start,
                            device.count, timestamp.start, timestamp.count, nonce.start, nonce.count)
                    }
                }
            }
        }
        self.offsets = offsets
        try TenonError.check(status)
    }

    /// A fresh nonce for one request: a UUID of version 4.
    public static func makeNonce() throws(TenonError) -> String {
        var status: tenon_status = 0
        let nonce = String(unsafeUninitializedCapacity: TENON_UUID_SIZE) { buffer in
            var written = 0
            status = buffer.withMemoryRebound(to: CChar.self) {
                tenon_request_nonce($0.baseAddress, $0.count, &written)
            }
            return status == 0 ? written : 0
        }
        try TenonError.check(status)
        return nonce
    }

    /// The service's id of the application.
    public var appID: String { text(offsets.app_id, offsets.device_id) }
    /// The service's id of the device.
    public var deviceID: String { text(offsets.device_id, offsets.signature) }
    /// The signature: base64 of DER.
    public var signature: String { text(offsets.signature, offsets.timestamp) }
    /// Unix seconds, as they were signed.
    public var timestamp: String { text(offsets.timestamp, offsets.nonce) }
    /// The nonce of this one request.
    public var nonce: String { text(offsets.nonce, offsets.version) }
    /// The version of what is signed.
    public var signatureVersion: String { text(offsets.version, bytes.count) }

    private func text(_ start: Int, _ next: Int) -> String {
        String(decoding: bytes[start..<next - 1], as: UTF8.self)
    }

    private typealias Text = (start: UnsafePointer<CChar>?, count: Int)

    private static func withTexts(
        _ first: String, _ second: String, _ third: String, _ fourth: String,
        _ body: (Text, Text, Text, Text) -> tenon_status
    ) -> tenon_status {
        first.withCoreText { first, firstCount in
            second.withCoreText { second, secondCount in
                third.withCoreText { third, thirdCount in
                    fourth.withCoreText {
                        body((first, firstCount), (second, secondCount), (third, thirdCount), ($0, $1))
                    }
                }
            }
        }
    }
}
