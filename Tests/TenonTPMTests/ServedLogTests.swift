// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import TenonHTTP
import TenonSynheart
import TenonTPM
import TestFolders
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// The command's output over the full life of devices contains nothing that a log may not hold (decision:
/// said-in-logs).
@Suite(.timeLimit(.minutes(1))) struct ServedLogTests {
    /// Everything that goes over the wire.
    private final class Recorder: Transport {
        private struct State {
            var texts: Set<String> = []
            var bodies: Set<[UInt8]> = []
            var codes: Set<String> = []
        }

        private let transport: HTTPTransport
        private let state: Mutex<State>

        init(_ transport: HTTPTransport) {
            self.transport = transport
            state = Mutex(State())
        }

        func exchange(
            _ request: HTTPRequest, deadline: ContinuousClock.Instant
        ) async throws(TenonError) -> HTTPResponse {
            let response = try await transport.exchange(request, deadline: deadline)
            state.withLock { state in
                for body in [request.body, response.body] {
                    state.bodies.insert(body)
                    if let json = try? JSON(parsing: body) { Recorder.add(json, to: &state.texts) }
                }
                for header in request.headers where header.value.utf8.count >= 16 { state.texts.insert(header.value) }
                let code = (try? JSON(parsing: response.body))?["error_code"]?.string
                if let code { state.codes.insert(code) }
            }
            return response
        }

        /// The distinctive texts, without those that a log may hold.
        private static func add(_ json: JSON, to texts: inout Set<String>) {
            if let text = json.string, text.utf8.count >= 16 { texts.insert(text) }
            for value in json.array ?? [] { add(value, to: &texts) }
            for member in json.object?.members ?? []
            where !["error_code", "message", "expires_at"].contains(member.key) {
                add(member.value, to: &texts)
            }
        }

        func add(_ other: Recorder) {
            let (texts, codes) = (other.texts, other.codes)
            state.withLock { state in
                state.texts.formUnion(texts)
                state.codes.formUnion(codes)
            }
        }

        var texts: Set<String> { state.withLock { $0.texts } }
        var codes: Set<String> { state.withLock { $0.codes } }
        var bodies: Set<[UInt8]> { state.withLock { $0.bodies } }
    }

    /// The command, whose output is a file.
    private struct Command {
        let process: pid_t

        init(_ words: [String], output: String) throws {
            let bundle = try #require(CommandLine.arguments.first { $0.hasSuffix(".xctest") })
            let path = bundle.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/tenon-authority"
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, 1, output, O_CREAT | O_WRONLY | O_APPEND, 0o600)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
            let all = ([path] + words).map { strdup($0) } + [nil]
            defer { for word in all { free(word) } }
            var child = pid_t()
            try #require(posix_spawn(&child, path, &actions, nil, all, environ) == 0)
            process = child
        }

        func end() {
            kill(process, SIGTERM)
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 && errno == EINTR {}
            #expect(status == 0)
        }
    }

    private static let token = "a-token-of-a-backend-that-nobody-guesses"

    private func configuration(_ port: Int) throws -> String {
        let token = try Digest(hashing: Array(Self.token.utf8))
        return """
            {"origins": ["http://127.0.0.1:\(port)"], "public": {"address": "127.0.0.1", "port": \(port)},
             "internal": {"unix": "internal.sock"}, "limits": {"per_address_per_minute": 60},
             "apps": [{"id": "demo", "ek_roots": [{"path": "\(Endorsed.rootFile)"}]}],
             "backends": [{"name": "ingest", "token_sha256": "\(token)", "apps": ["demo"]}]}
            """
    }

    /// A device's life, with refusals.
    private func live(_ url: String, _ folder: String, _ tpm: TPM, _ recorder: Recorder) async throws -> [String] {
        let ca = HTTPRequest(method: "GET", url: "http://localhost/v1/ca")
        let admin = try HTTPTransport(.init(unixSocket: folder + "/state/admin.sock"))
        let authorities = try JSON(parsing: await admin.exchange(ca, deadline: .now + .seconds(20)).body)
        let roots = try (authorities["roots"]?.array ?? []).map { try #require($0.bytes) }
        var ids: [String] = []
        for dialect in [Dialect.tenon, .docs] {
            let service = try Synheart(baseURL: url + "/auth", appID: "demo", dialect: dialect)
            let identity = try DeviceIdentity(
                service, keys: .tpm(tpm, disclosure: .endorsement(above: [try Endorsed.issuer()])),
                transport: recorder, attestationService: .init(url: url + "/ca/demo", roots: roots),
                stateDirectory: "\(folder)/device-\(dialect)")
            let id = try await identity.register().deviceID
            ids.append(id)
            if dialect == .tenon { try await identity.rotate() }
            try await use(identity, url, folder, recorder)
            let revocation: JSON = ["app_id": "demo", "device_id": .string(id), "reason": "the test ends"]
            let answer = try await admin.exchange(
                HTTPRequest(method: "POST", url: "http://localhost/v1/revoke", body: try revocation.encoded()),
                deadline: .now + .seconds(20))
            #expect(answer.status == 200)
            let late = try await identity.sign("GET", path: "/v1/echo")
            #expect(try await send(late, "GET", url + "/v1/echo", [], recorder) == 403)
        }
        return ids
    }

    /// A valid request, its replay, another one, a late one, and a backend that asks.
    private func use(_ identity: DeviceIdentity, _ url: String, _ folder: String, _ recorder: Recorder) async throws {
        let body = Array(#"{"what":"a body that nobody else is to read"}"#.utf8)
        let signed = try await identity.sign("POST", path: "/v1/echo", body: body)
        for (sent, status) in [([1], 401), (body, 200), (body, 409)] as [([UInt8], Int)] {
            #expect(try await send(signed, "POST", url + "/v1/echo", sent, recorder) == status)
        }
        let asked = try await identity.sign("POST", path: "/v1/hsi", body: body)
        var headers = JSONObject()
        for header in asked.headers { headers[header.name] = .string(header.value) }
        let question: JSON = [
            "method": "POST", "target": "/v1/hsi", "headers": .object(headers), "body": .bytes(body),
            "request_id": .string("a request id about \(asked.nonce)"),
        ]
        let backend = Recorder(try HTTPTransport(.init(unixSocket: folder + "/state/internal.sock")))
        for (token, status) in [("another-token-of-nobody", 401), (Self.token, 200)] {
            let request = HTTPRequest(
                method: "POST", url: "http://localhost/auth/v1/device/verify",
                headers: [("Authorization", "Bearer \(token)")], body: try question.encoded())
            let answer = try await backend.exchange(request, deadline: .now + .seconds(20))
            #expect(answer.status == status)
        }
        recorder.add(backend)
    }

    private func send(
        _ signed: SignedRequest, _ method: String, _ url: String, _ body: [UInt8], _ recorder: Recorder
    ) async throws -> Int {
        let request = HTTPRequest(
            method: method, url: url, headers: signed.headers.map { ($0.name, $0.value) }, body: body)
        return try await recorder.exchange(request, deadline: .now + .seconds(20)).status
    }

    /// Refusals before any device is known, and at last all kinds.
    private func refusals(_ url: String, _ recorder: Recorder) async throws {
        func post(_ path: String, _ json: JSON) async throws {
            _ = try await recorder.exchange(
                HTTPRequest(method: "POST", url: url + path, body: try json.encoded()), deadline: .now + .seconds(20))
        }
        let key = TextEncoding.base64.encode(try SoftwareKey().publicKey.derRepresentation)
        try await post("/v1/device/challenge", ["app_id": "an app that is not known here"])
        try await post(
            "/v1/device/challenge",
            ["app_id": "demo", "ek_certificates": ["MIIBMIIBMIIBMIIB"], "ak_public": "AAECAAECAAECAAEC"])
        try await post(
            "/v1/device/register", ["app_id": "demo", "challenge": "a challenge of nobody", "public_key": .string(key)])
        try await post("/v1/device/self", ["what": "a method that is not taken"])
        try await post("/v1/nothing?a-query-that-nobody-reads", ["what": "a path that is not there"])
        try await post("/ca/demo/secret", ["secret": "c2VjcmV0IHRoYXQgd2FzIG5ldmVyIGdpdmVu"])
        for _ in 0..<130 { try await post("/v1/device/challenge", [:]) }
    }

    @Test func nothingForbiddenIsWritten() async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            let scratch = try ScratchFolder()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.path
            let port = try ListeningSocket(address: "127.0.0.1", port: 0).port
            _ = try AuthorityFolder(folder + "/state")
            try configuration(port).write(to: folder + "/state/authority.json")
            let command = try Command(["serve", "--state-dir", folder + "/state"], output: folder + "/log")
            let recorder = Recorder(try HTTPTransport())
            let ids: [String]
            do {
                defer { command.end() }
                let url = "http://127.0.0.1:\(port)"
                try await wait(for: url + "/health")
                ids = try await live(url, folder, tpm, recorder)
                try await refusals(url, recorder)
            }
            try check(folder, ids, recorder, try Device(tpm))
        }
    }

    /// Waits until it is there; the suite's time limit ends a wait in vain.
    private func wait(for url: String) async throws {
        while true {
            let request = HTTPRequest(method: "GET", url: url)
            let answer = try? await HTTPTransport().exchange(request, deadline: .now + .seconds(20))
            if answer?.status == 200 { return }
            await Task.yield()
        }
    }

    private func check(_ folder: String, _ ids: [String], _ recorder: Recorder, _ device: Device) throws {
        let (log, audit) = (try TextFile.read(folder + "/log"), try TextFile.read(folder + "/state/audit.log"))
        for event in ["registered", "rotated", "device_revoked", "certificate_issued"] {
            #expect(audit.contains("\"event\":\"\(event)\""), "\(event)")
        }
        #expect(log.contains("audit head main") && ids.count == 2)
        for code in [
            "UNKNOWN_APP", "INVALID_ATTESTATION", "INVALID_CHALLENGE", "METHOD_NOT_ALLOWED", "NOT_FOUND",
            "NONCE_REPLAY",
            "INVALID_SIGNATURE", "DEVICE_REVOKED", "INVALID_REQUEST", "RATE_LIMITED", "UNKNOWN_BACKEND",
        ] { #expect(recorder.codes.contains(code), "\(code)") }

        let ek = try EndorsementKey(unverified: device.chain[0])
        var forbidden = recorder.texts.union(["\(ek.id)", Self.token])
        forbidden.formUnion(recorder.bodies.filter { $0.count >= 16 }.map { String(decoding: $0, as: UTF8.self) })
        #expect(forbidden.count > 60)
        for text in forbidden {
            // Also as its bytes in hex.
            let bytes = (try? TextEncoding.base64.decode(text)) ?? (try? TextEncoding.base64url.decode(text))
            for form in [text] + (bytes.map { [TextEncoding.hex.encode($0)] } ?? []) where form.utf8.count >= 16 {
                #expect(!log.contains(form), "\(text)")
                // Devices are named there, and nothing else is.
                #expect(ids.contains(form) || !audit.contains(form), "\(text)")
            }
        }
        // The Name of an AK is a digest of what was sent.
        for text in forbidden {
            guard let bytes = try? TextEncoding.base64.decode(text), let ak = try? PublicArea(dataRepresentation: bytes)
            else { continue }
            #expect(!(log + audit).contains(TextEncoding.hex.encode(ak.name)))
        }
    }

}
