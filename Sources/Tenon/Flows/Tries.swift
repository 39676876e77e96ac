// SPDX-License-Identifier: Apache-2.0

/// Counts the tries of a call, and says whether there is another.
struct Tries {
    private let context: FlowContext
    private let deadline: ContinuousClock.Instant
    private var attempt = 0
    private var refusals = 0
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
        guard error.mayBeTriedAgain else {
            throw error.code == .challengeExpired ? first ?? error : error.whileOpen(isOpen)
        }
        let rule = context.limits.retry
        if error.code == .httpConnect { refusals += 1 }
        let count = rule.tries(after: error, attempt, refusals)
        let chance = context.clock.random(upTo: rule.jitter)
        let left = context.clock.now.duration(to: deadline)
        guard let pause = rule.pause(after: attempt, error, refusals: refusals, chance: chance), pause < left else {
            throw last(error, left, isOpen)
        }
        attempt += 1
        context.log?(.waits(pause, after: error.code, attempt: attempt + 1, of: count))
        do {
            try await context.clock.sleep(until: context.clock.now + pause, tolerance: nil)
        } catch {
            throw isOpen ? .cancelledOpen : .cancelled
        }
    }

    /// What is thrown where there is no more try. A service that asks for a longer pause than there is time is obeyed
    /// by giving up, which is said with both times.
    private func last(_ error: TenonError, _ left: Duration, _ isOpen: Bool) -> TenonError {
        var error = error
        if let asked = error.retryAfter, asked >= left {
            let (seconds, bound) = (asked.components.seconds, context.limits.call.components.seconds)
            error = error.saying(
                "\(error.message) It asks for a pause of \(seconds) s, and this call takes \(bound) s at most.")
            return isOpen && error.category != .unknown ? .open(error) : error
        }
        return isOpen && error.category != .unknown ? .open(error) : (first ?? error).whileOpen(isOpen)
    }
}

extension TenonError {
    /// Whether the same is done once more at once, with everything made anew (docs/synheart.md).
    fileprivate func isMendedByRestart(_ flow: Flow) -> Bool {
        switch code {
        case .challengeExpired, .nonceReplay: true
        // What the device's own TPM failed of, or what the service says so of; of what it refuses there is no second
        // try.
        case .attestationFailed:
            httpStatus == nil || serverCode.flatMap { flow.context.declaration.verdicts[$0] } == .attestationFailed
        case .clockSkew: flow.hasLearntClock
        default: false
        }
    }

    /// The last error of a call that sent something before, to which there was no answer.
    fileprivate static func open(_ error: TenonError) -> TenonError {
        var open = TenonError(
            .outcomeUnknown, message: "What came of an earlier try is not known: do the same again. \(error.message)",
            httpStatus: error.httpStatus, serverCode: error.serverCode, retryAfter: error.retryAfter)
        (open.cause, open.isOfAttestationCA, open.isOutcomeOpen) = (error.code, error.isOfAttestationCA, true)
        return open
    }

    fileprivate func whileOpen(_ isOpen: Bool) -> TenonError {
        var error = self
        error.isOutcomeOpen = isOpen
        return error
    }
}
