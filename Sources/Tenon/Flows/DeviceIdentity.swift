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
/// An identity is never lost because an answer was, or because the process died: the same call made again goes on where
/// the last one ended. Values for one identity may be made in any number of threads and processes; they take turns.
public final class DeviceIdentity: Sendable {
    let context: FlowContext
    private let loaded = Mutex<(facts: KeyFacts, key: any DeviceKey)?>(nil)

    /// - Parameters:
    ///   - appID: what the service calls the application: 1 to 200 characters 0x21-0x7E.
    ///   - keys: what holds the keys, as a TPM.
    ///   - transport: the way to the service.
    ///   - attestationService: for a service that wants a certificate of an attestation CA.
    ///   - stateDirectory: where the state lies. It is made with mode 0700 when it is absent.
    ///   - log: what is told what happens; it never hears what must not be written down.
    /// - Throws: ``TenonError/Code/appID``, ``TenonError/Code/httpURL``, or what is wrong with the folder.
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
            store: RecordStore(name, in: folder), profile: profile, declaration: declaration, vault: vault,
            transport: transport, clock: clock, limits: limits, disk: WorkThread(), status: StatusBoard(log), log: log,
            attestationService: attestationService, origin: url.origin)
    }

    /// What the application is called.
    public var appID: String { context.name.appID }

    /// Where the identity stands: one read of its record.
    ///
    /// - Throws: what is wrong with the record; that is never taken for an identity that is not registered.
    public func status() throws(TenonError) -> IdentityStatus {
        guard let record = try record() else { return IdentityStatus(state: .unregistered) }
        return IdentityStatus(record)
    }

    /// Where the identity stands, from now on: what this value does, or finds that others did.
    public var states: AsyncStream<IdentityStatus> { context.status.listen() }

    /// Whether the device may sign; also false when the state cannot be read.
    public var isRegistered: Bool { (try? status())?.isRegistered ?? false }

    /// What the service calls the device; also nil when the state cannot be read.
    public var deviceID: String? { (try? status())?.deviceID }

    /// When the key should be changed, in Unix seconds; nil before there is one. ``maintain()`` does it.
    public func rotationDue() throws(TenonError) -> Int64? { try record()?.rotationDue(context.limits) }

    func record() throws(TenonError) -> IdentityRecord? {
        switch context.store.read() {
        case .found(let record):
            try record.check(dialect: context.declaration.dialect)
            return record
        case .absent: return nil
        case .unreadable(let error): throw error
        }
    }

    /// What signs now, and under which name.
    func signing() throws(TenonError) -> (deviceID: String, key: IdentityKey, time: Int64) {
        guard let record = try record() else { throw .notRegistered }
        let time = record.serviceTime(context.clock)
        let key = try record.activeKey(at: context.clock.bootMoment)
        guard let deviceID = record.deviceID else { throw .notRegistered }
        return (deviceID, key, time)
    }

    func kept(_ facts: KeyFacts) -> (any DeviceKey)? {
        loaded.withLock { $0?.facts.digest == facts.digest ? $0?.key : nil }
    }

    func keep(_ key: any DeviceKey, _ facts: KeyFacts) { loaded.withLock { $0 = (facts, key) } }

    func forgetKey() { loaded.withLock { $0 = nil } }
}

extension DeviceIdentity {
    /// A service that devices register with.
    public struct Service: Sendable {
        package let profile: any ServiceProfile

        package init(_ profile: any ServiceProfile) { self.profile = profile }
    }

    /// What holds keys.
    public struct Keys: Sendable {
        package let vault: any KeyVault

        package init(_ vault: any KeyVault) { self.vault = vault }
    }
}

extension TenonError {
    static let insecure = TenonError(
        .httpURL, message: "The base URL must be https; in a build for development it must be this very machine.")
}
