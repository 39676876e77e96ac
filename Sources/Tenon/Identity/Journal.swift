// SPDX-License-Identifier: Apache-2.0

/// The operation that is under way: what the next process must know if this one ends before the answer comes.
package struct Journal: Equatable, Sendable {
    package enum Operation: String, CaseIterable, Sendable {
        case register, rotate
    }

    package enum Phase: String, CaseIterable, Sendable {
        /// No byte has left.
        case prepared
        /// Bytes may have left.
        case sent
    }

    /// The way to settle a message whose answer was lost.
    package enum Resend: String, CaseIterable, Sendable {
        /// The same bytes once more; never others.
        case identical
        /// A new message with the same key.
        case fresh
    }

    static let longestMessage = 32_768

    package let operation: Operation
    package internal(set) var phase = Phase.prepared
    package let resend: Resend
    /// The place in the service's order that only this message may take, as an event's sequence number.
    package let slot: Int64?
    /// The exact bytes of a message that is sent again unchanged, or the SHA-256 of any other message. On disk before
    /// the first byte leaves.
    package internal(set) var message: [UInt8]
    /// The key that signs; nil for a registration.
    package let oldGeneration: Int?
    /// The key whose public half is in the message.
    package let newGeneration: Int
    /// The key to which the message is bound, by a digest of its public half.
    package let committedGeneration: Int?
    /// The service answered that it has not decided.
    package internal(set) var awaitsApproval = false
    /// The service took the new key, from this second since 1970 on.
    package internal(set) var effectiveAt: Int64?
    /// The same moment on the clock that nobody sets; nil in what version 1 wrote.
    package internal(set) var effectiveFrom: BootMoment?

    package static func register(
        _ generation: Int, committing committed: Int? = nil, message: [UInt8], resend: Resend = .fresh,
        slot: Int64? = nil
    ) -> Journal {
        Journal(
            operation: .register, resend: resend, slot: slot, message: message, oldGeneration: nil,
            newGeneration: generation, committedGeneration: committed)
    }

    package static func rotate(
        from old: Int, to new: Int, committing committed: Int? = nil, message: [UInt8], resend: Resend = .fresh,
        slot: Int64? = nil
    ) -> Journal {
        Journal(
            operation: .rotate, resend: resend, slot: slot, message: message, oldGeneration: old, newGeneration: new,
            committedGeneration: committed)
    }

    /// Whether another message may take the place of this one (decision: one-message).
    var isReplaceable: Bool { resend == .fresh && slot == nil }

    /// Whether the other is a step of the same operation with the same keys.
    func isSameOperation(as other: Journal) -> Bool {
        operation == other.operation && oldGeneration == other.oldGeneration && newGeneration == other.newGeneration
            && committedGeneration == other.committedGeneration && resend == other.resend
    }
}

extension Journal: RecordObject {
    static func coded(_ coder: RecordCoder, _ known: Journal?) throws(TenonError) -> Journal {
        var journal = try Journal(
            operation: coder.member("operation", known?.operation, .choice),
            resend: coder.member("resend", known?.resend, .choice), slot: coder.optional("slot", known?.slot, .number),
            message: coder.member("message", known?.message, .base64),
            oldGeneration: coder.optional("old_generation", known?.oldGeneration, .count),
            newGeneration: coder.member("new_generation", known?.newGeneration, .count),
            committedGeneration: coder.optional("committed_generation", known?.committedGeneration, .count, since: 3))
        journal.phase = try coder.member("phase", known?.phase, .choice)
        journal.awaitsApproval = try coder.member("awaits_approval", known?.awaitsApproval, .flag)
        journal.effectiveAt = try coder.optional("effective_at", known?.effectiveAt, .number)
        journal.effectiveFrom = try coder.optional("effective_from", known?.effectiveFrom, .object, since: 2)
        return journal
    }
}
