// SPDX-License-Identifier: Apache-2.0

// What changes an identity. One at a time: whoever asks for what is being done gets its result, and others wait.
extension DeviceIdentity {
    private static let gate = OperationGate<Outcome>()

    enum Outcome: Sendable {
        case registered(Registration)
        case rotated(Rotation)
        case purged([String])
        case maintained(Maintenance)
        case done
    }

    /// Registers the device, or finds that it is. A try that failed is gone on with, with the same key.
    ///
    /// - Throws: ``TenonError/Code/registrationPending`` when the service has not decided: ask again later.
    ///   ``TenonError/Code/registrationRejected``, ``TenonError/Code/deviceRevoked``,
    ///   ``TenonError/Code/attestationUnavailable``, ``TenonError/Code/attestationFailed``; an error of the category
    ///   ``TenonError/Category/unknown`` when it was sent and what came of it is not known: register again.
    @discardableResult
    public func register() async throws(TenonError) -> Registration {
        let outcome = try await operate(.register) { flow throws(TenonError) in
            .registered(try await flow.register())
        }
        guard case .registered(let registration) = outcome else { throw .keyGeneration }
        return registration
    }

    /// Gives the device a new key: the old one signs until the service has taken the new one.
    ///
    /// - Throws: ``TenonError/Code/rotationFailed`` when the service refused; an error of the category
    ///   ``TenonError/Category/unknown`` when what came of it is not known, among them
    ///   ``TenonError/Code/rotationOpen`` when it refuses the old key and does not confirm the new one, which signs
    ///   then. The device signs on in each case.
    @discardableResult
    public func rotate() async throws(TenonError) -> Rotation {
        let outcome = try await operate(.rotate) { flow throws(TenonError) in .rotated(try await flow.rotate()) }
        guard case .rotated(let rotation) = outcome else { throw .keyGeneration }
        return rotation
    }

    /// Gives the device a new key at once because somebody else may be able to use the one that it has. A key that was
    /// offered before the report is no answer to it: it is settled, and changed, too.
    ///
    /// The report is written down first. Where the service cannot be reached, ``maintain()`` goes on with it, and
    /// ``rotationDue()`` says that the key is due.
    ///
    /// - Throws: as ``rotate()``. The device goes on signing in either case; the caller decides whether to use it.
    @discardableResult
    public func reportCompromise() async throws(TenonError) -> Rotation {
        let outcome = try await operate(.reportCompromise) { flow throws(TenonError) in
            .rotated(try await flow.reportCompromise())
        }
        guard case .rotated(let rotation) = outcome else { throw .keyGeneration }
        return rotation
    }

    /// Whether the service has a question by which a device learns which key it holds; else only a rotation shows it.
    package var hasQuestion: Bool { context.declaration.settlements.contains(.ask) }

    /// Does what is due: settles a rotation whose outcome is not known, has an attestation key that the service
    /// knows, changes a key that is old, and asks about a key that the service refused. For a timer, once a day or so.
    ///
    /// - Returns: what is open still.
    /// - Throws: why something could not be done.
    @discardableResult
    public func maintain() async throws(TenonError) -> Maintenance {
        let outcome = try await operate(.maintain) { flow throws(TenonError) in
            .maintained(try await flow.maintain())
        }
        guard case .maintained(let maintenance) = outcome else { throw .keyGeneration }
        return maintenance
    }

    /// Forgets the identity: what the service knows of the device is not told to it. Its keys go to the attic.
    ///
    /// Also for a state that cannot be read.
    public func reset() async throws(TenonError) {
        let context = context
        _ = try await turn(.reset) { held throws(TenonError) in
            let status = try await context.onDisk { store throws(TenonError) in try store.reset(held) }
            context.status.show(status)
            return .done
        }
        forgetKey()
    }

    /// The same on the caller's thread, which it blocks; it waits for others at most so long.
    public func reset(waitingAtMost limit: Duration) throws(TenonError) {
        let held = try context.store.lock.acquire(within: limit)
        defer { held.release() }
        context.status.show(try context.store.reset(held))
        forgetKey()
    }

    /// Says what a service answered to a signed request, which may be of use: a clock that is wrong, a rotation that is
    /// not settled, a device that was revoked. Nothing is believed of it: it is the service itself that is asked then.
    /// A 401 that says nothing is a reason to ask where something is open; a success never proves anything.
    public func received(
        status: Int, headers: [(name: String, value: String)], body: [UInt8], for request: SignedRequest
    ) async -> ReceivedAnswer {
        let now = context.clock.moment()
        let answer = HTTPResponse(status: status, headers: headers, body: body, sent: now, received: now)
        let wasOpen = await isOpen()
        guard let verdict = verdict(answer, isOpen: wasOpen) else { return .done }
        var failure: TenonError?
        do throws(TenonError) {
            switch verdict {
            case .nonceReplay: break
            case .keyExpired: try await renew(request.generation)
            default: try await resolve()
            }
        } catch {
            failure = error
        }
        do throws(TenonError) {
            // Also where nothing was settled another key may sign now, and one that was tried may be the one that is
            // held.
            let isHeldNow = wasOpen ? await !isOpen() : false
            let mayHelp = failure == nil && (isHeldNow || verdict != .keyRefused)
            let advice = try await again(request, verdict, mayHelp: mayHelp)
            if case .resend = advice { return advice }
        } catch {
            failure = failure ?? error
        }
        // A key that is too old, and that the service does not change, is of no use to this device.
        let isTooOld = verdict == .keyExpired && failure?.code == .rotationFailed
        guard let failure, failure.isOfDevice || isTooOld else { return .done }
        return .stop(failure)
    }

    /// What an answer is a reason to do something about; nil for none.
    private func verdict(_ answer: HTTPResponse, isOpen: Bool) -> ServiceVerdict? {
        guard let refusal = context.profile.refusal(in: answer) else { return nil }
        if let verdict = refusal.verdict {
            return [.nonceReplay, .clockSkew, .keyRefused, .keyExpired, .revoked].contains(verdict) ? verdict : nil
        }
        return answer.status == 401 && isOpen ? .keyRefused : nil
    }

    /// Whether there is a doubt about which key the service holds.
    private func isOpen() async -> Bool {
        let record = try? await context.disk.run { () throws(TenonError) in try self.record() }
        return record?.reason == .rotationPending || record?.refusedAt != nil
    }

    /// Asks the service whether it still takes what this device signs, and settles what is open: the clock, which key
    /// it holds, whether the device was revoked. For an application that was told that something is wrong; what it was
    /// told, as the time, is not believed (decision: own-endpoints, clock-offset).
    public func resolve() async throws(TenonError) {
        _ = try await operate(.resolve) { flow throws(TenonError) in
            try await flow.resolve()
            return .done
        }
    }

    /// Changes the key that signed, if it still is the one that signs, and is old enough to be too old for anybody.
    private func renew(_ generation: Int) async throws(TenonError) {
        _ = try await operate(.renew) { flow throws(TenonError) in
            let limit = flow.context.limits.youngestExpired.components.seconds
            guard let current = flow.record.key(.current), current.generation == generation,
                let since = flow.record.keyRotatedAt ?? flow.record.registeredAt, flow.serviceTime - since >= limit
            else { return .done }
            return .rotated(try await flow.rotate())
        }
    }

    /// The request once more, where something changed since it was signed.
    private func again(
        _ request: SignedRequest, _ verdict: ServiceVerdict, mayHelp: Bool
    ) async throws(TenonError) -> ReceivedAnswer {
        guard !request.isSecond, let body = request.body else { return .done }
        let second = try await sign(request.method, request.path, body, isSecond: true)
        let needsOther = verdict == .keyExpired
        guard verdict != .revoked, mayHelp && !needsOther || second.generation != request.generation else {
            return .done
        }
        return .resend(second)
    }

    /// - Parameter kind: what two operations share that give one result.
    private func operate(
        _ kind: LogEvent.Operation, _ body: @escaping @Sendable (Flow) async throws(TenonError) -> Outcome
    ) async throws(TenonError) -> Outcome {
        let context = context
        return try await turn(kind) { held throws(TenonError) in
            let flow = try await Flow(context, held, solves: kind == .register)
            // A registration does that in its place.
            if kind != .register { try await flow.takeUpAbandonedKey() }
            return try await body(flow)
        }
    }

    /// Waits for its turn, in this process and among others, and does it.
    func turn(
        _ kind: LogEvent.Operation, _ body: @escaping @Sendable (FileLock.Held) async throws(TenonError) -> Outcome
    ) async throws(TenonError) -> Outcome {
        let log = context.log
        return try await Self.gate.run(kind.rawValue, on: gateName, before: lockDeadline, by: .continuous) {
            () throws(TenonError) in
            let held = try await self.lock()
            defer { held.release() }
            log?(.began(kind))
            do throws(TenonError) {
                let outcome = try await body(held)
                log?(.ended(kind, nil))
                return outcome
            } catch {
                log?(.ended(kind, error.code))
                throw error
            }
        }
    }

    func lock() async throws(TenonError) -> FileLock.Held {
        try await context.store.lock.acquire(before: lockDeadline, on: .continuous, by: context.disk)
    }

    private var gateName: String { context.store.folder.path + "/" + context.name.id }
    private var lockDeadline: ContinuousClock.Instant { .now + context.limits.lock }
}

extension Flow {
    fileprivate func reportCompromise() async throws(TenonError) -> Rotation {
        try requireRegistered()
        record.reportCompromise()
        try await save()
        let rotation = try await rotate()
        // The first one may have settled what was offered before.
        guard record.isCompromised, rotation.effectiveAt == nil else { return rotation }
        return try await rotate()
    }
}

extension TenonError {
    /// Whether it is the device that cannot sign. That the service could not be asked, or did not say, says nothing of
    /// it.
    fileprivate var isOfDevice: Bool {
        !mayBeTriedAgain && ![.serviceAnswer, .serviceRefused, .rotationOpen, .rotationFailed].contains(code)
    }
}

extension RecordStore {
    /// Begins the identity anew: first in the record, then the files, so that no crash brings it back (W14).
    func reset(_ held: FileLock.Held) throws(TenonError) -> IdentityStatus {
        switch read() {
        case .absent: return IdentityStatus(state: .unregistered)
        case .unreadable: try setAside(held)
        case .found:
            let local = try RequestHeaders.makeNonce()
            try change(held) { record throws(TenonError) in try record.reset(deviceLocalID: local) }
            _ = try recover(held)
        }
        return IdentityStatus(state: .unregistered)
    }
}
