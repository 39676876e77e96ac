// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// The identity of this device at a service: one for each service and application.
///
/// ```swift
/// let identity = try DeviceIdentity(appID: "app_1", service: service, keys: .tpm(), transport: transport)
/// try await identity.register()
/// let signed = try await identity.sign("POST", path: "/v1/hsi", body: body)
/// ```
///
/// An identity is never lost because an answer was lost or the process died: the same call, made again, continues where
/// the last one stopped. Any number of threads and processes may have a value for one identity; they take turns.
public final class DeviceIdentity: Sendable {
    let context: FlowContext
    private let loaded = Mutex<(facts: KeyFacts, key: any DeviceKey)?>(nil)
    private let line = Mutex<RequestLine?>(nil)
    let hosts = Mutex(HostTerms())

    /// - Parameters:
    ///   - appID: the service's id of the application: 1 to 200 characters 0x21-0x7E.
    ///   - keys: where the keys live, for example in a TPM.
    ///   - transport: sends the requests to the service.
    ///   - attestationService: for a service that requires a certificate of an attestation CA.
    ///   - stateDirectory: the state folder. It is created with mode 0700 if it does not exist.
    ///   - log: receives what happens, and never anything secret.
    /// - Throws: ``TenonError/Code/appID``, ``TenonError/Code/httpURL``, or an error of the folder.
    public convenience init(
        appID: String, service: Service, keys: Keys, transport: any Transport,
        attestationService: AttestationService? = nil, stateDirectory: String, log: LogSink? = nil
    ) throws(TenonError) {
        try self.init(
            appID: appID, profile: service.profile, vault: keys.vault, transport: transport,
            attestationService: attestationService, folder: StateFolder(at: stateDirectory), log: log)
    }

    package init(
        appID: String, profile: any ServiceProfile, vault: any KeyVault, transport: any Transport,
        attestationService: AttestationService? = nil, folder: StateFolder,
        clock: FlowClock = .system, limits: FlowLimits = FlowLimits(), log: LogSink? = nil
    ) throws(TenonError) {
        let declaration = profile.declaration
        let name = try IdentityName(profile: declaration.profile, baseURL: declaration.baseURL, appID: appID)
        let url = try HTTPURL(parsing: name.baseURL)
        guard url.isSecure || url.isLoopback, !Build.isDev || url.isLoopback else { throw .insecure }
        context = FlowContext(
            store: RecordStore(name, in: folder), profile: profile, declaration: declaration,
            vault: try vault.signing(declaration.signatures), transport: transport, clock: clock, limits: limits,
            disk: WorkThread(), status: StatusBoard(log), log: log,
            attestationService: attestationService, origin: url.origin)
    }

    /// The id of the application.
    public var appID: String { context.name.appID }

    /// The status of the identity, from one read of its record.
    ///
    /// - Throws: an error of the record. An unreadable record never counts as an identity that is not registered.
    public func status() throws(TenonError) -> IdentityStatus {
        guard let record = try record() else { return IdentityStatus(state: .unregistered) }
        return IdentityStatus(record)
    }

    /// Each new status of the identity: after what this value does, or finds that others did.
    public var states: AsyncStream<IdentityStatus> { context.status.listen() }

    /// Whether the device may sign; also false when the state cannot be read.
    public var isRegistered: Bool { (try? status())?.isRegistered ?? false }

    /// The service's id of the device; also nil when the state cannot be read.
    public var deviceID: String? { (try? status())?.deviceID }

    /// When the key should be changed, in Unix seconds; nil before the device is registered. ``maintain()`` changes it.
    public func rotationDue() throws(TenonError) -> Int64? {
        try record()?.rotationDue(context.declaration.keyAge, context.limits)
    }

    func record() throws(TenonError) -> IdentityRecord? {
        switch context.store.read() {
        case .found(let record):
            try record.check(dialect: context.declaration.dialect)
            return record
        case .absent: return nil
        case .unreadable(let error): throw error
        }
    }

    /// The key that signs now, and its name.
    func signing() throws(TenonError) -> SigningFacts {
        guard let record = try record() else { throw .notRegistered }
        let time = record.serviceTime(context.clock)
        let key = try record.activeKey(at: context.clock.bootMoment)
        guard let deviceID = record.deviceID else { throw .notRegistered }
        let announced = context.declaration.signatureVersions.contains(2) ? record.signing : nil
        let terms = hosts.withLock { $0.added(to: announced, at: context.clock.now) }
        return SigningFacts(deviceID: deviceID, key: key, time: time, terms: terms)
    }

    func kept(_ facts: KeyFacts) -> (any DeviceKey)? {
        loaded.withLock { $0?.facts.digest == facts.digest ? $0?.key : nil }
    }

    func keep(_ key: any DeviceKey, _ facts: KeyFacts) { loaded.withLock { $0 = (facts, key) } }

    func forgetKey() {
        loaded.withLock { $0 = nil }
        line.withLock { $0 = nil }
    }

    /// Returns the line for this key, and makes one if the key has no line with these limits.
    func keptLine(
        _ key: any DeviceKey, _ limits: RequestLine.Limits, _ make: () throws(TenonError) -> RequestLine
    ) throws(TenonError) -> RequestLine {
        try line.withLock { kept throws(TenonError) in
            if let kept, kept.key.publicKey == key.publicKey, kept.limits == limits { return kept }
            let line = try make()
            kept = line
            return line
        }
    }

    /// The most requests that the service takes under one signature.
    package func mostInBatch() throws(TenonError) -> Int {
        try record()?.signing?.mostMembers ?? RequestBatch.mostMembers
    }

    /// How many requests of version 2 wait for the key.
    package var waitingRequests: Int { line.withLock { $0 }?.waiting ?? 0 }
}

/// What signs now, as the record says.
struct SigningFacts {
    let deviceID: String
    let key: IdentityKey
    /// Unix seconds on the service's clock.
    let time: Int64
    let terms: SigningTerms?
}

// Operations that change an identity run one at a time. A caller of the running operation gets its result; others wait.
extension DeviceIdentity {
    private static let gate = OperationGate()

    /// Registers the device, or reports that it is registered. After a failure, continues with the same key.
    ///
    /// - Throws: ``TenonError/Code/registrationPending`` if the service has not decided: ask again later.
    ///   ``TenonError/Code/registrationRejected``, ``TenonError/Code/deviceRevoked``,
    ///   ``TenonError/Code/attestationUnavailable``, ``TenonError/Code/attestationFailed``; an error of the category
    ///   ``TenonError/Category/unknown`` if the registration was sent and its outcome is unknown: register again.
    @discardableResult
    public func register() async throws(TenonError) -> Registration {
        try await operate(.register) { flow throws(TenonError) in try await flow.register() }
    }

    /// Gives the device a new key. The old key signs until the service has accepted the new one.
    ///
    /// - Throws: ``TenonError/Code/rotationFailed`` if the service refused; an error of the category
    ///   ``TenonError/Category/unknown`` if the outcome is unknown, for example
    ///   ``TenonError/Code/rotationOpen`` if it refuses the old key and does not confirm the new one, which signs
    ///   then. The device can sign in each case.
    @discardableResult
    public func rotate() async throws(TenonError) -> Rotation {
        try await operate(.rotate) { flow throws(TenonError) in try await flow.rotate() }
    }

    /// Gives the device a new key at once, because somebody else may be able to use the current one. A key that was
    /// offered before the report does not count: it is settled, and then changed, too.
    ///
    /// The report is written to disk first. If the service cannot be reached, ``maintain()`` continues, and
    /// ``rotationDue()`` says that the key is due.
    ///
    /// - Throws: like ``rotate()``. The device can sign in either case; the caller decides whether to use it.
    @discardableResult
    public func reportCompromise() async throws(TenonError) -> Rotation {
        try await operate(.reportCompromise) { flow throws(TenonError) in try await flow.reportCompromise() }
    }

    /// Whether the service has an endpoint that says which key it holds; otherwise only a rotation shows it.
    package var hasQuestion: Bool {
        context.declaration.settlements.contains(.ask) || context.declaration.isSequenced
    }

    /// Whether a reset removes the keys for good.
    package var removesKeys: Bool { context.declaration.removesKeys }

    /// Does what is due: settles a rotation with an unknown outcome, renews the attestation key's certificate, changes
    /// an old key, and asks again about keys that the service refused. Call it from a timer, about once a day.
    ///
    /// - Returns: what is still open.
    /// - Throws: why something could not be done.
    @discardableResult
    public func maintain() async throws(TenonError) -> Maintenance {
        try await operate(.maintain) { flow throws(TenonError) in try await flow.maintain() }
    }

    /// Forgets the identity. Its keys go to the attic; for a service that demands it they are removed for good. The
    /// service is not told.
    ///
    /// It also works for a state that cannot be read.
    public func reset() async throws(TenonError) {
        let context = context
        try await alone(.reset) { held throws(TenonError) in
            for key in self.keysToRemove() { try await context.vault.discard(key.facts) }
            let status = try await context.onDisk { store throws(TenonError) in
                try store.reset(held, removes: context.declaration.removesKeys)
            }
            context.status.show(status)
        }
        forgetKey()
    }

    /// The same on the caller's thread, which it blocks; it waits for others at most so long.
    public func reset(waitingAtMost limit: Duration) throws(TenonError) {
        let held = try context.store.lock.acquire(within: limit)
        defer { held.release() }
        for key in keysToRemove() { try context.vault.blockingDiscard(key.facts) }
        context.status.show(try context.store.reset(held, removes: context.declaration.removesKeys))
        forgetKey()
    }

    /// The keys that a reset removes for good.
    private func keysToRemove() -> [IdentityKey] {
        guard context.declaration.removesKeys, case .found(let record) = context.store.read() else { return [] }
        return record.keys
    }

    /// Does an operation, or waits for the same one of another caller.
    func operate<Value: Sendable>(
        _ kind: LogEvent.Operation, _ body: @escaping @Sendable (Flow) async throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        let context = context
        return try await alone(kind) { held throws(TenonError) in
            let flow = try await Flow(context, held, solves: kind == .register)
            // A registration does that in its place.
            if kind != .register { try await flow.takeUpAbandonedKey() }
            return try await body(flow)
        }
    }

    /// Waits until nobody else is at work on the identity, in this process and among others, and does it.
    func alone<Value: Sendable>(
        _ kind: LogEvent.Operation, _ body: @escaping @Sendable (FileLock.Held) async throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
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

extension DeviceIdentity {
    /// A service that devices register with.
    public struct Service: Sendable {
        package let profile: any ServiceProfile

        package init(_ profile: any ServiceProfile) { self.profile = profile }
    }

    /// Where keys live.
    public struct Keys: Sendable {
        package let vault: any KeyVault

        package init(_ vault: any KeyVault) { self.vault = vault }
    }
}

extension TenonError {
    static let insecure = TenonError(
        .httpURL, message: "The base URL must be https; in a development build it must be this machine.")
}
