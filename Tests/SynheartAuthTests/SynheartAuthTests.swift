// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Foundation
import Synchronization
import SynheartAuth
import Tenon
import TenonSynheart
import TestFolders
import Testing

@Suite(.timeLimit(.minutes(1))) struct SynheartAuthTests {
    let auth: SynheartAuth
    let service = MemoryService()
    let vault = ScriptedVault()
    private let scratch: ScratchFolder
    let folder: String

    init() throws {
        scratch = try ScratchFolder()
        folder = scratch.path + "/state"
        auth = SynheartAuth(Self.maker(service, vault, folder))
        auth.configure(baseUrl: "http://localhost/auth")
    }

    /// A service and a TPM of the test.
    static func maker(
        _ service: MemoryService, _ vault: ScriptedVault, _ folder: String, _ calls: SystemCalls = SystemCalls()
    ) -> SynheartAuth.Maker {
        { baseUrl, appId throws(TenonError) in
            let synheart = try Synheart(baseURL: baseUrl, appID: appId, dialect: .tenon)
            return try DeviceIdentity(
                appID: appId, profile: synheart, vault: vault, transport: service,
                folder: StateFolder(at: folder, calls: calls), limits: FlowLimits(impatient: true))
        }
    }

    #if !DevMode
        /// The quick start of the SDK's README, unchanged, behind the one call that is ours.
        @Test func theQuickStartRuns() async throws {
            SynheartAuth.shared.configure("http://localhost", Self.maker(service, vault, folder))
            let bodyData = Data(#"{"a":1}"#.utf8)

            // 1. Configure once at app launch
            SynheartAuth.shared.configure(baseUrl: "https://api.synheart.ai/auth")

            // 2. Register device (one-time)
            let result = try await SynheartAuth.shared.registerDevice(appId: "com.myapp")
            print("Device ID: \(result.deviceId ?? "N/A")")

            // 3. Sign every HTTP request
            let headers = try SynheartAuth.shared.signRequest(
                appId: "com.myapp",
                method: "POST",
                path: "/ingest/v1/hsi",
                bodyBytes: bodyData
            )

            #expect(result.deviceId == "dev_1")
            #expect(headers.appId == "com.myapp")
            #expect(headers.deviceId == "dev_1")
            #expect(headers.signatureVersion == "1")
            #expect(headers.dictionary.count == 6)
            let isSigned = service.state.withLock {
                $0.isSigned(headers.dictionary, "POST", "/ingest/v1/hsi", Array(bodyData))
            }
            #expect(isSigned)
        }
    #endif

    @Test func registeringAgainSendsNothing() async throws {
        #expect(!auth.isRegistered(appId: "com.myapp"))
        #expect(auth.getDeviceId(appId: "com.myapp") == nil)
        #expect(try await auth.registerDevice(appId: "com.myapp").status == .success)
        let sent = service.paths
        #expect(sent == ["challenge", "register"])
        let again = try await auth.registerDevice(appId: "com.myapp")
        #expect(again.status == .alreadyRegistered)
        #expect(again.deviceId == "dev_1")
        #expect(service.paths == sent)
        #expect(auth.isRegistered(appId: "com.myapp"))
        #expect(auth.getDeviceId(appId: "com.myapp") == "dev_1")
        #expect(!auth.isRegistered(appId: "other"))
    }

    @Test func aRotationChangesTheKey() async throws {
        _ = try await auth.registerDevice(appId: "com.myapp")
        let before = service.state.withLock { $0.devices["dev_1"] }
        for _ in 0..<3 {
            #expect(try await auth.rotateKey(appId: "com.myapp").status == .success)
            try expectSigns("get")
        }
        #expect(service.state.withLock { $0.devices["dev_1"] } != before)
    }

    private func expectSigns(_ method: String = "GET") throws {
        let headers = try auth.signRequest(appId: "com.myapp", method: method, path: "/v1/x")
        #expect(service.state.withLock { $0.isSigned(headers.dictionary, "GET", "/v1/x", []) })
    }

    @Test func aRotationThatIsRefusedLeavesTheKey() async throws {
        _ = try await auth.registerDevice(appId: "com.myapp")
        service.answer("rotate-key", 409, #"{"code":"ROTATION_FAILED"}"#)
        let result = try await auth.rotateKey(appId: "com.myapp")
        #expect(result.status == .failed)
        guard case .serverError("ROTATION_FAILED", _) = result.error else {
            Issue.record("\(String(describing: result.error))")
            return
        }
        try expectSigns()
    }

    @Test(arguments: [nil, "", "api.synheart.ai/auth", "http://api.synheart.ai/auth", "https://api.synheart.ai/auth?x"])
    func withoutConfigurationNothingWorks(_ baseUrl: String?) async throws {
        let auth = SynheartAuth()
        if let baseUrl { auth.configure(baseUrl: baseUrl) }
        #expect(!auth.isRegistered(appId: "a"))
        #expect(auth.getDeviceId(appId: "a") == nil)
        auth.resetDeviceIdentity(appId: "a")
        auth.correctClockSkew(serverTimestamp: 0)
        await #expect(throws: SynheartAuthError.notConfigured) { try await auth.registerDevice(appId: "a") }
        await #expect(throws: SynheartAuthError.notConfigured) { try await auth.rotateKey(appId: "a") }
        #expect(throws: SynheartAuthError.notConfigured) {
            try auth.signRequest(appId: "a", method: "GET", path: "/")
        }
    }

    @Test func whoIsNotRegisteredIsTold() async throws {
        #expect(throws: SynheartAuthError.notRegistered) {
            try auth.signRequest(appId: "com.myapp", method: "GET", path: "/")
        }
        await #expect(throws: SynheartAuthError.notRegistered) { try await auth.rotateKey(appId: "com.myapp") }
        #expect(service.paths.isEmpty)
    }

    static let refusals: [(endpoint: String, status: Int, body: String, error: SynheartAuthError)] = [
        ("challenge", 403, #"{"code":"UNKNOWN_APP"}"#, .serverError(code: "UNKNOWN_APP", message: "")),
        ("challenge", 500, "{}", .serverError(code: "HTTP_ERROR", message: "")),
        ("challenge", 200, "{}", .networkError("")),
        ("register", 400, #"{"code":"INVALID_CHALLENGE"}"#, .challengeExpired),
        ("register", 400, #"{"code":"INVALID_ATTESTATION"}"#, .serverError(code: "ATTESTATION_FAILED", message: "")),
        ("register", 403, #"{"code":"DEVICE_REVOKED"}"#, .serverError(code: "DEVICE_REVOKED", message: "")),
        ("register", 401, #"{"code":"CLOCK_SKEW"}"#, .clockSkew),
        ("register", 200, #"{"status":"pending"}"#, .serverError(code: "REGISTRATION_PENDING", message: "")),
        ("register", 200, #"{"status":"rejected"}"#, .serverError(code: "REGISTRATION_REJECTED", message: "")),
        ("register", 200, #"{"status":"who knows"}"#, .networkError("")),
    ]

    @Test(arguments: refusals)
    func aRefusalIsInTheResult(
        _ row: (endpoint: String, status: Int, body: String, error: SynheartAuthError)
    ) async throws {
        service.answer(row.endpoint, row.status, row.body)
        let result = try await auth.registerDevice(appId: "com.myapp")
        #expect(result.status == .failed)
        #expect(result.deviceId == nil)
        #expect(result.error?.withoutMessage == row.error)
        #expect(result.error?.errorDescription?.isEmpty == false)
        #expect(!auth.isRegistered(appId: "com.myapp"))
        service.behave()
        #expect(try await auth.registerDevice(appId: "com.myapp").status == .success)
    }

    @Test func nobodyThereIsANetworkError() async throws {
        service.go(down: true)
        let result = try await auth.registerDevice(appId: "com.myapp")
        #expect(result.error?.withoutMessage == .networkError(""))
    }

    @Test func withoutAnAttestationNothingIsRegistered() async throws {
        vault.fail(.proof, TenonError(.ekMissing, message: "This TPM has no endorsement key."))
        let result = try await auth.registerDevice(appId: "com.myapp")
        #expect(result.status == .failed)
        #expect(result.error == .attestationUnavailable)
        #expect(!service.paths.contains("register"))
    }

    @Test func w16AKeyThatIsGoneIsSaid() async throws {
        _ = try await auth.registerDevice(appId: "com.myapp")
        vault.clear()
        // The key that was loaded is forgotten with its process.
        let next = SynheartAuth(Self.maker(service, vault, folder))
        next.configure(baseUrl: "http://localhost/auth")
        #expect(throws: SynheartAuthError.keyInvalidated) {
            try next.signRequest(appId: "com.myapp", method: "GET", path: "/")
        }
        #expect(!next.isRegistered(appId: "com.myapp"))
    }

    /// Decision: record-form. An unreadable state is never an identity that is not registered.
    @Test func w9AStateThatCannotBeReadIsAnError() async throws {
        _ = try await auth.registerDevice(appId: "com.myapp")
        let name = try IdentityName(profile: "synheart", baseURL: "http://localhost/auth", appID: "com.myapp")
        // If an older record is left, the device asks the service which key it holds.
        for file in [name.record, name.record + ".prev"] {
            try Data("{".utf8).write(to: URL(fileURLWithPath: folder + "/" + file))
        }
        #expect(!auth.isRegistered(appId: "com.myapp"))
        #expect(auth.getDeviceId(appId: "com.myapp") == nil)
        let sent = service.paths
        let error = await #expect(throws: SynheartAuthError.self) { try await auth.registerDevice(appId: "com.myapp") }
        guard case .keychainError = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(service.paths == sent)
        auth.resetDeviceIdentity(appId: "com.myapp")
        #expect(try await auth.registerDevice(appId: "com.myapp").status == .success)
    }

    @Test func w21AResetForgetsOneApp() async throws {
        _ = try await auth.registerDevice(appId: "com.myapp")
        _ = try await auth.registerDevice(appId: "com.myapp_next")
        auth.resetDeviceIdentity(appId: "com.myapp")
        #expect(!auth.isRegistered(appId: "com.myapp"))
        #expect(auth.isRegistered(appId: "com.myapp_next"))
        #expect(try await auth.registerDevice(appId: "com.myapp").status == .success)
    }

    /// Somebody else is at work until the second try.
    @Test func aResetWaitsForItsTurn() async throws {
        _ = try await auth.registerDevice(appId: "com.myapp")
        let name = try IdentityName(profile: "synheart", baseURL: "http://localhost/auth", appID: "com.myapp")
        let other = try #require(try RecordStore(name, in: StateFolder(at: folder)).lock.attempt())
        let tries = Mutex(0)
        let calls = SystemCalls { operation, _ in
            guard operation == .lock else { return nil }
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            if number == 2 { other.release() }
            return nil
        }
        let next = SynheartAuth(Self.maker(service, vault, folder, calls))
        next.configure(baseUrl: "http://localhost/auth")
        #expect(next.isRegistered(appId: "com.myapp"))
        next.resetDeviceIdentity(appId: "com.myapp")
        #expect(!next.isRegistered(appId: "com.myapp"))
        #expect(tries.withLock { $0 } == 2)
    }

    /// W18, decision: clock-offset: the auth service says what the time is, and nobody else; what it says is kept by
    /// the record.
    @Test func w18TheClockIsTheAuthServices() async throws {
        _ = try await auth.registerDevice(appId: "com.myapp")
        func skew() throws -> Double {
            let timestamp = try auth.signRequest(appId: "com.myapp", method: "GET", path: "/").timestamp
            return (Double(timestamp) ?? 0) - Date().timeIntervalSince1970
        }
        var answers = service.answered.makeAsyncIterator()
        func asked(_ times: Int) async {
            var left = times
            while left > 0, let path = await answers.next() { left -= path == "self" ? 1 : 0 }
        }
        // An application that was told something else.
        for wrong in [Date().timeIntervalSince1970 + 7200, 0, -1, .infinity, .nan] {
            auth.correctClockSkew(serverTimestamp: wrong)
            await asked(1)
            // The next caller waits until that has ended.
            _ = try await auth.registerDevice(appId: "com.myapp")
            #expect(abs(try skew()) <= 60)
        }
        // It was right: the question is refused once, and asked again on the service's clock.
        service.state.withLock { $0.skew = 7200 }
        auth.correctClockSkew(serverTimestamp: 0)
        await asked(2)
        #expect(abs(try skew() - 7200) <= 60)
    }

    /// Who is asked to make identities, and by whom it was configured meanwhile.
    private final class Makers: Sendable {
        let auth = Mutex<SynheartAuth?>(nil)
        let made = Mutex<[String]>([])
    }

    /// An identity that is being made when the configuration changes does not belong to the new one.
    @Test func anIdentityOfBeforeIsNotKept() {
        let (makers, make) = (Makers(), Self.maker(service, vault, folder))
        let auth = SynheartAuth { baseUrl, appId throws(TenonError) in
            makers.made.withLock { $0.append(baseUrl) }
            if baseUrl == "http://localhost/old" {
                makers.auth.withLock { $0 }?.configure(baseUrl: "http://localhost/new")
            }
            return try make(baseUrl, appId)
        }
        makers.auth.withLock { $0 = auth }
        auth.configure(baseUrl: "http://localhost/old")
        for _ in 0..<3 { #expect(!auth.isRegistered(appId: "com.myapp")) }
        #expect(makers.made.withLock { $0 } == ["http://localhost/old", "http://localhost/new"])
        makers.auth.withLock { $0 = nil }
    }

    /// As in the iOS SDK nobody waits for another call, whatever it is configured with meanwhile. (Who wants the other
    /// one's result asks `DeviceIdentity`.)
    @Test(.timeLimit(.minutes(1)), arguments: ["challenge", "rotate-key"])
    func aSecondCallIsToldThatOneRuns(_ endpoint: String) async throws {
        if endpoint == "rotate-key" { _ = try await auth.registerDevice(appId: "com.myapp") }
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let (released, release) = AsyncStream<Void>.makeStream()
        service.state.withLock {
            $0.hold = { path in
                guard path == endpoint else { return }
                enter.finish()
                for await _ in released {}
            }
        }
        async let first: Bool =
            endpoint == "challenge"
            ? auth.registerDevice(appId: "com.myapp").status == .success
            : auth.rotateKey(appId: "com.myapp").status == .success
        for await _ in entered {}
        for _ in 0..<2 {
            await #expect(throws: SynheartAuthError.registrationInProgress) {
                try await auth.rotateKey(appId: "com.myapp")
            }
            if endpoint == "challenge" {
                await #expect(throws: SynheartAuthError.registrationInProgress) {
                    try await auth.registerDevice(appId: "com.myapp")
                }
            } else {
                #expect(try await auth.registerDevice(appId: "com.myapp").status == .alreadyRegistered)
            }
            auth.configure(baseUrl: "http://localhost/auth")
        }
        release.finish()
        #expect(try await first)
        #expect(service.paths.filter { $0 == endpoint }.count == 1)
        #expect(try await auth.registerDevice(appId: "com.myapp").status == .alreadyRegistered)
    }

    @Test func aReportChangesTheKey() async throws {
        _ = try await auth.registerDevice(appId: "com.myapp")
        let before = service.state.withLock { $0.devices["dev_1"] }
        #expect(try await auth.reportCompromise(appId: "com.myapp").status == .success)
        try expectSigns()
        #expect(service.state.withLock { $0.devices["dev_1"] } != before)
        await #expect(throws: SynheartAuthError.notRegistered) { try await auth.reportCompromise(appId: "other") }
    }

    /// The error says what to add if the short configuration is not enough.
    @Test func anAttestationThatCannotBeMadeSaysWhatToAdd() throws {
        let text = try #require(SynheartAuthError.attestationUnavailable.errorDescription)
        for word in ["attestationService", ".tenon", ".endorsement()", "tenon doctor"] {
            #expect(text.contains(word) && !text.contains("\n"))
        }
    }

    @Test(arguments: [
        ("", "/"), ("GET\n", "/"), ("G T", "/"), ("GET", ""), ("GET", "/a?b"), ("GET", "/a\nb"), ("GET", "/é"),
    ])
    func whatCannotBeSignedIsRefused(_ method: String, _ path: String) async throws {
        _ = try await auth.registerDevice(appId: "com.myapp")
        let error = #expect(throws: SynheartAuthError.self) {
            try auth.signRequest(appId: "com.myapp", method: method, path: path)
        }
        #expect(error?.withoutMessage == .cryptoError(""))
    }

    @Test(arguments: ["", " ", "a/../b c", "é", String(repeating: "a", count: 10_240)])
    func anAppIDThatIsNoneIsRefused(_ appId: String) async throws {
        #expect(!auth.isRegistered(appId: appId))
        await #expect(throws: SynheartAuthError.self) { try await auth.registerDevice(appId: appId) }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }
}

extension SynheartAuthError {
    fileprivate var withoutMessage: SynheartAuthError {
        switch self {
        case .networkError: .networkError("")
        case .serverError(let code, _): .serverError(code: code, message: "")
        case .cryptoError: .cryptoError("")
        default: self
        }
    }
}

extension FlowLimits {
    fileprivate init(impatient: Bool) {
        self.init()
        retry.tries = 1
    }
}
