// SPDX-License-Identifier: Apache-2.0

/// One operation on an identity. Its caller holds the lock.
///
/// The record in memory may be ahead of the disk, but only by what costs nothing to lose. Each key is written before
/// anybody hears of it, each message before it leaves, and each outcome.
final class Flow {
    let context: FlowContext
    let held: FileLock.Held
    let deadline: ContinuousClock.Instant
    var record: IdentityRecord
    /// Whether this call sent something and got no answer.
    var isOutcomeOpen = false
    /// Whether this call has made a key.
    var hasMadeKey = false
    /// The keys that have signed in this call, by their generations.
    var signers: Set<Int> = []
    /// Whether this call has learnt the service's clock.
    var hasLearntClock = false
    /// Whether this call has sent the service the log again.
    var hasSentLog = false
    /// The identity with an invalid key that this call replaces. It stays on disk until the new identity sends
    /// something.
    var invalid: IdentityRecord?
    /// Whether nothing is written yet: see ``invalid``.
    var isProvisional = false

    /// Reads the record, and mends what a process that died has left.
    ///
    /// - Parameter solves: whether to ask the service which key it holds if only an older record can be read.
    init(_ context: FlowContext, _ held: FileLock.Held, solves: Bool = false) async throws(TenonError) {
        self.context = context
        self.held = held
        deadline = context.clock.now + context.limits.call
        let (declaration, origin) = (context.declaration, context.origin)
        let empty = try IdentityRecord(unknown: context.name, declaration, origin: origin)
        record = empty
        do throws(TenonError) {
            record = try await context.onDisk { store throws(TenonError) in
                try store.open(empty, dialect: declaration.dialect, held)
            }
            context.status.show(IdentityStatus(record))
        } catch  where solves && error.code == .stateUnresolved {
            try await resolveLeftover()
        }
    }

    var profile: any ServiceProfile { context.profile }
    var vault: any KeyVault { context.vault }
    var clock: FlowClock { context.clock }

    var device: ServiceDevice {
        var device = ServiceDevice(appID: context.name.appID, localID: record.deviceLocalID, deviceID: record.deviceID)
        device.isOnlyVersion2 = record.signing?.isOnlyVersion2 ?? false
        return device
    }

    /// Unix seconds on the service's clock.
    var serviceTime: Int64 { record.serviceTime(clock) }

    /// Changes the state in memory only; it need not survive.
    func step(to state: IdentityState, by step: IdentityStep = .edge) throws(TenonError) {
        try record.move(to: state, by: step)
        context.status.show(IdentityStatus(record))
    }

    /// Commits the record, even if the task was cancelled: what is known must not be lost.
    func save() async throws(TenonError) {
        guard !isProvisional else { return }
        let (record, held) = (record, held)
        _ = try await context.onDisk { store throws(TenonError) in try store.change(held) { $0 = record } }
        context.status.show(IdentityStatus(record))
    }

    /// Sends a request once.
    func exchange(_ request: HTTPRequest) async throws(TenonError) -> HTTPResponse {
        guard !Task.isCancelled else { throw isOutcomeOpen ? .cancelledOpen : .cancelled }
        let now = clock.now
        guard now < deadline else { throw .deadline }
        do throws(TenonError) {
            let answer = try await context.transport.exchange(
                request, deadline: min(deadline, now + context.limits.exchange))
            context.log?(.answered(httpStatus: answer.status, after: clock.now - now))
            return answer
        } catch {
            context.log?(.notAnswered(error.code))
            throw error
        }
    }

    func stamp() throws(TenonError) -> RequestStamp {
        RequestStamp(timestamp: String(serviceTime), nonce: try RequestHeaders.makeNonce())
    }

    /// Has the key sign the draft, if it needs a signature.
    func finish(_ draft: ServiceDraft, by key: IdentityKey) async throws(TenonError) -> HTTPRequest {
        switch draft {
        case .ready(let request): return request
        case .unsigned(let message, let finish): return try finish(await signature(for: message, by: key))
        case .unsigned2(let target, let body, let stamp, let finish):
            let device = device
            return try await sign(by: key) { key throws(TenonError) in
                let base = try SignatureBase(
                    target, content: Digest(hashing: body), appID: device.appID, deviceID: device.deviceID ?? "",
                    thumbprint: key.publicKey.thumbprint, created: Int64(stamp.timestamp) ?? 0, form: .plain,
                    nonce: stamp.nonce)
                return try finish(SignatureHeaders(base, base.value(of: await key.signature(for: base))))
            }
        }
    }

    /// A signature of a key of the identity.
    func signature(for message: SignableMessage, by key: IdentityKey) async throws(TenonError) -> Signature {
        try await sign(by: key) { key throws(TenonError) in try await key.signature(for: message) }
    }

    /// Has a key of the identity sign. One that is registered and lost ends the identity.
    private func sign<Value>(
        by key: IdentityKey, _ sign: (any DeviceKey) async throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        let loaded = try await load(key, toSign: true)
        do throws(TenonError) {
            let signed = try await sign(loaded)
            signers.insert(key.generation)
            return signed
        } catch  where error.category == .gone && key.role == .current {
            throw try await invalidated()
        }
    }

    /// Adopts the service's clock if it can be believed, and waits for as long as the service asks: one that was just
    /// restarted refuses what is signed in its first seconds, because it may be a copy of an earlier request.
    func learnClock(_ refusal: ServiceRefusal, _ answer: HTTPResponse) async throws(TenonError) {
        guard let offset = ClockRule.offset(refusal, in: answer, boot: clock.boot) else { throw refusal.error }
        record.clock = offset
        try await save()
        if let pause = refusal.error.retryAfter, pause > .zero {
            guard pause <= ClockRule.longestPause, clock.now + pause < deadline else { throw refusal.error }
            do { try await clock.sleep(until: clock.now + pause, tolerance: nil) } catch { throw .cancelled }
        }
        hasLearntClock = true
    }
}

extension IdentityRecord {
    /// Makes the record of an identity of which nothing is known.
    fileprivate init(unknown name: IdentityName, _ declaration: ServiceDeclaration, origin: String) throws(TenonError) {
        self.init(
            name, origin: origin, dialect: declaration.dialect, platform: declaration.platform,
            alias: declaration.alias, deviceLocalID: try RequestHeaders.makeNonce(), isDev: Build.isDev)
    }

    /// The time on the service's clock, in Unix seconds, as far as this device knows.
    func serviceTime(_ clock: FlowClock) -> Int64 {
        let moment = clock.moment()
        guard let offset = self.clock,
            offset.holds(at: moment.milliseconds, wallLessBoot: moment.wallLessBoot, boot: clock.boot)
        else { return moment.seconds }
        return (moment.milliseconds &+ offset.milliseconds) / 1000
    }
}

extension RecordStore {
    /// Gives the record, after mending what a process that died has left. Writes the first record if the folder has no
    /// record yet, before any key is made.
    func open(
        _ empty: IdentityRecord, dialect: String, _ held: FileLock.Held
    ) throws(TenonError) -> IdentityRecord {
        try finishErasure(held)
        switch read() {
        case .unreadable(let error): throw error
        case .found(let record):
            try record.check(dialect: dialect)
            _ = try recover(held)
            return try change(held) { record throws(TenonError) in try record.take(dialect: dialect) }
        case .absent:
            try create(empty, held)
            return empty
        }
    }
}

extension TenonError {
    static let deadline = TenonError(
        .serviceBusy, message: "This call reached its time limit. The next call continues.")
    static let cancelledOpen = TenonError(
        .outcomeUnknown,
        message: "The task was cancelled after something was sent. Do the same again; nothing was lost.")
}

/// The parts that all flows of an identity use.
struct FlowContext: Sendable {
    let store: RecordStore
    let profile: any ServiceProfile
    /// The profile's declaration, taken once, because each signature uses it.
    let declaration: ServiceDeclaration
    let vault: any KeyVault
    let transport: any Transport
    let clock: FlowClock
    let limits: FlowLimits
    /// Waits for the disk.
    let disk: WorkThread
    let status: StatusBoard
    /// Off by default.
    let log: LogSink?
    let attestationService: DeviceIdentity.AttestationService?

    var name: IdentityName { store.name }
    /// `scheme://host[:port]` of the service.
    let origin: String
    /// The service's host as a request names it.
    var authority: String { String(origin.drop { $0 != "/" }.dropFirst(2)) }

    /// Does work on the thread that may wait for the disk. A cancelled task still writes what it knows.
    func onDisk<Value: Sendable>(
        _ work: @escaping @Sendable (RecordStore) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        let (store, disk) = (store, disk)
        let task = Task { () async -> Result<Value, TenonError> in
            do throws(TenonError) {
                return .success(try await disk.run { () throws(TenonError) in try work(store) })
            } catch {
                return .failure(error)
            }
        }
        return try await task.value.get()
    }
}

/// Timeouts and limits.
package struct FlowLimits: Sendable {
    /// For one call, the pauses between its tries included.
    package var call = Duration.seconds(60)
    /// For one exchange.
    package var exchange = Duration.seconds(30)
    /// For others to release the lock.
    package var lock = Duration.seconds(60)
    package var retry = RetryRule()
    /// For a request to wait until its batch begins.
    package var line = Duration.seconds(2)
    /// Between the first time that a service refused all keys, and the second that is believed
    /// (decision: two-refusals).
    package var secondRefusal = Duration.seconds(3600)
    package var oldestRefusal = Duration.seconds(7 * 86_400)
    /// A younger key is not changed when an application says that it is too old, so that an application cannot cause
    /// rotation after rotation.
    package var youngestExpired = Duration.seconds(3600)
    /// The age at which a key is rotated, if it is not the service's, and how much earlier at most: a device's own
    /// number decides that.
    package var keyAge: Duration?
    package var keyAgeSpread = Duration.seconds(9 * 86_400)

    package init() {}
}
