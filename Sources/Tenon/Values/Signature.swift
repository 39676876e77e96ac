// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// An ECDSA signature over P-256: r and s, each in 1 ... n-1.
///
/// Two signatures are equal when r and s are; `(r, s)` and `(r, n-s)` verify alike and are not equal until they are
/// ``normalised()``.
public struct Signature: Sendable {
    /// r, then s, each 32 bytes, big-endian. `signature.bytes.span` reads them without a copy.
    public let bytes: InlineArray<64, UInt8>

    /// For bytes whose range was checked.
    init(checked bytes: InlineArray<64, UInt8>) { self.bytes = bytes }

    /// r, then s, as an array.
    public var rawRepresentation: [UInt8] { bytes.array }
}

// Any sequence of bytes, as `Data` is one, makes a signature too.
extension Signature {
    /// Takes r || s, 64 bytes.
    public init(rawRepresentation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(rawRepresentation: Array(rawRepresentation).span)
    }

    /// Takes the DER form.
    public init(derRepresentation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(derRepresentation: Array(derRepresentation).span)
    }
}

extension Signature: Hashable {
    public static func == (left: Signature, right: Signature) -> Bool { left.bytes.isEqual(to: right.bytes) }

    public func hash(into hasher: inout Hasher) { bytes.hash(into: &hasher) }
}

extension Signature {
    /// Takes r || s, 64 bytes.
    ///
    /// - Throws: ``TenonError/Code/length`` for another length, ``TenonError/Code/signatureRange`` when r or s is not in
    ///   1 ... n-1.
    public init(rawRepresentation: Span<UInt8>) throws(TenonError) {
        guard let bytes = InlineArray<64, UInt8>(copying: rawRepresentation) else {
            throw TenonError(.length, message: "A P-256 signature needs 64 bytes, not \(rawRepresentation.count).")
        }
        try self.init(core: unsafeBitCast(bytes, to: tenon_signature.self))
    }

    /// Takes the DER form (RFC 3279, 2.2.3) and nothing that is not DER.
    ///
    /// - Throws: the first rule that is broken: a code `der...`, or ``TenonError/Code/signatureRange``.
    public init(derRepresentation: Span<UInt8>) throws(TenonError) {
        var signature = tenon_signature()
        try TenonError.check(tenon_signature_decode_der(&signature, derRepresentation))
        self.init(checked: unsafeBitCast(signature, to: InlineArray<64, UInt8>.self))
    }

    /// The DER form, at most 72 bytes.
    public var derRepresentation: [UInt8] {
        array(capacity: TENON_SIGNATURE_DER_MAX) { buffer, written in
            withUnsafePointer(to: core) { tenon_signature_encode_der(buffer.baseAddress, buffer.count, &written, $0) }
        }
    }

    /// Writes the DER form into `bytes` and returns its length; 72 bytes are always enough.
    ///
    /// - Throws: ``TenonError/Code/bufferTooSmall``; nothing is written then.
    public func writeDERRepresentation(into bytes: inout MutableSpan<UInt8>) throws(TenonError) -> Int {
        var written = 0
        let status = withUnsafePointer(to: core) { tenon_signature_encode_der(&bytes, &written, $0) }
        try TenonError.check(status)
        return written
    }

    /// Whether s is at most n/2, as strict verifiers ask.
    public var isLowS: Bool { withUnsafePointer(to: core) { tenon_signature_is_low_s($0) == 1 } }

    /// Returns the one of the two equivalent signatures that has the smaller s.
    public func normalised() -> Signature {
        var signature = core
        guard tenon_signature_normalize(&signature) == 0 else { return self }
        return Signature(checked: unsafeBitCast(signature, to: InlineArray<64, UInt8>.self))
    }

    /// Checks the range: a key that is not ours may have made it.
    init(core signature: tenon_signature) throws(TenonError) {
        var copy = signature
        try TenonError.check(tenon_signature_normalize(&copy))
        self.init(checked: unsafeBitCast(signature, to: InlineArray<64, UInt8>.self))
    }

    // tenon_signature is 64 bytes and nothing else, as the inline array is.
    var core: tenon_signature { unsafeBitCast(bytes, to: tenon_signature.self) }
}
