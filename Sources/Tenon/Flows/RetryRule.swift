// SPDX-License-Identifier: Apache-2.0

/// When something is tried again (DESIGN §5): 1 s doubled each time and up to 0.5 s of chance, 30 s at most, 5 tries.
package struct RetryRule: Sendable {
    package var tries = 5
    package var first = Duration.seconds(1)
    package var jitter = Duration.milliseconds(500)
    package var longest = Duration.seconds(30)
    /// A service that wants a longer pause is obeyed by giving up.
    package var longestAsked = Duration.seconds(300)

    package init() {}

    /// How long to wait after the try of this number, from zero on; nil when it was the last.
    ///
    /// - Parameter chance: from zero to ``jitter``.
    package func pause(after attempt: Int, asked: Duration?, chance: Duration) -> Duration? {
        guard attempt + 1 < tries else { return nil }
        if let asked, asked > longestAsked { return nil }
        let doubled = attempt < 16 ? first * (1 << attempt) : longest
        return max(min(doubled + chance, longest), asked ?? .zero)
    }
}

extension TenonError {
    /// Whether another try may do better: nobody was there, the answer was lost, or the service could not just now.
    var mayBeTriedAgain: Bool {
        switch code {
        // Each has a rule of its own.
        case .challengeExpired, .serviceAnswer, .rotationOpen: false
        default: category == .transient || category == .unknown
        }
    }

    var category: Category { code.category }
}
