// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import Testing

@Suite struct SecretTests {
    private let pattern: [UInt8] = Array("these bytes nobody else shall read, and no report may show them.".utf8)

    private func array(_ secret: Secret) -> [UInt8] {
        secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }

    @Test func holdsItsBytes() {
        let secret = Secret(copying: pattern.span)
        #expect(secret.count == pattern.count && array(secret) == pattern)
        let zeros = Secret(count: 5) { _ in }
        #expect(array(zeros) == [0, 0, 0, 0, 0])
        let written = Secret(count: 3) { bytes in for index in bytes.indices { bytes[index] = UInt8(index) } }
        #expect(array(written) == [0, 1, 2])
        #expect(array(Secret(count: 0) { _ in }) == [])
    }

    @Test func failuresArePassedOn() {
        let failure = TenonError(.random, message: "")
        #expect(throws: failure) { try Secret(count: 3) { _ throws(TenonError) in throw failure } }
        #expect(throws: failure) { try Secret(count: 3) { _ in }.withBytes { _ throws(TenonError) in throw failure } }
    }

    @Test func areCompared() {
        let secret = Secret(copying: pattern.span)
        #expect(secret == Secret(copying: pattern.span))
        for index in pattern.indices {
            let other = changed(pattern, at: index, to: ~pattern[index])
            #expect(secret != Secret(copying: other.span))
        }
        let longer = pattern + [0]
        #expect(secret != Secret(copying: longer.span))
    }

    @Test func doesNotPrintItself() {
        let secret = Secret(copying: pattern.span)
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped, "\([secret])", "\(Optional(secret) as Any)"] {
            #expect(!text.contains("bytes") && !text.contains("0x") && !text.contains("count"))
        }
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }

    /// Reads the secret's former memory, as a debugger does. Nothing is allocated between the end of the secret and
    /// this read, because an allocation could reuse and overwrite the memory.
    @Test func isWiped() throws {
        let size = 4096
        let memory = open("/proc/self/mem", O_RDONLY)
        try #require(memory >= 0)
        defer { close(memory) }
        var (before, after) = ([UInt8](repeating: 1, count: size), [UInt8](repeating: 1, count: size))
        var address: off_t = 0
        do {
            let secret = Secret(count: size) { bytes in
                for index in bytes.indices { bytes[index] = pattern[index % pattern.count] }
            }
            address = secret.withBytes { off_t(Int(bitPattern: $0.withUnsafeBufferPointer(\.baseAddress))) }
            let count = withExtendedLifetime(secret) { pread(memory, &before, size, address) }
            try #require(count == size)
        }
        let count = pread(memory, &after, size, address)
        #expect(count == size && pieces(in: before) == size / pattern.count)
        #expect(pieces(in: after) == 0)
    }

    /// The number of times that the pattern occurs.
    private func pieces(in bytes: [UInt8]) -> Int {
        stride(from: 0, through: bytes.count - pattern.count, by: pattern.count).count { start in
            bytes[start..<start + pattern.count].elementsEqual(pattern)
        }
    }
}
