// SPDX-License-Identifier: Apache-2.0

/// Counts the tries of a call, and says whether there is another.
struct Tries {
    private let context: FlowContext
    private let deadline: ContinuousClock.Instant
    private var attempt = 0
    private var first: TenonError?
    private var restarted: Set<TenonError.Code> = []

    init(_ flow: Flow) {
        context = flow.context
        deadline = flow.deadline
    }

    /// Returns when the next try is due.
    ///
    /// - Throws: when there is none: what went wrong first, as what follows often is its consequence (W5).
    mutating func pause(after error: TenonError, _ flow: Flow) async throws(TenonError) {
        let isOpen = flow.isOutcomeOpen
        if first == nil { first = error }
        if error.isMendedByRestart(flow), restarted.insert(error.code).inserted { return }
        guard error.mayBeTriedAgain else { throw error.code == .challengeExpired ? first ?? error : error }
        let rule = context.limits.retry
        let chance = context.clock.random(upTo: rule.jitter)
        guard let pause = rule.pause(after: attempt, asked: error.retryAfter, chance: chance),
            context.clock.now + pause < deadline
        else { throw isOpen && error.category != .unknown ? .open(error) : first ?? error }
        attempt += 1
        context.log?(.waits(pause))
        do {
            try await context.clock.sleep(until: context.clock.now + pause, tolerance: nil)
        } catch {
            throw isOpen ? .cancelledOpen : .cancelled
        }
    }
}

extension TenonError {
    /// Whether the same is done once more at once, with everything made anew (synheart.md 1.11).
    fileprivate func isMendedByRestart(_ flow: Flow) -> Bool {
        switch code {
        case .challengeExpired, .nonceReplay: true
        // What the device's own TPM failed of, or what the service says so of; of what it refuses there is no second try.
        case .attestationFailed:
            httpStatus == nil || serverCode.flatMap { flow.context.declaration.verdicts[$0] } == .attestationFailed
        case .clockSkew: flow.hasLearntClock
        default: false
        }
    }

    /// The last error of a call that sent something before, to which there was no answer.
    fileprivate static func open(_ error: TenonError) -> TenonError {
        TenonError(
            .outcomeUnknown, message: "What came of an earlier try is not known: do the same again. \(error.message)",
            httpStatus: error.httpStatus, serverCode: error.serverCode, retryAfter: error.retryAfter)
    }
}
