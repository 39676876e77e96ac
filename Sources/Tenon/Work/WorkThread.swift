// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The thread that waits for a TPM or a network, so that no thread of Swift's cooperative pool does. It starts with the
/// first work and ends with this value, when what was asked for is done.
package final class WorkThread: Sendable {
    package let queue = WorkQueue()
    private let process = getpid()

    package init() {}

    /// Whether this is the process that made it: a fork's child has the queue and no thread.
    package var isOurs: Bool { process == getpid() }

    deinit {
        if isOurs { queue.end() }
    }

    /// Does work on the thread, which may take long. Work whose task is cancelled before its turn is not done.
    ///
    /// - Throws: what the work throws, or ``TenonError/Code/cancelled``.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        guard isOurs else { return try work() }
        let ticket = queue.ticket()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                submit(work, ticket) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            queue.cancel(ticket)
        }
        return try result.get()
    }

    private func submit<Value: Sendable>(
        _ work: @escaping @Sendable () throws(TenonError) -> Value, _ ticket: UInt64,
        _ finish: @escaping @Sendable (Result<Value, TenonError>) -> Void
    ) {
        guard !Task.isCancelled else { return finish(.failure(.cancelled)) }
        do throws(TenonError) {
            try queue.add(ticket) { isCancelled in
                finish(isCancelled ? .failure(.cancelled) : Result(catching: work))
            }
            // Cancelled since it was looked at: the handler found nothing in the queue.
            if Task.isCancelled { queue.cancel(ticket) }
        } catch {
            finish(.failure(error))
        }
    }

    /// Lets go of what blocks when it is freed: on the thread when there is one, else here, as then the
    /// program blocks anyway.
    package func release<Resource: AnyObject & Sendable>(_ resource: Unmanaged<Resource>) {
        guard isOurs, queue.isRunning else { return resource.release() }
        do throws(TenonError) {
            try queue.add(queue.ticket()) { _ in resource.release() }
        } catch {
            resource.release()
        }
    }
}

/// Holds what blocks when it is freed, so that a task that drops the last of it does not wait.
package final class Lease<Resource: AnyObject & Sendable>: Sendable {
    private let resource: Unmanaged<Resource>
    private let thread: WorkThread

    package init(_ resource: Resource, on thread: WorkThread) {
        self.resource = .passRetained(resource)
        self.thread = thread
    }

    deinit { thread.release(resource) }

    /// For use while the lease is held.
    package var value: Resource { resource.takeUnretainedValue() }
}

extension TenonError.Code {
    /// The task was cancelled before anything was sent. Nothing was lost.
    public static let cancelled = Self(0x0a40_0001, "TENON_ERROR_CANCELLED")
}

extension TenonError {
    package static let cancelled = TenonError(
        .cancelled, message: "The task was cancelled before anything was sent. Nothing was lost.")
}
