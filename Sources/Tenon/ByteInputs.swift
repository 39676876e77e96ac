// SPDX-License-Identifier: Apache-2.0

// The same from any sequence of bytes, as `Data` is one: no Foundation is needed for that. And from arrays, of whose
// temporaries a caller need not make a span: Swift 6.3.1 itself crashes on the span of what a throwing call gave, when it
// is passed to another throwing call.

extension Digest {
    /// The SHA-256 of the bytes.
    public init(hashing bytes: [UInt8]) throws(TenonError) { try self.init(hashing: bytes.span) }

    /// The SHA-256 of the bytes.
    public init(hashing bytes: some Sequence<UInt8>) throws(TenonError) { try self.init(hashing: Array(bytes).span) }

    /// Takes a digest that was computed elsewhere.
    public init(rawRepresentation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(rawRepresentation: Array(rawRepresentation).span)
    }
}

extension DigestStream {
    /// Adds bytes.
    public mutating func update(_ bytes: [UInt8]) throws(TenonError) { try update(bytes.span) }
}

extension PublicKey {
    /// Takes x || y, 64 bytes.
    public init(rawRepresentation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(rawRepresentation: Array(rawRepresentation).span)
    }

    /// Takes the 65-byte point 04 || x || y.
    public init(x963Representation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(x963Representation: Array(x963Representation).span)
    }

    /// Takes the 33-byte compressed point.
    public init(compressedRepresentation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(compressedRepresentation: Array(compressedRepresentation).span)
    }

    /// Takes the 91-byte SubjectPublicKeyInfo.
    public init(derRepresentation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(derRepresentation: Array(derRepresentation).span)
    }
}

extension RequestMessage {
    /// Adds bytes of the body, as they go on the wire.
    public mutating func update(_ body: [UInt8]) throws(TenonError) { try update(body.span) }
}

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
