// SPDX-License-Identifier: Apache-2.0
import FlowParts
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
        _ declare: (inout ServiceDeclaration) -> Void = { _ in }, _ kind: ScriptedVault.Kind = .signatures
    ) throws {
        var profile = PlainProfile()
        declare(&profile.declaration)
        (self.profile, vault, service) = (profile, ScriptedVault(kind), ScriptedService(time))
        service.change { $0.takesTokens = kind == .tokens }
        folder = try TemporaryFolder()
        identity = try DeviceIdentity(
            appID: "app", profile: profile, vault: vault, transport: service, folder: folder.open(), clock: time.clock)
    }

    /// The same device after a restart of the process, perhaps with another TPM, another disk, or an attestation CA.
    func restarted(
        _ calls: SystemCalls = SystemCalls(), with vault: ScriptedVault? = nil, on folder: TemporaryFolder? = nil,
        at ca: DeviceIdentity.AttestationService? = nil, log: LogSink? = nil, limits: FlowLimits = FlowLimits()
    ) throws -> DeviceIdentity {
        try DeviceIdentity(
            appID: "app", profile: profile, vault: vault ?? self.vault, transport: service, attestationService: ca,
            folder: (folder ?? self.folder).open(calls), clock: time.clock, limits: limits, log: log)
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
    ///
    /// - Parameter body: what was hashed as it came.
    func isAccepted(_ signed: SignedRequest, body: [UInt8]? = nil) -> Bool {
        var request = signed.asSent
        if let body { request.body = body }
        return service.state.withLock { [request, now = time.seconds] in $0.refusal(request, signed.path, now) == nil }
    }

    /// A rotation in which each message meets this fate.
    func rotate(_ fate: ScriptedService.Fate) async {
        service.change { $0.fates = Array(repeating: fate, count: 9) }
        #expect(await identity.code(.rotate) != nil)
        service.change { $0.fates = [] }
    }

    /// A member of each request to a path.
    func sent(_ member: String, to path: String) -> [String] {
        service.seen.filter { ScriptedService.path($0) == path }.compactMap {
            (try? JSON(parsing: $0.body))?[member]?.string
        }
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

final class CancelledCall: Sendable {
    private let state = Mutex<(task: Task<TenonError.Code?, Never>?, isCancelled: Bool)>((nil, false))

    /// The code that the call throws.
    func run<Value>(_ body: @escaping @Sendable () async throws -> Value) async -> TenonError.Code? {
        let task = Task { await refusal(body) }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        return await task.value
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}

/// What an application calls.
enum Verb: String, CaseIterable, Sendable {
    case sign, signBlocking, begin, attest, rotate, maintain, resolve, received, register
}

extension DeviceIdentity {
    /// The code with which a call ends.
    ///
    /// - Parameter answered: the request of which an application says that it was refused.
    func code(_ verb: Verb, _ answered: SignedRequest? = nil) async -> TenonError.Code? {
        await refusal {
            switch verb {
            case .sign: _ = try await sign("GET", path: "/")
            case .signBlocking: _ = try blocking { try sign("GET", path: "/") }
            case .begin: _ = try await request("GET", path: "/").sign()
            case .attest: _ = try await attest(nonce: Digest(hashing: [1]))
            case .rotate: _ = try await rotate()
            case .maintain: try await maintain()
            case .resolve: try await resolve()
            case .register: _ = try await register()
            case .received:
                guard let answered else { return }
                if case .stop(let error) = await received(401, "BAD_SIGNATURE", for: answered) { throw error }
            }
        }
    }

    /// What an application is told to do after this answer of its own service.
    func received(_ status: Int, _ code: String, for request: SignedRequest) async -> ReceivedAnswer {
        await received(
            status: status, headers: [("Content-Type", "application/json")], body: Array("{\"code\":\"\(code)\"}".utf8),
            for: request)
    }
}

extension FlowRig {
    func answer(_ request: SignedRequest, _ status: Int, _ code: String) async -> ReceivedAnswer {
        await identity.received(status, code, for: request)
    }
}

extension SignedRequest {
    /// As it is sent to the service's own host.
    var asSent: HTTPRequest {
        HTTPRequest(method: method, url: "https://service.example" + path, headers: headers, body: body ?? [])
    }
}

extension ReceivedAnswer {
    var isDone: Bool { if case .done = self { true } else { false } }
    var again: SignedRequest? { if case .resend(let request) = self { request } else { nil } }
    var stopped: TenonError.Code? { if case .stop(let error) = self { error.code } else { nil } }
}

/// Calls the blocking form of a function, which asynchronous code would not select.
func blocking<Value>(_ body: () throws -> Value) throws -> Value { try body() }
