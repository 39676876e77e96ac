// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
internal import Tenon

extension TPM {
    /// One command that was sent to a TPM: what it cost and what it was answered, and none of its contents.
    public struct Trace: Hashable, Sendable {
        /// The name in the specification, as `CreatePrimary`; the number of another one.
        public let command: String
        /// What the command's handles are, in their order.
        public let handles: [HandleKind]
        /// From sending it to having its answer.
        public let duration: Duration
        /// The response code, 0 for success; nil when no answer came.
        public let responseCode: UInt32?
    }

    /// What a handle belongs to (Part 2, 7.2).
    public enum HandleKind: String, Hashable, Sendable {
        /// An index in the TPM's memory.
        case nv
        /// A session.
        case session
        /// A hierarchy, or another thing that every TPM has.
        case permanent
        /// A loaded object.
        case transient
        /// An object that survives a reset.
        case persistent
        /// Something else.
        case other
    }
}

extension TPM.HandleKind {
    init(_ handle: UInt32) {
        switch handle >> 24 {
        case 0x01: self = .nv
        case 0x02, 0x03: self = .session
        case 0x40: self = .permanent
        case 0x80: self = .transient
        case 0x81: self = .persistent
        default: self = .other
        }
    }
}

/// The commands that are sent, and how many handles follow the header (Part 3).
package enum TPMCommand {
    private static let known: [UInt32: (name: String, handles: Int)] = [
        0x120: ("EvictControl", 2), 0x131: ("CreatePrimary", 1), 0x144: ("Startup", 0),
        0x147: ("ActivateCredential", 2), 0x148: ("Certify", 2), 0x14a: ("CertifyCreation", 2), 0x14e: ("NV_Read", 2),
        0x151: ("PolicySecret", 2), 0x153: ("Create", 1), 0x157: ("Load", 1), 0x158: ("Quote", 1),
        0x15d: ("Sign", 1), 0x161: ("ContextLoad", 0), 0x162: ("ContextSave", 1), 0x165: ("FlushContext", 1),
        0x169: ("NV_ReadPublic", 1), 0x171: ("PolicyOR", 1), 0x173: ("ReadPublic", 1), 0x176: ("StartAuthSession", 2),
        0x17a: ("GetCapability", 0), 0x17b: ("GetRandom", 0),
    ]

    /// The name in the specification; nil for a command that is not known.
    package static func name(_ code: UInt32) -> String? { known[code]?.name }

    static func handles(_ code: UInt32) -> Int { known[code]?.handles ?? 0 }
}

/// A transport that tells of each command after it was answered.
final class TracedTransport: TPMTransport {
    private let transport: any TPMTransport
    private let sink: @Sendable (TPM.Trace) -> Void

    init(_ transport: any TPMTransport, _ sink: @escaping @Sendable (TPM.Trace) -> Void) {
        (self.transport, self.sink) = (transport, sink)
    }

    var isManaged: Bool { transport.isManaged }

    func exchange(_ command: Span<UInt8>) throws -> [UInt8] {
        let (clock, code) = (ContinuousClock(), Self.number(command, at: 6))
        let handles = (0..<TPMCommand.handles(code ?? 0)).compactMap { Self.number(command, at: 10 + 4 * $0) }
        let began = clock.now
        let answer = Result { try transport.exchange(command) }
        sink(
            TPM.Trace(
                command: code.flatMap(TPMCommand.name) ?? "0x" + String(code ?? 0, radix: 16),
                handles: handles.map(TPM.HandleKind.init), duration: clock.now - began,
                responseCode: (try? answer.get()).flatMap { Self.number($0.span, at: 6) }))
        return try answer.get()
    }

    func reopen() throws(TenonError) { try transport.reopen() }

    /// nil when the bytes end before the number does.
    private static func number(_ bytes: Span<UInt8>, at offset: Int) -> UInt32? {
        guard bytes.count >= offset + 4 else { return nil }
        return (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[offset + $1]) }
    }
}
