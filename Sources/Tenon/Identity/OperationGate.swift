// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Lets one operation at a time work on an identity, within the process. A caller of the operation that runs, or
/// of one that already waits, gets its result (W13); a caller of another operation waits for its turn.
///
/// An operation runs in a task of its own, so it goes on when the caller that began it is cancelled and others wait for
/// it. It is cancelled when its last caller is cancelled. That caller still gets the outcome, because the message may
/// have been sent.
package final class OperationGate: Sendable {
    private struct Entry {
        let operation: any Waited
        /// The caller that brought the operation.
        let first: UInt64
        var task: Task<Void, Never>?
        var isCancelled = false

        mutating func cancel() {
            isCancelled = true
            task?.cancel()
        }
    }

    private struct State {
        /// By identity, the one that runs first.
        var entries: [String: [Entry]] = [:]
        var numbers: UInt64 = 0
        /// Callers that were cancelled before they came in.
        var gone: Set<UInt64> = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs the operation, or waits for the same one.
    ///
    /// - Parameters:
    ///   - kind: what makes two operations the same, with the type of what they give.
    ///   - deadline: until when to wait for what others do. What runs for this caller has deadlines of its own.
    /// - Throws: what the operation throws, ``TenonError/Code/stateBusy`` after the deadline, or
    ///   ``TenonError/Code/cancelled`` for a caller that was cancelled while the operation is not, or was not begun.
    package func run<C: Clock, Value: Sendable>(
        _ kind: String, on identity: String, before deadline: C.Instant, by clock: C,
        _ operation: @escaping @Sendable () async throws(TenonError) -> Value
    ) async throws(TenonError) -> Value where C.Duration == Duration {
        let caller = number()
        var timer: Task<Void, Never>?
        let answer: Result<Value, TenonError> = await withTaskCancellationHandler {
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

    private func join<Value: Sendable>(
        _ identity: String, _ kind: String, _ caller: UInt64,
        _ continuation: CheckedContinuation<Result<Value, TenonError>, Never>,
        _ operation: @escaping @Sendable () async throws(TenonError) -> Value
    ) {
        let isGone = state.withLock { state in
            if state.gone.remove(caller) != nil { return true }
            let entries = state.entries[identity, default: []]
            // A cancelled operation is not an answer for a caller that was not cancelled.
            let same = entries.lazy.filter { $0.operation.kind == kind && !$0.isCancelled }
                .compactMap { $0.operation as? WaitedOperation<Value> }.first
            if let same {
                same.add(caller, continuation)
                return false
            }
            let new = WaitedOperation(kind, operation)
            new.add(caller, continuation)
            state.entries[identity, default: []].append(Entry(operation: new, first: caller))
            if entries.isEmpty { start(identity, &state) }
            return false
        }
        if isGone { continuation.resume(returning: .failure(Reason.cancelled.error)) }
    }

    private func start(_ identity: String, _ state: inout State) {
        guard let entry = state.entries[identity]?.first else {
            state.entries[identity] = nil
            return
        }
        state.entries[identity]?[0].task = Task {
            let tell = await entry.operation.run()
            self.goOn(identity)
            tell()
        }
    }

    /// The first one is done.
    private func goOn(_ identity: String) {
        state.withLock { state in
            _ = state.entries[identity]?.removeFirst()
            start(identity, &state)
        }
    }

    private enum Reason {
        case late, cancelled

        var error: TenonError {
            switch self {
            case .late:
                TenonError(.stateBusy, message: "Another operation is working on this identity. Try again later.")
            case .cancelled:
                TenonError(.cancelled, message: "The task was cancelled while it waited for another operation.")
            }
        }
    }

    private func leave(_ identity: String, _ caller: UInt64, because reason: Reason) {
        let tell: (@Sendable (TenonError) -> Void)? = state.withLock { state in
            var entries = state.entries[identity, default: []]
            guard let index = entries.firstIndex(where: { $0.operation.isWaitedFor(by: caller) }) else {
                if reason == .cancelled { state.gone.insert(caller) }
                return nil
            }
            defer { state.entries[identity] = entries }
            let operation = entries[index].operation
            let isLast = operation.callers == 1
            if index > 0 {
                if isLast { entries.remove(at: index) }
                return operation.remove(caller)
            }
            if reason == .late, entries[0].first == caller { return nil }
            if isLast { entries[0].cancel() }
            if isLast, reason == .cancelled { return nil }
            return operation.remove(caller)
        }
        tell?(reason.error)
    }
}

/// An operation and those who wait for what it gives, whatever that is.
private protocol Waited: AnyObject, Sendable {
    var kind: String { get }
    var callers: Int { get }
    func isWaitedFor(by caller: UInt64) -> Bool
    /// Lets a caller go; what is given back tells it why.
    func remove(_ caller: UInt64) -> (@Sendable (TenonError) -> Void)?
    /// Does it; what is given back tells all who wait.
    func run() async -> @Sendable () -> Void
}

private final class WaitedOperation<Value: Sendable>: Waited {
    private typealias Continuation = CheckedContinuation<Result<Value, TenonError>, Never>

    let kind: String
    private let operation: @Sendable () async throws(TenonError) -> Value
    private let waiting = Mutex<[UInt64: Continuation]>([:])

    init(_ kind: String, _ operation: @escaping @Sendable () async throws(TenonError) -> Value) {
        (self.kind, self.operation) = (kind, operation)
    }

    var callers: Int { waiting.withLock { $0.count } }

    func isWaitedFor(by caller: UInt64) -> Bool { waiting.withLock { $0[caller] != nil } }

    func add(_ caller: UInt64, _ continuation: CheckedContinuation<Result<Value, TenonError>, Never>) {
        waiting.withLock { $0[caller] = continuation }
    }

    func remove(_ caller: UInt64) -> (@Sendable (TenonError) -> Void)? {
        guard let continuation = waiting.withLock({ $0.removeValue(forKey: caller) }) else { return nil }
        return { continuation.resume(returning: .failure($0)) }
    }

    func run() async -> @Sendable () -> Void {
        let answer: Result<Value, TenonError>
        do throws(TenonError) {
            answer = .success(try await operation())
        } catch {
            answer = .failure(error)
        }
        return {
            let waiting = self.waiting.withLock { waiting in
                defer { waiting = [:] }
                return waiting
            }
            for continuation in waiting.values { continuation.resume(returning: answer) }
        }
    }
}
