// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// SHA-256 of what comes in pieces.
///
/// A value: a copy goes on by itself, and one that is forgotten costs nothing.
///
/// ```swift
/// var stream = try DigestStream()
/// try stream.update(head)
/// try stream.update(body)
/// let digest = try stream.finish()
/// ```
public struct DigestStream: Sendable {
    private var core = tenon_sha256_stream()

    public init() throws(TenonError) {
        try TenonError.check(tenon_sha256_begin(&core))
    }

    /// Adds bytes.
    ///
    /// - Throws: ``TenonError/Code/stream`` after ``finish()``.
    public mutating func update(_ bytes: Span<UInt8>) throws(TenonError) {
        try TenonError.check(tenon_sha256_update(&core, bytes))
    }

    /// The digest of all that was added; the stream is wiped.
    ///
    /// - Throws: ``TenonError/Code/stream`` the second time.
    public mutating func finish() throws(TenonError) -> Digest {
        var digest = tenon_digest()
        try TenonError.check(tenon_sha256_finish(&core, &digest))
        return Digest(core: digest)
    }
}
