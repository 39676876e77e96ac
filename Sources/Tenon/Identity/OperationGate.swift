// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Lets one operation at a time work on an identity, within the process. Whoever asks for the operation that runs, or
/// for one that waits already, gets what that one gives (W13); whoever asks for another waits for its turn.
///
/// An operation runs in a task of its own, so it goes on when the caller that began it is cancelled and others wait for
/// it. It is cancelled with the last of them, who is then told what came of it: that may well have been sent.
package final class OperationGate<Outcome: Sendable>: Sendable {
    package typealias Operation = @Sendable () async throws(TenonError) -> Outcome
    private typealias Answer = Result<Outcome, TenonError>
    private typealias Continuation = CheckedContinuation<Answer, Never>

    private struct Flight {
        let kind: String
        let operation: Operation
        /// The caller that brought the operation.
        let first: UInt64
        var waiting: [UInt64: Continuation]
        var task: Task<Void, Never>?
        var isCancelled = false

        mutating func cancel() {
            isCancelled = true
            task?.cancel()
        }
    }

    private struct State {
        /// By identity, the one that runs first.
        var flights: [String: [Flight]] = [:]
        var numbers: UInt64 = 0
        /// Callers that were cancelled before they came in.
        var gone: Set<UInt64> = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs the operation, or waits for the same one.
    ///
    /// - Parameters:
    ///   - kind: what makes two operations the same.
    ///   - deadline: until when to wait for what others do. What runs for this caller has deadlines of its own.
    /// - Throws: what the operation throws, ``TenonError/Code/stateBusy`` after the deadline, or
    ///   ``TenonError/Code/cancelled`` for a caller that was cancelled while the operation is not, or was not begun.
    package func run<C: Clock>(
        _ kind: String, on identity: String, before deadline: C.Instant, by clock: C, _ operation: @escaping Operation
    ) async throws(TenonError) -> Outcome where C.Duration == Duration {
        let caller = number()
        var timer: Task<Void, Never>?
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                join(identity, kind, caller, continuation, operation)
                timer = Task {
                    do { try await clock.sleep(until: deadline, tolerance: nil) } catch { return }
                    self.leave(identity, caller, because: .late)
                }
            }
        } onCancel: {
            leave(identity, caller, because: .cancelled)
        }
        timer?.cancel()
        state.withLock { _ = $0.gone.remove(caller) }
        return try answer.get()
    }

    private func number() -> UInt64 {
        state.withLock { state in
            state.numbers += 1
            return state.numbers
        }
    }

    private func join(
        _ identity: String, _ kind: String, _ caller: UInt64, _ continuation: Continuation,
        _ operation: @escaping Operation
    ) {
        let isGone = state.withLock { state in
            if state.gone.remove(caller) != nil { return true }
            let flights = state.flights[identity, default: []]
            // An operation that was cancelled is no answer for somebody who was not.
            if let index = flights.firstIndex(where: { $0.kind == kind && !$0.isCancelled }) {
                state.flights[identity, default: []][index].waiting[caller] = continuation
                return false
            }
            state.flights[identity, default: []].append(
                Flight(kind: kind, operation: operation, first: caller, waiting: [caller: continuation]))
            if flights.isEmpty { start(identity, &state) }
            return false
        }
        if isGone { continuation.resume(returning: .failure(Reason.cancelled.error)) }
    }

    private func start(_ identity: String, _ state: inout State) {
        guard let flight = state.flights[identity]?.first else {
            state.flights[identity] = nil
            return
        }
        state.flights[identity]?[0].task = Task {
            let answer: Answer
            do throws(TenonError) {
                answer = .success(try await flight.operation())
            } catch {
                answer = .failure(error)
            }
            self.finish(identity, answer)
        }
    }

    private func finish(_ identity: String, _ answer: Answer) {
        let waiting = state.withLock { state in
            let flight = state.flights[identity]?.removeFirst()
            start(identity, &state)
            return flight?.waiting ?? [:]
        }
        for continuation in waiting.values { continuation.resume(returning: answer) }
    }

    private enum Reason {
        case late, cancelled

        var error: TenonError {
            switch self {
            case .late:
                TenonError(.stateBusy, message: "Another operation works on this identity: try again later.")
            case .cancelled:
                TenonError(.cancelled, message: "The task was cancelled while it waited for an operation of others.")
            }
        }
    }

    private func leave(_ identity: String, _ caller: UInt64, because reason: Reason) {
        let continuation: Continuation? = state.withLock { state in
            var flights = state.flights[identity, default: []]
            guard let index = flights.firstIndex(where: { $0.waiting[caller] != nil }) else {
                if reason == .cancelled { state.gone.insert(caller) }
                return nil
            }
            defer { state.flights[identity] = flights }
            let isLast = flights[index].waiting.count == 1
            if index > 0 {
                return isLast
                    ? flights.remove(at: index).waiting[caller] : flights[index].waiting.removeValue(forKey: caller)
            }
            if reason == .late, flights[0].first == caller { return nil }
            if isLast { flights[0].cancel() }
            if isLast, reason == .cancelled { return nil }
            return flights[0].waiting.removeValue(forKey: caller)
        }
        continuation?.resume(returning: .failure(reason.error))
    }
}
