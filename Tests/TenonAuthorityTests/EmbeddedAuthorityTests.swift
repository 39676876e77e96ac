// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

@Suite struct EmbeddedAuthorityTests {
    private func configuration(_ more: String = "") throws -> Configuration {
        let text = """
            {"origins": ["https://auth.example"], "apps": [{"id": "open", "require_attestation": false}]\(more)}
            """
        return try Configuration(parsing: Array(text.utf8))
    }

    private func post(_ authority: EmbeddedAuthority, _ path: String, _ body: JSON) async throws -> AuthorityAnswer {
        await authority.service.answer(
            AuthorityRequest(method: "POST", target: path, body: try body.encoded()), at: .public)
    }

    /// A device that was acknowledged is there after a new start, what it signed before is good no more, and the audit
    /// log tells of it.
    @Test func itKeepsWhatItSaid() async throws {
        let (folder, clock) = (try TestFolder(), FakeClock())
        let key = try SoftwareKey()
        let keyText = TextEncoding.base64.encode(key.publicKey.derRepresentation)
        let first = try await EmbeddedAuthority(configuration(), in: StateFolder(folder.path), clock: clock)
        let challenge = try await post(first, "/v1/device/challenge", ["app_id": "open"])
        let body: JSON = [
            "app_id": "open", "challenge": try #require(challenge.json["challenge"]), "public_key": .string(keyText),
            "proof": "none",
        ]
        let answer = try await post(first, "/v1/device/register", body)
        let device = TestDevice(app: "open", id: try #require(answer.json["device_id"]?.string), key: key)
        let request = try device.request("GET", "/v1/echo", at: clock.now().seconds)
        #expect(await first.service.answer(request, at: .public).verdict == "200")
        await first.close()

        clock.advance(1_000)
        let second = try await EmbeddedAuthority(configuration(), in: StateFolder(folder.path), clock: clock)
        #expect(await second.service.answer(request, at: .public).verdict == "401 CLOCK_SKEW")
        clock.advance(2_000)
        let later = try device.request("GET", "/v1/echo", at: clock.now().seconds)
        #expect(await second.service.answer(later, at: .public).verdict == "200")
        #expect(try await post(second, "/v1/device/register", body).verdict == "400 INVALID_CHALLENGE")
        await second.close()

        let keys = try #require(try AuthorityKeys(from: StateFolder(folder.path)))
        let auditKey = keys.audit.withBytes { span in span.indices.map { span[$0] } }
        var verifier = try AuditVerifier(instance: "main", key: auditKey) { head, signature throws(TenonError) in
            try keys.publicKey.verify(Signature(derRepresentation: signature.span), for: Digest(hashing: head.message))
        }
        let text = try folder.read("audit.log")
        try verifier.update(text)
        #expect(try verifier.finish().signedLines == 1)
        #expect(String(decoding: text, as: UTF8.self).contains(#""event":"registered""#))
    }

    /// security.md F2.
    @Test func aCAIsNotMadeWhereOthersAsk() async throws {
        let folder = try TestFolder()
        let other = #", "public": {"address": "0.0.0.0", "port": 1, "behind_proxy": true}"#
        let state = try StateFolder(folder.path)
        let open = try configuration(other)
        let error = await #expect(throws: TenonError.self) { try await EmbeddedAuthority(open, in: state) }
        #expect(error?.code == .configuration && error?.message.contains("ca init") == true)
        _ = try AuthorityKeys.create(in: state, name: "Example", at: 1_800_000_000)
        let authority = try await EmbeddedAuthority(open, in: state)
        await authority.close()
    }
}
