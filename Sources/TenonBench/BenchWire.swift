// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon
package import TenonTPM

/// A transport to a TPM that counts and names the commands. Several ``TPM`` values may share one: a node that admits one
/// process at a time is enough, and a handle means the same to all of them.
package final class BenchWire: TPMTransport {
    private struct State {
        var count = 0
        var codes: [UInt32]?
        var signing: [UInt8]?
    }

    private let transport: any TPMTransport
    private let state = Mutex(State())
    private let ending = Atomic(false)

    package init(over transport: any TPMTransport) { self.transport = transport }

    /// Always true: a bench has its TPM to itself, and measures a signer whose keys stay loaded.
    package var isManaged: Bool { true }

    package func exchange(_ command: Span<UInt8>) throws -> [UInt8] {
        try state.withLock { state in
            let code = BenchCommandCode.code(of: command)
            if !BenchCommandCode.tidying.contains(code) { try check() }
            state.count += 1
            state.codes?.append(code)
            if BenchCommandCode.isRepeatable(command) { state.signing = (0..<command.count).map { command[$0] } }
            return try transport.exchange(command)
        }
    }

    package func reopen() throws(TenonError) {
        try check()
        try state.withLock { _ throws(TenonError) in try transport.reopen() }
    }

    /// Ends the bench: from now on only commands that clean up are sent.
    func end() { ending.store(true, ordering: .relaxed) }

    var isEnding: Bool { ending.load(ordering: .relaxed) }

    /// - Throws: ``TenonError/Code/cancelled`` once the bench was ended.
    func check() throws(TenonError) {
        if isEnding { throw .cancelled }
    }

    /// The number of commands that were sent so far.
    package var count: Int { state.withLock { $0.count } }

    /// A side whose commands are counted on this transport.
    func side(_ name: String, operations: Int = 1, _ operation: @escaping Rounds.Operation) -> Side {
        Side(name, operations: operations, commands: { self.count }, operation)
    }

    /// Runs an operation, and returns the names of its commands in order.
    package func names(of operation: Rounds.Operation) throws(TenonError) -> [String] {
        note()
        do throws(TenonError) { try operation() } catch {
            _ = noted()
            throw error
        }
        return noted()
    }

    /// Starts to note the names of commands.
    package func note() { state.withLock { $0.codes = [] } }

    /// Ends what ``note()`` started, and returns the names in order.
    package func noted() -> [String] {
        state.withLock { state in
            defer { state.codes = nil }
            return (state.codes ?? []).map(BenchCommandCode.name)
        }
    }

    /// The last TPM2_Sign with a password session. It holds no nonce, so the same bytes sign again.
    package var signing: [UInt8]? { state.withLock { $0.signing } }
}

/// The fields of a command (Part 1, 18.1).
enum BenchCommandCode {
    /// FlushContext, EvictControl, and ReadPublic, which identifies a copy before it is evicted.
    static let tidying: Set<UInt32> = [0x165, 0x120, 0x173]
    private static let sign: UInt32 = 0x15d
    private static let password: UInt32 = 0x4000_0009

    static func name(_ code: UInt32) -> String { TPMCommand.name(code) ?? "other" }

    static func code(of command: Span<UInt8>) -> UInt32 { number(command, at: 6) }

    /// The header (10 bytes) is followed by the key's handle, the size of the session area, and the session's handle.
    static func isRepeatable(_ command: Span<UInt8>) -> Bool {
        code(of: command) == sign && number(command, at: 18) == password
    }

    /// 0 when the bytes end before the number does.
    private static func number(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
        guard bytes.count >= offset + 4 else { return 0 }
        return (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[offset + $1]) }
    }

    /// The response code of an answer; nil when it is too short to have one.
    static func responseCode(of answer: [UInt8]) -> UInt32? {
        answer.count >= 10 ? number(answer.span, at: 6) : nil
    }
}
