// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization

/// Where requests of signature version 2 stand in line for one key.
///
/// A request that finds the key idle is signed alone, at once and in the plain form. Requests that come while the key is
/// busy wait; when it is free, those that wait are the next batch, oldest first. No timer holds anything back, so one
/// request costs one command, and a thousand at one moment cost two (decision: batch-form).
final class RequestLine: Sendable {
    struct Limits: Equatable, Sendable {
        /// The members of a batch. Four times as many may wait.
        var most = RequestBatch.mostMembers
        /// How long a request waits for its batch to begin.
        var patience = Duration.seconds(2)
    }

    let key: any DeviceKey
    let thumbprint: String
    let limits: Limits
    private let process = getpid()
    private let state = Mutex(WaitingRequests())
    private let isCurrent: @Sendable () throws(TenonError) -> Bool
    private let lost: @Sendable () async -> TenonError

    /// - Parameters:
    ///   - isCurrent: whether this key still signs for the device; asked when the turn of a batch has come.
    ///   - lost: records that the key is gone, and gives the error that says so.
    init(
        _ key: any DeviceKey, _ limits: Limits, isCurrent: @escaping @Sendable () throws(TenonError) -> Bool,
        lost: @escaping @Sendable () async -> TenonError
    ) throws(TenonError) {
        thumbprint = try key.publicKey.thumbprint
        (self.key, self.limits, self.isCurrent, self.lost) = (key, limits, isCurrent, lost)
    }

    /// Signs a request, and gives the value of its `Signature`.
    ///
    /// - Parameters:
    ///   - form: the form that the caller insists on; nil leaves it to the line.
    ///   - make: hashes the request in the form that is chosen, on the caller's task.
    /// - Throws: ``TenonError/Code/batchFull``, ``TenonError/Code/deadline``, ``TenonError/Code/cancelled``,
    ///   ``TenonError/Code/keyID`` if the key was changed meanwhile, or what the key says.
    func sign(
        _ form: RequestForm?, _ make: (RequestForm) throws(TenonError) -> SignatureBase
    ) async throws(TenonError) -> (base: SignatureBase, value: String) {
        let hasKey = try takeIdleKey(form)
        guard hasKey || form == .plain else { return try await wait(make(.batch)) }
        do throws(TenonError) {
            let base = try make(.plain)
            let value = base.value(of: try await key.signature(for: base))
            if hasKey { handOn() }
            return (base, value)
        } catch {
            let failure = error.category == .gone ? await lost() : error
            if error.endsLine { tell(state.withLock { $0.takeAll() }, .failure(failure)) }
            if hasKey { handOn() }
            throw failure
        }
    }

    /// Does the same on the caller's thread, which it blocks. The caller records that the key is gone.
    func blockingSign(
        _ form: RequestForm?, _ make: (RequestForm) throws(TenonError) -> SignatureBase
    ) throws(TenonError) -> (base: SignatureBase, value: String) {
        let hasKey = try takeIdleKey(form)
        guard hasKey || form == .plain else { return try blockingWait(make(.batch)) }
        defer { if hasKey { handOn() } }
        let base = try make(.plain)
        return (base, base.value(of: try key.blockingSignature(for: base)))
    }

    /// Signs requests that came together, and gives the value of `Signature` or the error of each. All of them are in the
    /// line before the key begins, so one that is idle signs them with one command.
    ///
    /// - Parameter bases: at least one, each in the batch form.
    func sign(_ bases: [SignatureBase]) async throws(TenonError) -> [Result<String, TenonError>] {
        let hasKey = try takeIdleKey(nil)
        let (outcomes, told) = AsyncStream.makeStream(of: (Int, Result<String, TenonError>).self)
        let tickets = bases.enumerated().map { index, base in
            let ticket = state.withLock { $0.ticket() }
            add(ticket, base) { told.yield((index, $0)) }
            return ticket
        }
        if hasKey { handOn() }
        var results: [Result<String, TenonError>] = Array(repeating: .failure(.cancelled), count: bases.count)
        var missing = bases.count
        for await (index, result) in outcomes {
            results[index] = result
            missing -= 1
            if missing == 0 { return results }
        }
        // The task was cancelled, which ends the stream.
        for ticket in tickets { leave(ticket) }
        return results
    }

    /// How many requests wait, without those whose batch is being signed.
    var waiting: Int { state.withLock { $0.count } }
}

// The line.
extension RequestLine {
    /// A request in the plain form takes the key if it is idle, in the step in which its form is chosen.
    private func takeIdleKey(_ form: RequestForm?) throws(TenonError) -> Bool {
        guard process == getpid() else { throw .forkedLine }
        return state.withLock { state in
            guard !state.isBusy, form != .batch else { return false }
            state.isBusy = true
            return true
        }
    }

    private func wait(_ base: SignatureBase) async throws(TenonError) -> (SignatureBase, String) {
        let ticket = state.withLock { $0.ticket() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(ticket, base) { continuation.resume(returning: $0) }
                // Cancelled before it was added: the handler found nothing.
                if Task.isCancelled { leave(ticket) }
            }
        } onCancel: {
            leave(ticket)
        }
        return (base, try result.get())
    }

    private func blockingWait(_ base: SignatureBase) throws(TenonError) -> (SignatureBase, String) {
        let (ticket, box) = (state.withLock { $0.ticket() }, ResultBox())
        add(ticket, base) { box.set($0) }
        return (base, try box.get())
    }

    private func add(
        _ ticket: UInt64, _ base: SignatureBase, _ told: @escaping @Sendable (Result<String, TenonError>) -> Void
    ) {
        let member = WaitingRequests.Member(base: base, deadline: .now + limits.patience, told: told)
        let added: (begins: Bool, watches: Bool)? = state.withLock { state in
            guard state.count < 4 * limits.most else { return nil }
            state.add(ticket, member)
            defer { (state.isBusy, state.isWatched) = (true, true) }
            return (!state.isBusy, !state.isWatched)
        }
        guard let added else { return told(.failure(.fullLine)) }
        if added.watches { watch() }
        // Not on the caller's task: that may be cancelled, and the batch is not its own.
        if added.begins { Task { await run() } }
    }

    /// Ends the wait of one request. If its batch is being signed, its leaf stays in the tree, and nobody gets its path.
    private func leave(_ ticket: UInt64) {
        state.withLock { $0.leave(ticket) }?.told(.failure(.cancelled))
    }

    private func tell(_ members: [WaitingRequests.Member], _ result: Result<String, TenonError>) {
        for member in members { member.told(result) }
    }

    /// Ends the wait of those whose time is over. The oldest is late first, so one watch serves for all.
    private func watch() {
        Task { [weak self] in
            while let end = self?.state.withLock({ $0.nextDeadline() }) {
                try? await Sleep.until(end)
                self?.expire()
            }
        }
    }

    private func expire() { tell(state.withLock { $0.expire(at: .now) }, .failure(.lateInLine)) }
}

// One command after the other, while somebody waits.
extension RequestLine {
    /// The key is free: it belongs to the next batch, or to nobody.
    private func handOn() {
        if passesOn() { Task { await run() } }
    }

    private func passesOn() -> Bool {
        state.withLock { state in
            state.isBusy = state.count > 0
            return state.isBusy
        }
    }

    private func run() async {
        repeat { await signBatch() } while passesOn()
    }

    private func signBatch() async {
        do throws(TenonError) {
            let signature = try await key.signature(for: RequestBatch { () throws(TenonError) in try self.take() })
            for (index, member) in state.withLock({ $0.endTaken() }).enumerated() {
                member?.told(Result { () throws(TenonError) in try signature.value(at: index) })
            }
        } catch {
            let failure = error.category == .gone ? await lost() : error
            let members = state.withLock { state in
                let taken = state.endTaken()
                // Without members, the key did not get as far as to ask who they are.
                return taken.compactMap(\.self) + (taken.isEmpty || error.endsLine ? state.takeAll() : [])
            }
            tell(members, .failure(failure))
        }
    }

    /// The members of the batch whose turn has come. If another key signs now, all that wait are told so.
    private func take() throws(TenonError) -> [SignatureBase] {
        guard try isCurrent() else {
            tell(state.withLock { $0.takeAll() }, .failure(.changedKey))
            return []
        }
        return state.withLock { $0.take(atMost: limits.most) }
    }
}

/// A result for which a thread waits.
private final class ResultBox: Sendable {
    private let done = Semaphore()
    private let result = Mutex<Result<String, TenonError>?>(nil)

    func set(_ result: Result<String, TenonError>) {
        self.result.withLock { $0 = result }
        done.signal()
    }

    func get() throws(TenonError) -> String {
        done.wait()
        guard let result = result.withLock({ $0 }) else { throw .cancelled }
        return try result.get()
    }
}

extension TenonError {
    /// Whether no other request that waits for the key can be signed either.
    fileprivate var endsLine: Bool { category == .gone || category == .state }

    fileprivate static let changedKey = TenonError(
        .keyID, message: "The key was changed while the request waited for it. Sign the request again.")
    fileprivate static let fullLine = TenonError(
        .batchFull, message: "Too many requests wait for the key. Sign this one again later.")
    fileprivate static let lateInLine = TenonError(
        .deadline, message: "The request waited too long for the key, and was not signed. Sign it again.")
    fileprivate static let forkedLine = TenonError(
        .forked, message: "Another process opened this key. Open it in this process.")
}
