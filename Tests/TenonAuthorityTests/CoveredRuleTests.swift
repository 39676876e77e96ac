// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// Requests of signature version 2 that break one rule of docs/signing.md, each refused by that rule.
@Suite struct CoveredRuleTests {
    private var rig: CoveredRig { .current }

    private typealias Change = (String, (inout CoveredSigned) throws -> Void, String)

    private static func rule(_ number: Int) -> String { "INVALID_REQUEST signing_rule_\(number)" }
    private static let signature = "INVALID_SIGNATURE signing_rule_19"
    private static let invalid = "INVALID_REQUEST invalid_request"

    /// Refuses each change of a good request, and then takes the request itself: nothing was used up.
    private func refuses(
        _ changes: [Change], of size: Int = 5, _ draft: (inout CoveredDraft) -> Void = { _ in }
    ) async throws {
        try await CoveredRig.with { rig in
            let good = try rig.batch(size, draft)[3 % size]
            for (name, change, expected) in changes {
                #expect(try await rig.ask(good.with(change)) == expected, "\(name)")
            }
            #expect(try await rig.ask(good) == "200")
            #expect(try await rig.ask(good) == "NONCE_REPLAY nonce_replay")
        }
    }

    private static func input(_ signed: CoveredSigned, _ old: String, _ new: String) -> String {
        "tenon=" + signed.draft.parameters.replacing(old, with: new)
    }

    @Test func headersOfTheRequest() async throws {
        var changes: [Change] = [
            "X-App-ID", "X-Device-ID", "X-Synheart-Sig-Version", "Content-Digest", "Signature-Input", "Signature",
        ].flatMap { name -> [Change] in
            [
                ("without \(name)", { $0.changes[name] = .some(nil) }, Self.rule(1)),
                (
                    "\(name) twice",
                    { $0.changes[name.lowercased()] = try $0.headers.first { $0.name == name }?.value }, Self.invalid
                ),
            ]
        }
        changes += ["X-Synheart-Signature", "X-Synheart-Timestamp", "x-synheart-nonce"].map { name in
            ("beside \(name)", { $0.changes[name] = "1" }, Self.rule(2))
        }
        changes += [
            ("version 1", { $0.changes["X-Synheart-Sig-Version"] = "1" }, Self.rule(1)),
            ("folded", { $0.changes["X-Synheart-Sig-Version"] = "2, 2" }, Self.rule(1)),
            ("folded digest", { $0.changes["Content-Digest"] = "a, b" }, Self.rule(1)),
            ("two", { $0.changes["Content-Digest"] = try "\($0.draft.contentDigest), sha-512=::" }, Self.rule(1)),
            ("no id", { $0.changes["X-Device-ID"] = "" }, Self.rule(1)),
            ("1 MiB", { $0.changes["Signature-Input"] = String(repeating: "a", count: 1_025) }, Self.invalid),
            ("no type", { $0.changes["Content-Type"] = "" }, Self.rule(4)),
        ]
        try await refuses(changes)
    }

    @Test func theTemplate() async throws {
        let inputs: [(String, (CoveredSigned) -> String)] = [
            ("order", { Self.input($0, #""@method" "@authority""#, #""@authority" "@method""#) }),
            ("alg", { Self.input($0, ";tag=", #";alg="ecdsa";tag="#) }),
            ("no query", { Self.input($0, #""@query" "#, "") }), ("spaces", { Self.input($0, #"" ""#, #""  ""#) }),
            ("created", { Self.input($0, "created=", "created=0") }),
            ("second member", { Self.input($0, "", "") + ", b=()" }),
            ("upper case", { Self.input($0, $0.draft.nonce, $0.draft.nonce.uppercased()) }),
            ("too long", { Self.input($0, "", "") + String(repeating: " ", count: 300) }),
        ]
        let changes: [Change] = inputs.map { name, input in
            (name, { $0.changes["Signature-Input"] = input($0) }, Self.rule(3))
        }
        try await refuses(changes) { $0.nonce = "0abcdefa-bcde-4abc-8def-abcdefabcdef" }
    }

    @Test func contentHeaders() async throws {
        try await refuses([
            ("type added", { $0.changes["content-type"] = "text/plain" }, Self.rule(4)),
            ("encoding added", { $0.changes["Content-Encoding"] = "gzip" }, Self.rule(4)),
        ])
        try await refuses([
            ("type removed", { $0.changes["Content-Type"] = .some(nil) }, Self.rule(4)),
            ("encoding removed", { $0.changes["Content-Encoding"] = .some(nil) }, Self.rule(4)),
            ("type changed", { $0.changes["Content-Type"] = "text/html" }, Self.signature),
        ]) { ($0.contentType, $0.contentEncoding) = ("application/json", "gzip") }
    }

    @Test func theValueOfASignature() async throws {
        let rule = Self.rule
        let order = try TextEncoding.hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let zeros = [UInt8](repeating: 0, count: 32)
        try await refuses([
            ("31 bytes", { $0.bytes.removeLast() }, rule(8)),
            ("plain", { $0.bytes.removeLast($0.bytes.count - 64) }, rule(8)),
            ("11 steps", { $0.bytes += zeros + zeros + zeros + zeros + zeros + zeros + zeros + zeros }, rule(8)),
            ("not base64", { $0.changes["Signature"] = "tenon=:*:" }, rule(8)),
            ("size 0", { $0.bytes.replaceSubrange(64..<66, with: [0, 0]) }, rule(9)),
            ("size 1025", { $0.bytes.replaceSubrange(64..<66, with: [4, 1]) }, rule(9)),
            ("index", { $0.bytes.replaceSubrange(66..<68, with: [0, 5]) }, rule(10)),
            ("a step more", { $0.bytes += zeros }, rule(11)), ("a step less", { $0.bytes.removeLast(32) }, rule(11)),
            ("r 0", { $0.bytes.replaceSubrange(0..<32, with: zeros) }, rule(12)),
            ("s n", { $0.bytes.replaceSubrange(32..<64, with: order) }, rule(12)),
            ("n - s", { $0.bytes.replaceSubrange(32..<64, with: Self.difference(order, $0.bytes[32..<64])) }, rule(13)),
        ])
    }

    /// Of two big-endian numbers.
    private static func difference(_ left: [UInt8], _ right: ArraySlice<UInt8>) -> [UInt8] {
        var (result, borrow): ([UInt8], Int) = ([], 0)
        for (left, right) in zip(left.reversed(), right.reversed()) {
            let value = Int(left) - Int(right) - borrow
            (borrow, result) = (value < 0 ? 1 : 0, result + [UInt8(truncatingIfNeeded: value)])
        }
        return result.reversed()
    }

    /// Whatever is changed on the way, with the root known and with it unknown.
    @Test func changesOnTheWay() async throws {
        let rule = Self.signature
        let changes: [Change] = [
            ("method", { $0.draft.method = "PUT" }, rule),
            ("host", { $0.draft.authority = "other.example:8443" }, rule),
            ("path", { $0.draft.path += "x" }, rule), ("query", { $0.draft.query = "?a=b" }, rule),
            ("content digest", { $0.draft.body = [1] }, rule), ("created", { $0.draft.created += 1 }, rule),
            ("expires", { $0.draft.expires -= 1 }, rule),
            ("nonce", { $0.draft.nonce = try RequestHeaders.makeNonce() }, rule),
            ("form", { ($0.draft.tag, $0.bytes) = ("tenon", Array($0.bytes[..<64])) }, rule),
            ("index", { $0.bytes[67] = 2 }, rule), ("size", { $0.bytes[65] = 6 }, rule),
            ("bit of the path", { $0.bytes[70] ^= 1 }, rule),
            (
                "steps",
                { $0.bytes = Array($0.bytes[..<68] + $0.bytes[100..<132] + $0.bytes[68..<100] + $0.bytes[132...]) },
                rule
            ),
            ("inner node", { $0.bytes = Array($0.bytes[..<64] + [0, 3, 0, 1] + $0.bytes[100...]) }, rule),
            ("signature", { $0.bytes[5] ^= 1 }, rule),
            ("key", { $0.draft.keyID = try SoftwareKey().publicKey.thumbprint }, "INVALID_SIGNATURE signing_rule_17"),
            ("device", { $0.draft.device = "nobody" }, "NOT_REGISTERED not_registered"),
        ]
        try await refuses(changes)
        try await CoveredRig.with { rig in
            let batch = try rig.batch(5)
            #expect(try await rig.ask(batch[0]) == "200")
            for (name, change, expected) in changes {
                #expect(try await rig.ask(batch[3].with(change)) == expected, "\(name), known root")
            }
            let sibling = batch[3].with { $0.bytes = batch[2].bytes }
            #expect(try await rig.ask(sibling) == rule)
            #expect(try await rig.ask(batch[3]) == "200")
        }
    }

    @Test func theContentAndTheUse() async throws {
        try await refuses([
            ("another body", { $0.sentBody = [1] }, Self.rule(20)), ("no body", { $0.sentBody = [] }, Self.rule(20)),
        ])
    }

    /// Wrong requests that the key itself signed: without the rule, each would be accepted.
    @Test func signedSo() async throws {
        let (malformed, skew) = (Self.rule, "CLOCK_SKEW clock_skew")
        let unqueried = ["@method", "@authority", "@path", "content-digest", "x-app-id", "x-device-id"]
        try await CoveredRig.with { rig in
            let other = try await rig.rig.device("open", versions: [1, 2])
            let drafts: [(String, (inout CoveredDraft) -> Void, String)] = [
                ("no query", { $0.components = unqueried }, malformed(3)),
                ("301 s", { $0.expires = $0.created + 301 }, malformed(5)),
                ("0 s", { $0.expires = $0.created }, malformed(5)),
                ("dots", { $0.path = "/ingest/../v1" }, malformed(6)),
                ("escaped letter", { $0.path = "/ingest/%41" }, malformed(6)),
                ("lower-case escape", { $0.path = "/ingest/%2f" }, malformed(6)),
                ("bracket", { $0.query = "?a[" }, malformed(6)), ("method", { $0.method = "post" }, malformed(6)),
                ("another host", { $0.authority = "evil.example" }, "NOT_ALLOWED signing_rule_7"),
                ("another app", { $0.app = "loose" }, "NOT_REGISTERED not_registered"),
                ("another device", { $0.device = other.id }, "INVALID_SIGNATURE signing_rule_17"),
                ("301 s old", { ($0.created, $0.expires) = ($0.created - 301, $0.expires - 301) }, skew),
                ("301 s early", { ($0.created, $0.expires) = ($0.created + 301, $0.expires + 301) }, skew),
                ("expired", { ($0.created, $0.expires) = ($0.created - 20, $0.created - 1) }, skew),
            ]
            for (name, change, expected) in drafts {
                let draft = try CoveredDraft(rig.device, at: rig.seconds).with(change)
                #expect(try await rig.ask(rig.device.plain(draft)) == expected, "\(name), plain")
                #expect(try await rig.ask(rig.device.batch([draft])[0]) == expected, "\(name)")
            }
            var typed = try CoveredDraft(rig.device, at: rig.seconds)
            let uncovered = try rig.device.batch([typed])[0].with { $0.changes["Content-Type"] = "text/plain" }
            #expect(try await rig.ask(uncovered) == malformed(4))
            typed.keyID = try other.key.publicKey.thumbprint
            #expect(try await rig.ask(rig.device.batch([typed])[0]) == "INVALID_SIGNATURE signing_rule_17")
            let foreign = try CoveredDraft(rig.device, at: rig.seconds)
            for signed in [
                try other.batch([foreign])[0], try other.plain(foreign),
                try rig.device.batch([foreign], isBare: true)[0],
            ] { #expect(try await rig.ask(signed) == Self.signature) }
            #expect(try await rig.ask(rig.device.batch([foreign])[0]) == "200")
        }
    }

    /// One leaf twice in a tree is two requests, by the signer's own choice.
    @Test(.covered) func oneLeafTwice() async throws {
        let draft = try CoveredDraft(rig.device, at: rig.seconds)
        for signed in try rig.device.batch([draft, draft, draft]) {
            #expect(try await rig.ask(signed) == "200")
            #expect(try await rig.ask(signed) == "NONCE_REPLAY nonce_replay")
        }
    }

    /// The edges of what is accepted.
    @Test(.covered) func goodOnes() async throws {
        for size in [1, 2, 3, 5, 8, 33, 1_024] {
            let batch = try rig.batch(size) { $0.contentType = "application/json" }
            for index in Set([0, size / 2, size - 1]).sorted() {
                #expect(try await rig.ask(batch[index]) == "200", "\(index) of \(size)")
            }
        }
        for change: (inout CoveredDraft) -> Void in [
            { ($0.created, $0.expires) = ($0.created - 300, $0.created) },
            { ($0.created, $0.expires) = ($0.created + 300, $0.created + 301) },
            { $0.query = "?a=b&c=%2F" }, { $0.path = "/ingest/%20/a;b" }, { ($0.method, $0.body) = ("GET", []) },
            { ($0.contentType, $0.contentEncoding) = ("a/b; c=\"d\"", "br") },
            { $0.authority = "other.example:8443" },
        ] {
            let draft = try CoveredDraft(rig.device, at: rig.seconds).with(change)
            #expect(try await rig.ask(rig.device.plain(draft)) == "200")
            #expect(try await rig.ask(rig.device.batch([draft, draft])[1]) == "200")
            #expect(try await rig.ask(rig.device.plain(draft)) == "NONCE_REPLAY nonce_replay")
        }
    }
}
