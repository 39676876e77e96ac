// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import Glibc

/// Secret bytes: outside of Swift's arrays, which are copied and never wiped, and wiped when nobody holds them any more.
///
/// A secret does not print itself, and has no form that is stored.
public final class Secret: Sendable {
    /// How many bytes there are.
    public let count: Int
    // Written before anybody else has it, and never again.
    private nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer

    /// Copies bytes; those that are copied are the caller's to wipe.
    public convenience init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { copy in
            for index in bytes.indices { copy[index] = bytes[index] }
        }
    }

    /// Lets bytes be written where they stay, as from a file or a generator; they are zeros before.
    public init<Failure>(
        count: Int, _ write: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let bytes = Secret.allocate(count)
        self.count = count
        self.bytes = bytes
        var span = bytes.bindMemory(to: UInt8.self).mutableSpan
        try write(&span)
    }

    /// For what the core writes, at most so many bytes.
    package init(
        capacity: Int, _ write: (UnsafeMutableBufferPointer<UInt8>, inout Int) -> Int32
    ) throws(TenonError) {
        let bytes = Secret.allocate(capacity)
        var count = 0
        let status = write(bytes.bindMemory(to: UInt8.self), &count)
        self.bytes = bytes
        self.count = count
        try TenonError.check(status)
    }

    deinit {
        if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
        bytes.deallocate()
    }

    /// Lends the bytes for the one protocol that sends them. Code that copies them must wipe the copy.
    public func withBytes<Result, Failure>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]).bindMemory(to: UInt8.self).span)
    }

    private static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        return bytes
    }
}

extension Secret: Equatable {
    /// Compares all bytes, whatever the first ones are; the lengths are no secret.
    public static func == (left: Secret, right: Secret) -> Bool {
        left.withBytes { left in
            right.withBytes { right in
                guard left.count == right.count else { return false }
                var difference: UInt8 = 0
                for index in left.indices { difference |= left[index] ^ right[index] }
                return difference == 0
            }
        }
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "a secret" }
    public var debugDescription: String { description }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret {
    /// Random bytes as the operating system gives them.
    package convenience init(random count: Int) {
        self.init(count: count) { bytes in
            var generator = SystemRandomNumberGenerator()
            for index in bytes.indices { bytes[index] = generator.next() }
        }
    }

    /// The SHA-256 of the bytes.
    var digest: Digest {
        get throws(TenonError) {
            try withBytes { bytes throws(TenonError) in try Digest(hashing: bytes) }
        }
    }

    /// Lends the bytes as a `tenon_bytes`.
    func withCoreBytes<Result>(_ body: (tenon_bytes) -> Result) -> Result {
        withBytes { bytes in
            bytes.withUnsafeBufferPointer { body(tenon_bytes(bytes: $0.baseAddress, n: $0.count)) }
        }
    }
}
