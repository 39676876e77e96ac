// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// Bytes as text, in constant time for their length. Each value has one text (hex: two cases in, the lower out).
package enum TextEncoding: Sendable {
    /// RFC 4648, 4: the standard alphabet, padded.
    case base64
    /// RFC 4648, 5: the URL-safe alphabet, never padded.
    case base64url
    /// Two digits a byte.
    case hex

    /// The text of the bytes. The core refuses only what no memory holds.
    package func encode(_ bytes: Span<UInt8>) -> String {
        let capacity = self == .hex ? bytes.count * 2 : (bytes.count + 2) / 3 * 4
        return String(unsafeUninitializedCapacity: capacity) { buffer in
            var written = 0
            let status = buffer.withMemoryRebound(to: CChar.self) { encode(bytes, to: $0, &written) }
            return status == 0 ? written : 0
        }
    }

    package func encode(_ bytes: [UInt8]) -> String { encode(bytes.span) }

    /// Writes the text into `text` and returns its length.
    ///
    /// - Throws: ``TenonError/Code/bufferTooSmall``.
    package func encode(_ bytes: Span<UInt8>, into text: inout MutableSpan<CChar>) throws(TenonError) -> Int {
        var written = 0
        try TenonError.check(text.withUnsafeMutableBufferPointer { encode(bytes, to: $0, &written) })
        return written
    }

    /// The bytes of a text.
    ///
    /// - Throws: a code of the category format that says what is wrong with the text.
    package func decode(_ text: String) throws(TenonError) -> [UInt8] {
        var status: tenon_status = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: text.utf8.count) { buffer, written in
            status = text.withCoreText { decode($0, $1, to: buffer, &written) }
        }
        try TenonError.check(status)
        return bytes
    }

    private func encode(
        _ bytes: Span<UInt8>, to text: UnsafeMutableBufferPointer<CChar>, _ written: inout Int
    ) -> tenon_status {
        bytes.withUnsafeBufferPointer { bytes in
            let (out, size, data, count) = (text.baseAddress, text.count, bytes.baseAddress, bytes.count)
            return switch self {
            case .base64: tenon_base64_encode(out, size, &written, data, count)
            case .base64url: tenon_base64url_encode(out, size, &written, data, count)
            case .hex: tenon_hex_encode(out, size, &written, data, count)
            }
        }
    }

    private func decode(
        _ text: UnsafePointer<CChar>?, _ count: Int, to bytes: UnsafeMutableBufferPointer<UInt8>, _ written: inout Int
    ) -> tenon_status {
        let (out, size) = (bytes.baseAddress, bytes.count)
        return switch self {
        case .base64: tenon_base64_decode(out, size, &written, text, count)
        case .base64url: tenon_base64url_decode(out, size, &written, text, count)
        case .hex: tenon_hex_decode(out, size, &written, text, count)
        }
    }
}
