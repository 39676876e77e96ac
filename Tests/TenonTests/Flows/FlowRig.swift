import FlowParts
// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import Testing

/// A device, its TPM, its disk, and a service, each of which fails as a test wants.
struct FlowRig {
    let folder: TemporaryFolder
    let time = FlowTime()
    let vault: ScriptedVault
    let service: ScriptedService
    let profile: PlainProfile
    let identity: DeviceIdentity

    /// - Parameter kind: tokens for tests with very many signatures.
    init(
        _ declare: (inout ServiceDeclaration) -> Void = { _ in }, calls: SystemCalls = SystemCalls(),
        _ kind: ScriptedVault.Kind = .signatures
    ) throws {
        vault = ScriptedVault(kind)
        var profile = PlainProfile()
        declare(&profile.declaration)
        self.profile = profile
        folder = try TemporaryFolder()
        service = ScriptedService(time)
        service.change { $0.takesTokens = kind == .tokens }
        identity = try Self.identity(profile, vault, service, folder, time, calls)
    }

    private static func identity(
        _ profile: PlainProfile, _ vault: ScriptedVault, _ service: ScriptedService, _ folder: TemporaryFolder,
        _ time: FlowTime, _ calls: SystemCalls = SystemCalls(), _ log: LogSink? = nil,
        _ limits: FlowLimits = FlowLimits()
    ) throws -> DeviceIdentity {
        try DeviceIdentity(
            appID: "app", profile: profile, vault: vault, transport: service, folder: folder.open(calls),
            clock: time.clock, limits: limits, log: log)
    }

    /// The same device after a restart of the process.
    func restarted(
        _ calls: SystemCalls = SystemCalls(), log: LogSink? = nil, limits: FlowLimits = FlowLimits()
    ) throws -> DeviceIdentity {
        try Self.identity(profile, vault, service, folder, time, calls, log, limits)
    }

    /// The same state with another TPM, or with an attestation CA.
    func identity(
        with vault: ScriptedVault, _ attestationService: DeviceIdentity.AttestationService? = nil
    ) throws -> DeviceIdentity {
        try DeviceIdentity(
            appID: "app", profile: profile, vault: vault, transport: service, attestationService: attestationService,
            folder: folder.open(), clock: time.clock)
    }

    static func registered(
        _ kind: ScriptedVault.Kind = .signatures, _ declare: (inout ServiceDeclaration) -> Void = { _ in }
    ) async throws -> FlowRig {
        let rig = try FlowRig(declare, kind)
        try await rig.identity.register()
        rig.service.change { $0.seen = [] }
        return rig
    }

    func record() throws -> IdentityRecord {
        let store = RecordStore(
            try IdentityName(profile: "plain", baseURL: "https://service.example", appID: "app"),
            in: try folder.open())
        return try #require(store.read().value)
    }

    /// Whether the service accepts the device's signatures now.
    func isAccepted(_ signed: SignedRequest) -> Bool {
        let request = HTTPRequest(
            method: signed.method, url: "https://service.example" + signed.path, headers: signed.headers,
            body: signed.body ?? [])
        let now = time.seconds
        return service.state.withLock { $0.refusal(request, signed.path, now) == nil }
    }

    /// The invariant of the design: once the network works, the device's ordinary calls, without a reset, lead it to
    /// sign with the key that the service holds, and it is one device there.
    func expectNotLost(_ identity: DeviceIdentity? = nil, sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        let identity = try identity ?? restarted()
        service.change { $0.fates = [] }
        time.advance(.seconds(7200))
        try await identity.register()
        try await identity.maintain()
        let signed = try await identity.sign("POST", path: "/v1/x", body: [1])
        #expect(isAccepted(signed), "the device is locked out", sourceLocation: sourceLocation)
        #expect(service.devices.count == 1, "a second device was made", sourceLocation: sourceLocation)
    }
}

/// A task that is cancelled from elsewhere.
final class TaskBox: Sendable {
    private let state = Mutex<(task: Task<TenonError.Code?, Never>?, isCancelled: Bool)>((nil, false))

    func set(_ task: Task<TenonError.Code?, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}

/// The code that an asynchronous body throws; nil when it throws nothing.
func refusal<Value>(
    _ body: () async throws(TenonError) -> Value
) async -> TenonError.Code? {
    do throws(TenonError) {
        _ = try await body()
        return nil
    } catch {
        return error.code
    }
}
