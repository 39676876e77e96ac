// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import SynheartAuth
import Tenon
import TenonAuthority
import TenonTPM
import TestFolders
import Testing

@testable import TenonAuthorityServer

/// The iOS SDK's quick start, at a running authority.
@Suite(.timeLimit(.minutes(1))) struct QuickStartTests {
    private struct World {
        let url: String
        let folder: String
        let tpm: TPM
        let ca: DeviceIdentity.AttestationService
        let service: AuthorityService
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

    private func withWorld(app: String, _ body: (World) async throws -> Void) async throws {
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
