// SPDX-License-Identifier: Apache-2.0
import TestFolders
import Testing

@testable import Tenon
@testable import TenonCommand
@testable import TenonCommandLine

/// `tenon verify-request` with requests of a key: good ones are accepted, and each rule refuses what breaks it.
@Suite struct VerifyRequestTests {
    /// A request as `tenon sign --json` prints it, and what the verifier is told beside it.
    private struct Shown {
        var method = "POST"
        var url = "https://api.example/v1/x?a=1"
        var headers: [(name: String, value: String)] = []
        var body = "text"
        /// The bytes in `Signature`.
        var bytes: [UInt8]
        var key: PublicKey
        var host = "api.example"
        var at = Self.time

        static let time: Int64 = 1_790_000_000

        /// Changes the value of a header; nil takes it away.
        mutating func set(_ name: String, _ change: (String) -> String?) {
            guard let at = headers.firstIndex(where: { $0.name == name }) else { return }
            if let value = change(headers[at].value) { headers[at].value = value } else { headers.remove(at: at) }
        }

        var json: JSON {
            var members = JSONObject()
            for (name, value) in headers { members[name] = .string(value) }
            members["Signature"] = members["Signature"] ?? .string("tenon=:\(TextEncoding.base64.encode(bytes)):")
            return ["method": .string(method), "url": .string(url), "headers": .object(members)]
        }
    }

    private func shown(_ base: SignatureBase, _ value: String, _ key: SoftwareKey) throws -> Shown {
        var shown = Shown(
            bytes: try TextEncoding.base64.decode(String(value.dropFirst(7).dropLast())), key: key.publicKey)
        shown.headers = [
            ("X-App-ID", base.appID), ("X-Device-ID", base.deviceID), ("X-Synheart-Sig-Version", "2"),
            ("Content-Digest", base.contentDigest), ("Signature-Input", base.input),
        ]
        return shown
    }

    private func base(_ form: RequestForm, _ key: SoftwareKey) throws -> SignatureBase {
        try SignatureBase(
            RequestTarget("POST", authority: "api.example", path: "/v1/x", query: "a=1"),
            content: Digest(hashing: Array("text".utf8)), appID: "app", deviceID: "dev",
            thumbprint: key.publicKey.thumbprint, created: Shown.time, form: form)
    }

    /// The second request of a batch of three.
    private func member() async throws -> Shown {
        let key = try SoftwareKey()
        let bases = try (0..<3).map { _ in try base(.batch, key) }
        let signature = try await key.signature(for: RequestBatch { bases })
        return try shown(bases[1], signature.value(at: 1), key)
    }

    private func answer(_ shown: Shown) async throws -> Answer {
        try await withFolder { folder in
            func write(_ text: String, _ name: String) throws -> String {
                try text.write(to: "\(folder)/\(name)")
                return "\(folder)/\(name)"
            }
            let request = try write(String(decoding: try shown.json.encoded(), as: UTF8.self), "request.json")
            let words = [
                request, "--key", try write(shown.key.pemRepresentation, "key.pem"), "--data", shown.body, "--host",
                shown.host, "--at", String(shown.at),
            ]
            let verb = try #require(Program.tenon.verbs.first { $0.name == "verify-request" })
            return try VerifyRequestCommand.answer(Arguments(words, of: verb, in: .tenon))
        }
    }

    @Test func goodRequestsAreAccepted() async throws {
        let (key, member) = (try SoftwareKey(), try await member())
        let base = try base(.plain, key)
        let plain = try shown(base, base.value(of: try key.blockingSignature(for: base)), key)
        let answers = [try await answer(plain), try await answer(member)]
        #expect(answers.map(\.category) == [nil, nil])
        #expect(answers[0].lines[0] == "accepted: a plain request, signed by this key")
        #expect(answers[1].lines[0] == "accepted: request 2 of a batch of 3, signed by this key")
    }

    private struct Change: CustomTestStringConvertible, Sendable {
        let rule: Int
        let testDescription: String
        let change: @Sendable (inout Shown) -> Void

        init(_ rule: Int, _ what: String, _ change: @escaping @Sendable (inout Shown) -> Void) {
            (self.rule, testDescription, self.change) = (rule, what, change)
        }

        /// A change of the text of `Signature-Input`.
        init(_ rule: Int, _ what: String, input: @escaping @Sendable (String) -> String) {
            self.init(rule, what) { $0.set("Signature-Input", input) }
        }
    }

    private static let changes: [Change] =
        ["X-App-ID", "X-Device-ID", "Content-Digest", "Signature-Input"].map { name in
            Change(1, "without \(name)") { $0.set(name) { _ in nil } }
        } + [
            Change(1, "a header twice") { $0.headers.append(("content-digest", "sha-256=:=:")) },
            Change(1, "another digest") { $0.set("Content-Digest") { $0.replacing("256", with: "512") } },
            Change(1, "no base64 in the digest") { $0.set("Content-Digest") { String($0.dropLast(3)) + "*=:" } },
            Change(1, "two content types") {
                $0.headers += [("Content-Type", "text/plain"), ("content-type", "text/plain")]
            },
            Change(1, "a long text", input: { $0 + String(repeating: " ", count: 300) }),
            Change(2, "a header of version 1") { $0.headers.append(("X-Synheart-Nonce", "x")) },
            Change(3, "alg", input: { $0.replacing(";tag=", with: ";alg=\"ecdsa-p256-sha256\";tag=") }),
            Change(3, "a second member", input: { $0 + ", b=()" }),
            Change(4, "a type that is not covered") { $0.headers.append(("Content-Type", "text/plain")) },
            Change(4, "a type that is not there") {
                $0.set("Signature-Input") { $0.replacing("digest\"", with: "digest\" \"content-type\"") }
            },
            Change(5, "301 seconds", input: { $0.replacing("1790000300", with: "1790000301") }),
            Change(5, "no time at all", input: { $0.replacing("1790000300", with: "1790000000") }),
            Change(6, "a method in small letters") { $0.method = "post" },
            Change(6, "an escape that is not needed") { $0.url = "https://api.example/v1/%78?a=1" },
            Change(6, "dots") { $0.url = "https://api.example/v1/./x?a=1" },
            Change(7, "another service") { $0.host = "other.example" },
            Change(7, "another service, and a broken value") { ($0.host, $0.bytes) = ("other.example", []) },
            Change(8, "no base64") { $0.headers.append(("Signature", "tenon=:*:")) },
            Change(8, "31 bytes of a step") { $0.bytes.removeLast() },
            Change(8, "a plain value") { $0.bytes.removeLast($0.bytes.count - 64) },
            Change(9, "size 0") { $0.bytes.replaceSubrange(64..<66, with: [0, 0]) },
            Change(9, "size 1025") { $0.bytes.replaceSubrange(64..<66, with: [4, 1]) },
            Change(10, "the index is the size") { $0.bytes[67] = 3 },
            Change(11, "a step less") { $0.bytes.removeLast(32) },
            Change(11, "a step more") { $0.bytes += [UInt8](repeating: 1, count: 32) },
            Change(12, "r is 0") { $0.bytes.replaceSubrange(0..<32, with: [UInt8](repeating: 0, count: 32)) },
            Change(13, "s is high") {
                $0.bytes.replaceSubrange(32..<64, with: [0xff, 0xff, 0xff, 0xff] + [UInt8](repeating: 0, count: 28))
            },
            Change(17, "another key") { if let other = try? SoftwareKey() { $0.key = other.publicKey } },
            Change(18, "too late") { $0.at += 301 },
            Change(18, "too early") { $0.at -= 301 },
            Change(19, "another method") { $0.method = "PUT" },
            Change(19, "another query") { $0.url = "https://api.example/v1/x?a=2" },
            Change(19, "no query") { $0.url = "https://api.example/v1/x" },
            Change(19, "another device") { $0.set("X-Device-ID") { _ in "dev2" } },
            Change(19, "another step") { $0.bytes[100] ^= 1 },
            Change(19, "another place") { $0.bytes[67] = 0 },
            Change(20, "another body") { $0.body = "Text" },
        ]

    @Test(arguments: changes) private func eachRefusalNamesItsRule(_ change: Change) async throws {
        var shown = try await member()
        change.change(&shown)
        let answer = try await answer(shown)
        #expect(answer.json["accepted"] == false && answer.json["rule"]?.integer == Int64(change.rule))
        #expect(answer.category == .rejected)
        #expect(answer.lines[0].hasPrefix("refused by rule \(change.rule): "))
    }

    /// What is not a request, or not a key, is a mistake of the caller and no refusal.
    @Test func whatIsNoRequestIsRefusedByNoRule() async throws {
        var shown = try await member()
        shown.url = "no url"
        await #expect(throws: TenonError.self) { try await answer(shown) }
    }
}
