// SPDX-License-Identifier: Apache-2.0

/// The requests that wait for a key, and those of the batch that it signs now.
struct WaitingRequests {
    struct Member: Sendable {
        let base: SignatureBase
        let deadline: ContinuousClock.Instant
        var isTaken = false
        /// Called once.
        let told: @Sendable (Result<String, TenonError>) -> Void
    }

    /// Whether somebody has the key: from the moment in which it is found idle until nobody waits.
    var isBusy = false
    /// Whether somebody looks after the deadlines.
    var isWatched = false
    /// Without those that are taken.
    private(set) var count = 0
    private var tickets: UInt64 = 0
    /// Oldest first. Of a request that left, the ticket stays until its turn.
    private var order: ArraySlice<UInt64> = []
    private var taken: [UInt64] = []
    private var members: [UInt64: Member] = [:]

    /// The name by which a request leaves.
    mutating func ticket() -> UInt64 {
        tickets += 1
        return tickets
    }

    mutating func add(_ ticket: UInt64, _ member: Member) {
        members[ticket] = member
        order.append(ticket)
        count += 1
    }

    /// The request, if nobody has told it anything yet.
    mutating func leave(_ ticket: UInt64) -> Member? {
        guard let member = members.removeValue(forKey: ticket) else { return nil }
        if !member.isTaken { count -= 1 }
        return member
    }

    /// The next batch: those that wait longest.
    mutating func take(atMost most: Int) -> [SignatureBase] {
        var bases: [SignatureBase] = []
        while bases.count < most, let ticket = order.popFirst() {
            guard let base = members[ticket]?.base else { continue }
            members[ticket]?.isTaken = true
            taken.append(ticket)
            bases.append(base)
        }
        count -= bases.count
        return bases
    }

    /// The members of the batch in their order, when it is over; nil for one that left meanwhile.
    mutating func endTaken() -> [Member?] {
        defer { taken = [] }
        return taken.map { members.removeValue(forKey: $0) }
    }

    /// All that wait.
    mutating func takeAll() -> [Member] {
        defer { (order, count) = ([], 0) }
        return order.compactMap { members.removeValue(forKey: $0) }
    }

    /// Those whose time is over.
    mutating func expire(at now: ContinuousClock.Instant) -> [Member] {
        var late: [Member] = []
        while let ticket = order.first, members[ticket].map({ $0.deadline <= now }) ?? true {
            order.removeFirst()
            if let member = members.removeValue(forKey: ticket) { late.append(member) }
        }
        count -= late.count
        return late
    }

    /// When the next one is late; nil, and nobody watches any more, if nobody waits.
    mutating func nextDeadline() -> ContinuousClock.Instant? {
        for ticket in order {
            if let member = members[ticket] { return member.deadline }
        }
        isWatched = false
        return nil
    }
}
