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

    /// The error after the last try. A service that asks for a longer pause than there is time is obeyed by giving up;
    /// the error gives both times.
    private func last(_ error: TenonError, _ left: Duration, _ isOpen: Bool) -> TenonError {
        var error = error
        if let asked = error.retryAfter, asked >= left {
            let (seconds, bound) = (asked.components.seconds, context.limits.call.components.seconds)
            error = error.saying(
                "\(error.message) It asks for a pause of \(seconds) s, but this call may take \(bound) s at most.")
            return isOpen && error.category != .unknown ? .open(error) : error
        }
        return isOpen && error.category != .unknown ? .open(error) : (first ?? error).whileOpen(isOpen)
    }
}

// How the messages are tried and sent that may change which key the service holds.
extension Flow {
    /// Tries until there is an answer that counts, or no try is left.
    ///
    /// - Parameters:
    ///   - endTry: called when a try has failed.
    ///   - endAll: called when it was the last one.
    func retrying<Value>(
        _ attempt: () async throws(TenonError) -> Value, endTry: () throws(TenonError) -> Void,
        endAll: () async -> Void = {}
    ) async throws(TenonError) -> Value {
        var tries = Tries(self)
        while true {
            do throws(TenonError) {
                return try await attempt()
            } catch {
                try endTry()
                do throws(TenonError) {
                    try await tries.pause(after: error, self)
                } catch {
                    await endAll()
                    // A crash here would leave the same state, so nothing is lost if this cannot be written.
                    try? await save()
                    throw error
                }
            }
        }
    }

    /// Sends the message of the journal. The journal says `sent` on disk before the first byte leaves.
    ///
    /// - Returns: the answer, and whether an earlier message was already under way.
    func send(_ request: HTTPRequest) async throws(TenonError) -> (answer: HTTPResponse, wasOpen: Bool) {
        try record.move(to: .registering)
        try record.markSent()
        isProvisional = false
        try await save()
        let wasOpen = isOutcomeOpen
        isOutcomeOpen = true
        do throws(TenonError) {
            return (try await exchange(request), wasOpen)
        } catch {
            if error.category != .unknown { isOutcomeOpen = wasOpen }
            throw error
        }
    }
}

extension TenonError {
    /// Whether to do the same once more at once, with everything made again.
    fileprivate func isMendedByRestart(_ flow: Flow) -> Bool {
        switch code {
        case .challengeExpired, .nonceReplay: true
        // The device's own TPM failed, or the service says that it did. An attestation that the service refuses is not
        // tried again.
        case .attestationFailed:
            httpStatus == nil || serverCode.flatMap { flow.context.declaration.verdicts[$0] } == .attestationFailed
        case .clockSkew: flow.hasLearntClock
        // The service had lost the messages before this one, and has them again.
        case .serviceRefused: flow.hasSentLog
        default: false
        }
    }

    /// The last error of a call that sent something before, to which there was no answer.
    fileprivate static func open(_ error: TenonError) -> TenonError {
        var open = TenonError(
            .outcomeUnknown, message: "The outcome of an earlier try is unknown. Do the same again. \(error.message)",
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

/// When something is tried again (decision: retries): 1 s doubled each time and up to 0.5 s of chance, 30 s at most, 5
/// tries.
package struct RetryRule: Sendable {
    package var tries = 5
    package var first = Duration.seconds(1)
    package var jitter = Duration.milliseconds(500)
    package var longest = Duration.seconds(30)
    /// Tries when nobody listens: a wrong port stays wrong.
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
