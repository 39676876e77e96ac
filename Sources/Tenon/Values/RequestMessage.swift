// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// A request on its way to be signed or verified: `METHOD \n path \n timestamp \n body`, hashed as it comes.
///
/// A value: a copy goes on by itself, and one that is forgotten costs nothing.
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

    /// Adds bytes of the body, as they go on the wire.
    ///
    /// - Throws: ``TenonError/Code/stream`` after ``finish()``.
    public mutating func update(_ body: Span<UInt8>) throws(TenonError) {
        try TenonError.check(tenon_request_update(&core, body))
    }

    /// Adds bytes of the body, as they go on the wire.
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
