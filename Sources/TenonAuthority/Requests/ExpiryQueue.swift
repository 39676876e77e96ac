// SPDX-License-Identifier: Apache-2.0

/// A queue of elements that are all remembered for the same time, so the first one expires first.
struct ExpiryQueue<Element> {
    private var waiting: [(deadline: Int64, element: Element)] = []
    private var first = 0

    var count: Int { waiting.count - first }

    /// The deadlines never go down: they come from a clock that never goes back.
    mutating func append(_ element: Element, until deadline: Int64) { waiting.append((deadline, element)) }

    /// Removes and returns the first element if its time is over and nothing else holds it.
    mutating func popExpired(at now: Int64, unless isHeld: (Element) -> Bool = { _ in false }) -> Element? {
        guard first < waiting.count, waiting[first].deadline <= now, !isHeld(waiting[first].element) else { return nil }
        defer { advance() }
        return waiting[first].element
    }

    /// Moves the rest down when more than half of the places are free, which costs each element one move.
    private mutating func advance() {
        first += 1
        guard first * 2 > waiting.count else { return }
        waiting.removeFirst(first)
        first = 0
    }
}
