// SPDX-License-Identifier: Apache-2.0

/// Goes through DER whose form was checked, or whose file an operator gave: value after value.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

    private init(slice: ArraySlice<UInt8>) { rest = slice }

    var isAtEnd: Bool { rest.isEmpty }

    /// Of the next value; nil at the end.
    var tag: UInt8? { rest.first }

    /// Takes a value off, if it has this tag: what is in it.
    mutating func take(_ tag: UInt8) -> ArraySlice<UInt8>? {
        var reader = self.rest
        guard reader.count >= 2, reader.popFirst() == tag, let first = reader.popFirst() else { return nil }
        var count = Int(first)
        if first >= 0x80 {
            guard first <= 0x84, reader.count >= Int(first & 0x7f) else { return nil }
            count = reader.prefix(Int(first & 0x7f)).reduce(0) { $0 << 8 | Int($1) }
            reader = reader.dropFirst(Int(first & 0x7f))
        }
        guard count <= reader.count else { return nil }
        rest = reader.dropFirst(count)
        return reader.prefix(count)
    }

    /// The same, to be gone through.
    mutating func enter(_ tag: UInt8) -> DERReader? { take(tag).map(DERReader.init(slice:)) }
}
