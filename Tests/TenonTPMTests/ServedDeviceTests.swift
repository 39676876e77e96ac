// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import SynheartAuth
import Tenon
import TenonAuthority
import TenonHTTP
import TenonSynheart
import TenonTPM
import TestFolders
import Testing

@testable import TenonAuthorityServer

/// A device with a software TPM at a running authority, over HTTP: all parts that there are, and none that plays another.
@Suite(.timeLimit(.minutes(1))) struct ServedDeviceTests {
    private struct World {
        let url: String
        let folder: String
        let tpm: TPM
        let ca: DeviceIdentity.AttestationService
        let service: AuthorityService

        /// A process of the device begins.
        func identity(_ dialect: Dialect) throws -> DeviceIdentity {
            let service = try Synheart(baseURL: url + "/auth", appID: "demo", dialect: dialect)
            return try DeviceIdentity(
                service, keys: .tpm(tpm, disclosure: .endorsement(above: [try Endorsed.issuer()])),
                transport: HTTPTransport(), attestationService: ca,
                stateDirectory: folder + "/device")
        }

        func send(_ signed: Tenon.SignedRequest, _ method: String, _ path: String, _ body: [UInt8]) async throws -> Int
        {
            let headers = [("Content-Type", "application/json")] + signed.headers.map { ($0.name, $0.value) }
            let request = HTTPRequest(method: method, url: url + path, headers: headers, body: body)
            return try await HTTPTransport().exchange(request, deadline: .now + .seconds(20)).status
        }
    }

    private static let token = "of-a-backend"

    /// The default, with the app's name, and a backend that may ask.
    private static func configuration(_ port: Int, _ app: String) throws -> String {
        let text = try Configuration.defaultText(port: port, ekRoots: [Endorsed.rootFile])
        let sum = try Digest(hashing: Array(token.utf8))
        let backend = #"{"name": "ingest", "token_sha256": "\#(sum)", "apps": ["\#(app)"]}"#
        return "{\"backends\": [\(backend)],"
            + text.dropFirst().split(separator: "demo", omittingEmptySubsequences: false).joined(separator: app)
    }

    private func withWorld(app: String = "demo", _ body: (World) async throws -> Void) async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            try await withFolder { folder in
                // The origin is in the configuration, so the port is chosen before.
                let port = try ListeningSocket(address: "127.0.0.1", port: 0).port
                let text = try Self.configuration(port, app)
                let authority = try await RunningAuthority(
                    Configuration(parsing: Array(text.utf8)), in: AuthorityFolder(folder + "/authority"))
                let service = authority.authority.service
                let ca = DeviceIdentity.AttestationService(
                    url: "http://127.0.0.1:\(port)/ca/\(app)", roots: service.keys.roots)
                try await body(
                    World(url: "http://127.0.0.1:\(port)", folder: folder, tpm: tpm, ca: ca, service: service))
                await authority.stop()
            }
        }
    }

    @Test(arguments: [Dialect.docs, .tenon])
    func registersSignsAndRotates(_ dialect: Dialect) async throws {
        try await withWorld { world in
            let identity = try world.identity(dialect)
            let registered = try await identity.register()
            #expect(registered.status == .registered)
            try await echoes(world, identity)
            if dialect == .tenon {
                try await identity.rotate()
            } else {
                // `docs` has no place for the new key's proof, and an attested device stays one (security.md 1.2).
                let error = await errorAwaited { () async throws(TenonError) in try await identity.rotate() }
                #expect(error?.code == .attestationFailed)
            }
            try await echoes(world, identity)
            // Another process of the same device.
            let again = try world.identity(dialect)
            #expect(try await again.register().status == .alreadyRegistered)
            #expect(again.deviceID == registered.deviceID)
            try await again.maintain()
            try await echoes(world, again)
        }
    }

    /// A request is taken once, and as it was signed.
    private func echoes(_ world: World, _ identity: DeviceIdentity) async throws {
        let body = Array(#"{"a":1}"#.utf8)
        let signed = try await identity.sign("POST", path: "/v1/echo", body: body)
        #expect(try await world.send(signed, "POST", "/v1/echo", Array(#"{"a":2}"#.utf8)) == 401)
        #expect(try await world.send(signed, "POST", "/v1/echo", body) == 200)
        #expect(try await world.send(signed, "POST", "/v1/echo", body) == 409)
    }

    @Test func aDeviceThatIsResetIsAnother() async throws {
        try await withWorld { world in
            let identity = try world.identity(.tenon)
            let first = try await identity.register().deviceID
            try await identity.reset()
            #expect(!identity.isRegistered)
            #expect(try await identity.register().deviceID != first)
            try await echoes(world, identity)
        }
    }

    /// The quick start of the iOS SDK's README, unchanged but for where the service is, behind the one call that says
    /// what another platform has.
    @Test func theQuickStartOfTheSDKRuns() async throws {
        try await withWorld(app: "com.myapp") { world in
            let (baseUrl, bodyData) = (world.url + "/auth", Data(#"{"a":1}"#.utf8))
            SynheartAuth.shared.configure(
                baseUrl: baseUrl, tpm: world.tpm, stateDirectory: world.folder + "/device",
                disclosure: .endorsement(above: [try Endorsed.issuer()]), attestationService: world.ca)

            // 1. Configure once at app launch
            SynheartAuth.shared.configure(baseUrl: baseUrl)

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

            #expect(result.status == .success && result.deviceId != nil)
            #expect(SynheartAuth.shared.isRegistered(appId: "com.myapp"))
            try await expectGood(headers.dictionary, Array(bodyData), world)
            // It lives as long as the process, and the TPM does not.
            SynheartAuth.shared.configure(baseUrl: baseUrl, tpm: nil, stateDirectory: nil)
        }
    }

    /// As the backend asks that got the request.
    private func expectGood(_ headers: [String: String], _ body: [UInt8], _ world: World) async throws {
        let question = JSON.members([
            "method": "POST", "target": "/ingest/v1/hsi", "host": "127.0.0.1",
            "headers": .members(headers.mapValues { JSON.string($0) }), "body": .sent(body),
        ])
        let answer = await world.service.answer(
            AuthorityRequest(
                method: "POST", target: "/auth/v1/device/verify",
                headers: [("Authorization", "Bearer \(Self.token)")], body: try question.encoded()),
            at: .internal)
        #expect(answer.verdict == "200")
        #expect(answer.json["device_id"]?.string == headers["X-Device-ID"])
    }
}
