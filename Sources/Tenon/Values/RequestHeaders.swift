// SPDX-License-Identifier: Apache-2.0
internal import CTenon

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

    /// What the service calls the application.
    public var appID: String { text(offsets.app_id, offsets.device_id) }
    /// What the service calls the device.
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
