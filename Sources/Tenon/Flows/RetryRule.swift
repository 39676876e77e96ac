// SPDX-License-Identifier: Apache-2.0

/// When something is tried again (decision: retries): 1 s doubled each time and up to 0.5 s of chance, 30 s at most, 5
/// tries.
package struct RetryRule: Sendable {
    package var tries = 5
    package var first = Duration.seconds(1)
    package var jitter = Duration.milliseconds(500)
    package var longest = Duration.seconds(30)
    /// Where nobody listens: a port that is wrong stays wrong.
    package var triesToConnect = 3

    package init() {}

    /// How long to wait after the try of this number, from zero on; nil when it was the last.
    ///
    /// - Parameters:
    ///   - error: what the try failed of.
    ///   - refusals: how many tries found nobody, this one included.
    ///   - chance: from zero to ``jitter``.
    func pause(after attempt: Int, _ error: TenonError, refusals: Int, chance: Duration) -> Duration? {
        guard attempt + 1 < tries(after: error, attempt, refusals) else { return nil }
        let doubled = attempt < 16 ? first * (1 << attempt) : longest
        return max(min(doubled + chance, longest), error.retryAfter ?? .zero)
    }

    func tries(after error: TenonError, _ attempt: Int, _ refusals: Int) -> Int {
        error.code == .httpConnect ? min(tries, attempt + 1 + triesToConnect - refusals) : tries
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
