// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonSynheart
import Testing

@Suite struct ServiceURLTests {
    static func read(_ url: String) throws -> (text: String, challenge: String) {
        let synheart = try Synheart(baseURL: url, appID: "app_1")
        let device = ServiceDevice(appID: "app_1", localID: "l")
        return (synheart.declaration.baseURL, try synheart.challengeRequest(device, nil).url)
    }

    /// As in docs/synheart.md: one place has one text, and one identity.
    @Test(arguments: [
        ("https://api.example.org/auth", "https://api.example.org/auth"),
        ("https://api.example.org/auth/", "https://api.example.org/auth"),
        ("https://api.example.org/auth//", "https://api.example.org/auth"),
        ("HTTPS://API.example.ORG:443/auth", "https://api.example.org/auth"),
        ("https://api.example.org/Auth", "https://api.example.org/Auth"),
        ("https://api.example.org", "https://api.example.org"), ("https://api.example.org/", "https://api.example.org"),
        ("https://api.example.org:8443/a/b-c._~1", "https://api.example.org:8443/a/b-c._~1"),
        ("https://[2001:db8::1]/x", "https://[2001:db8::1]/x"),
        ("http://127.0.0.1:8080/auth", "http://127.0.0.1:8080/auth"), ("http://localhost", "http://localhost"),
        ("http://[::1]:80/", "http://[::1]"), ("http://127.9.9.9", "http://127.9.9.9"),
    ])
    func isNormalised(_ url: String, _ text: String) throws {
        #if DevMode
            guard url.contains("127.") || url.contains("localhost") || url.contains("::1]:80") else { return }
        #endif
        let read = try Self.read(url)
        #expect(read.text == text)
        #expect(read.challenge == text + "/v1/device/challenge")
    }

    @Test(arguments: [
        "", "api.example.org", "ftp://api.example.org", "https://", "https:///auth", "http://api.example.org",
        "http://127.0.0.1.example.org", "http://0.0.0.0", "http://[::2]", "https://u@api.example.org",
        "https://api.example.org/auth?x=1", "https://api.example.org?x", "https://api.example.org/auth#x",
        "https://api.example.org/a/../b", "https://api.example.org/./b", "https://api.example.org/..",
        "https://api.example.org/a//b", "https://api.example.org//a", "https://api.example.org/a%2e",
        "https://api.example.org/a b", "https://api.example.org/é", "https://api.example.org/a;b",
        "https://api.example.org/a\r\nX: y", "https://api.example.org:0", "https://api.example.org:65536",
        "https://api.example.org/" + String(repeating: "a", count: 1024),
    ])
    func isRefused(_ url: String) {
        let error = #expect(throws: TenonError.self) { try Synheart(baseURL: url, appID: "app_1") }
        #expect(error?.code == .serviceURL)
        #expect(error?.message.contains("example") == false)
    }

    @Test(arguments: ["", " ", "a b", "é", "a\nb", "a\0", String(repeating: "a", count: 201)])
    func anAppIDIsRefused(_ appID: String) {
        let error = #expect(throws: TenonError.self) { try Synheart(baseURL: "https://localhost", appID: appID) }
        #expect(error?.code == .appID)
    }

    @Test(arguments: [
        ("https://api.example.org/v1/hsi?a=b#c", false, "/v1/hsi"),
        ("https://api.example.org/v1/hsi#c?d", false, "/v1/hsi"),
        ("https://api.example.org", false, "/"), ("https://api.example.org?a=/b", false, "/"),
        ("https://api.example.org/a%20b//c", false, "/a%20b//c"),
        ("https://api.example.org/ingest/v1/hsi", false, "/ingest/v1/hsi"),
        ("https://api.example.org/ingest/v1/hsi?x", true, "/v1/hsi"),
        ("https://api.example.org/ingest/v2/hsi", true, "/ingest/v2/hsi"),
        ("https://api.example.org/ingest", true, "/ingest"), ("https://api.example.org/v1/hsi", true, "/v1/hsi"),
        ("https://api.example.org/x/ingest/v1/hsi", true, "/x/ingest/v1/hsi"),
        ("https://api.example.org/ingest/v1/ingest/v1/a", true, "/v1/ingest/v1/a"),
    ])
    func pathsAreSigned(_ url: String, _ isStripped: Bool, _ path: String) throws {
        #expect(try SigningPath.of(url, strippingIngest: isStripped) == path)
    }

    @Test(
        arguments: [
            ("/v1/hsi", .httpURL), ("api.example.org/v1", .httpURL), ("", .httpURL), ("#x", .httpURL),
            ("https://api.example.org/a b", .httpURL), ("https://api.example.org/é", .httpURL),
            ("https://api.example.org/a\nb", .httpURL), ("https://api.example.org/a/../b", .path),
            ("https://api.example.org/.", .path), ("https://api.example.org/a/%2E%2e/b", .path),
            ("https://api.example.org/.%2e?x", .path),
        ] as [(String, TenonError.Code)])
    func otherPathsAreNot(_ url: String, _ code: TenonError.Code) {
        #expect(#expect(throws: TenonError.self) { try SigningPath.of(url) }?.code == code)
    }
}
