// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import SynheartAuth
import Tenon
import TenonAuthority
import TenonTPM
import TestFolders
import Testing

@testable import TenonAuthorityServer

/// The iOS SDK's quick start, at an authority with the configuration that it writes itself.
@Suite(.timeLimit(.minutes(1))) struct QuickStartTests {
    private struct World {
        let url: String
        let folder: String
        let tpm: TPM
        let service: AuthorityEngine
    }

    private static let token = "of-a-backend"

    /// The default, and a backend that may ask about its app.
    private static func configuration(_ port: Int) throws -> String {
        let text = try Configuration.defaultText(
            service: HostedService.all[0], port: port, ekRoots: [Endorsed.trustedFile])
        let sum = try Digest(hashing: Array(token.utf8))
        let backend = #"{"name": "ingest", "token_sha256": "\#(sum)", "apps": ["demo"]}"#
        return "{\"backends\": [\(backend)]," + text.dropFirst()
    }

    private func withWorld(_ body: (World) async throws -> Void) async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            try await withFolder { folder in
                // The origin is in the configuration, so the port is chosen before.
                let port = try ListeningSocket(address: "127.0.0.1", port: 0).port
                let text = try Self.configuration(port)
                let authority = try await RunningAuthority(
                    Configuration(parsing: Array(text.utf8), services: HostedService.all),
                    in: AuthorityFolder(folder + "/authority"))
                try await body(
                    World(
                        url: "http://127.0.0.1:\(port)", folder: folder, tpm: tpm,
                        service: authority.authority.engine))
                await authority.stop()
            }
        }
    }

    /// The quick start of the iOS SDK's README, unchanged but for where the service is and what the app is called. Only
    /// the TPM and the folder of the test are named before: there is no word of a dialect, a certificate or a CA.
    @Test func theQuickStartOfTheSDKRuns() async throws {
        try await withWorld { world in
            let (baseUrl, bodyData) = (world.url + "/auth", Data(#"{"a":1}"#.utf8))
            SynheartAuth.shared.configure(
                baseUrl: baseUrl, tpm: world.tpm, stateDirectory: world.folder + "/device")

            // 1. Configure once at app launch
            SynheartAuth.shared.configure(baseUrl: baseUrl)

            // 2. Register device (one-time)
            let result = try await SynheartAuth.shared.registerDevice(appId: "demo")
            print("Device ID: \(result.deviceId ?? "N/A")")

            // 3. Sign every HTTP request
            let headers = try SynheartAuth.shared.signRequest(
                appId: "demo",
                method: "POST",
                path: "/ingest/v1/hsi",
                bodyBytes: bodyData
            )

            #expect(result.status == .success && result.deviceId != nil)
            #expect(SynheartAuth.shared.isRegistered(appId: "demo"))
            try await expectGood(headers.dictionary, Array(bodyData), world)
            #expect(try await SynheartAuth.shared.rotateKey(appId: "demo").status == .success)
            let later = try SynheartAuth.shared.signRequest(
                appId: "demo", method: "POST", path: "/ingest/v1/hsi", bodyBytes: bodyData)
            try await expectGood(later.dictionary, Array(bodyData), world)
            // It lives as long as the process, but the TPM does not.
            SynheartAuth.shared.configure(baseUrl: baseUrl, tpm: nil, stateDirectory: nil)
        }
    }

    /// Asks like the backend that got the request.
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
