// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonAuthority
import Testing

/// `POST /api` of Auths: who may use a resource.
@Suite struct AuthsAccessTests {
    private var rig: AuthsRig { .current }

    private func send(_ rig: AuthsRig, _ members: [String: JSON]) async throws -> AuthorityAnswer {
        await rig.ask("POST", "/auths/kel/api", try JSON.members(members).encoded())
    }

    private func nonce(_ rig: AuthsRig, app: String = "kel") async throws -> String {
        let answer = await rig.ask("GET", "/auths/\(app)/v1/auth/challenge")
        #expect(answer.json["not_after"]?.string == CivilDate.iso8601(rig.seconds + 120))
        let nonce = try #require(answer.json["nonce"]?.string)
        #expect(try TextEncoding.base64url.decode(nonce).count == 32)
        return nonce
    }

    private func present(_ rig: AuthsRig, _ header: String) async -> AuthorityAnswer {
        await rig.ask("POST", "/auths/kel/api", headers: [("Authorization", header)])
    }

    @Test(.auths) func anEnvelopeIsAcceptedOnce() async throws {
        let identity = try await rig.identity()
        let payload: JSON = ["b": .number(1.5), "\u{e9}": [1, .null], "a": ["z": true, "n": .number(1e21)]]
        let envelope = try identity.envelope(at: rig.seconds, payload: payload)
        let answer = try await send(rig, envelope)
        #expect(answer.status == 200 && answer.json["identity"]?.string == identity.did)
        let again = try await send(rig, envelope)
        #expect(again.auths == "401 NONCE_REPLAY" && again.header("WWW-Authenticate") == "Bearer")
        // The other signature that everybody can compute, n - s, has the same r.
        var turned = envelope
        let text = try #require(envelope["signature"]?.string)
        turned["signature"] = .string(try Self.withOtherS(text))
        #expect(try await send(rig, turned).auths == "401 NONCE_REPLAY")
        // Members that nobody signs change nothing.
        var more = try identity.envelope(at: rig.seconds)
        more["environment"] = ["a": 1]
        more["attestation_chain"] = .null
        #expect(try await send(rig, more).status == 200)
    }

    private static func withOtherS(_ text: String) throws -> String {
        let order = try TextEncoding.hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        var bytes = try TextEncoding.hex.decode(text)
        var borrow = 0
        for index in (0..<32).reversed() {
            let value = Int(order[index]) - Int(bytes[32 + index]) - borrow
            borrow = value < 0 ? 1 : 0
            bytes[32 + index] = UInt8(value + borrow * 256)
        }
        return TextEncoding.hex.encode(bytes)
    }

    @Test(.auths) func anEnvelopeIsRefused() async throws {
        var identity = try await rig.identity()
        for offset in [Int64(-301), 301] {
            #expect(try await send(rig, identity.envelope(at: rig.seconds + offset)).auths == "401 CLOCK_SKEW")
        }
        #expect(try await send(rig, TestIdentity().envelope(at: rig.seconds)).auths == "401 NOT_REGISTERED")
        let forged = try identity.envelope(at: rig.seconds, by: SoftwareKey())
        #expect(try await send(rig, forged).auths == "401 INVALID_SIGNATURE")
        let good = try identity.envelope(at: rig.seconds)
        for (name, value, verdict) in [
            ("payload", ["a": 2], "401 INVALID_SIGNATURE"), ("type", "other", "401 INVALID_SIGNATURE"),
            ("type", nil, "400 INVALID_REQUEST"), ("version", "2.0", "400 INVALID_REQUEST"),
            ("payload", nil, "400 INVALID_REQUEST"), ("extra", 1, "400 INVALID_REQUEST"),
            ("identity", "did:key:z", "400 INVALID_REQUEST"), ("timestamp", "now", "400 INVALID_REQUEST"),
            ("signature", "00", "400 INVALID_REQUEST"), ("signature", nil, "400 INVALID_REQUEST"),
            ("payload", .integer(1 << 53), "400 INVALID_REQUEST"),
        ] as [(String, JSON?, String)] {
            var changed = good
            changed[name] = value
            #expect(try await send(rig, changed).auths == verdict, "\(name)")
        }
        // After a rotation the old key is no longer good, and the new one is.
        let old = identity.key
        #expect(try await rig.send([identity.rotate()], of: identity).status == 200)
        let byOld = try identity.envelope(at: rig.seconds, by: old)
        #expect(try await send(rig, byOld).auths == "401 INVALID_SIGNATURE")
        #expect(try await send(rig, identity.envelope(at: rig.seconds)).status == 200)
        try await rig.revoke(identity)
        #expect(try await send(rig, identity.envelope(at: rig.seconds)).auths == "403 DEVICE_REVOKED")
    }

    @Test(.auths) func aPresentationUsesItsNonce() async throws {
        let identity = try await rig.identity()
        let header = try identity.presentation(nonce: try await nonce(rig))
        let answer = await present(rig, header)
        #expect(answer.status == 200 && answer.json["credential"]?.string == identity.log.prefix)
        #expect(await present(rig, header).auths == "401 UNKNOWN_NONCE")
        let never = TextEncoding.base64url.encode([UInt8](random: 32))
        #expect(await present(rig, try identity.presentation(nonce: never)).auths == "401 UNKNOWN_NONCE")
        let elsewhere = try await nonce(rig, app: "second")
        #expect(await present(rig, try identity.presentation(nonce: elsewhere)).auths == "401 UNKNOWN_NONCE")
        let late = try identity.presentation(nonce: try await nonce(rig))
        rig.clock.advance(120_000)
        #expect(await present(rig, late).auths == "401 UNKNOWN_NONCE")
    }

    @Test func aNonceIsOfItsOrigin() async throws {
        try await AuthsRig.with(origins: #", "http://127.0.0.1:8421""#) { rig in
            let identity = try await rig.identity()
            let answer = await rig.engine.ask("GET", "/auths/kel/v1/auth/challenge", host: "127.0.0.1:8421")
            let there = try #require(answer.json["nonce"]?.string)
            #expect(await present(rig, try identity.presentation(nonce: there)).auths == "401 UNKNOWN_NONCE")
        }
    }

    @Test func aPresentationIsRefused() async throws {
        try await AuthsRig.with { rig in
            let (identity, fresh) = (try await rig.identity(), try await nonce(rig))
            // Another audience does not spend the nonce.
            let other = try identity.presentation(nonce: fresh, audience: "http://other")
            #expect(await present(rig, other).auths == "401 INVALID_SIGNATURE")
            #expect(await present(rig, try identity.presentation(nonce: fresh)).status == 200)
            let forged = try identity.presentation(nonce: try await nonce(rig), by: SoftwareKey())
            let answer = await present(rig, forged)
            #expect(answer.auths == "401 INVALID_SIGNATURE" && answer.header("WWW-Authenticate") == "Bearer")
            for (header, verdict) in [
                ("Bearer abc", "401 INVALID_SIGNATURE"), ("Auths-Presentation", "401 INVALID_SIGNATURE"),
                ("Auths-Presentation ", "400 INVALID_REQUEST"), ("Auths-Presentation e30", "400 INVALID_REQUEST"),
                ("Auths-Presentation e30=", "400 INVALID_REQUEST"),
            ] { #expect(await present(rig, header).auths == verdict, "\(header)") }
            #expect(await rig.ask("POST", "/auths/kel/api").auths == "401 INVALID_SIGNATURE")
        }
        try await AuthsRig.with(#", "audience": "api.example""#) { rig in
            let identity = try await rig.identity()
            let good = try identity.presentation(nonce: try await nonce(rig), audience: "api.example")
            #expect(await present(rig, good).status == 200)
        }
    }

    /// Data and a signature alone are accepted only where the app's record allows it, and never if the data is another
    /// message of the device.
    @Test func bareSignatures() async throws {
        func message(_ identity: TestIdentity, _ data: String) throws -> [String: JSON] {
            let signature = try identity.key.key.signature(for: Array(data.utf8))
            return [
                "did": .string(identity.did), "data": .string(data),
                "signature": .string(TextEncoding.hex.encode(signature.rawRepresentation)),
            ]
        }
        try await AuthsRig.with { rig in
            let identity = try await rig.identity()
            #expect(try await send(rig, message(identity, "hello")).auths == "403 NOT_ALLOWED")
        }
        try await AuthsRig.with(#", "bare_signatures": true"#) { rig in
            let identity = try await rig.identity()
            var hello = try message(identity, "hello")
            #expect(try await send(rig, hello).status == 200)
            hello["data"] = "hullo"
            #expect(try await send(rig, hello).auths == "401 INVALID_SIGNATURE")
            #expect(try await send(rig, message(identity, "a\0b")).auths == "400 INVALID_REQUEST")
            var envelope = try identity.envelope(at: rig.seconds - 10_000)
            let signature = try #require(envelope["signature"])
            envelope["signature"] = nil
            let text = String(decoding: try JSON.members(envelope).canonical(), as: UTF8.self)
            hello = ["did": .string(identity.did), "data": .string(text), "signature": signature]
            #expect(try await send(rig, hello).auths == "400 INVALID_REQUEST")
        }
    }
}
