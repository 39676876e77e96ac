// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// Requests that devices sign.
@Suite struct SignedStepTests {
    private var rig: ServiceRig { .current }

    @Test(.service) func aSignedRequestIsGoodOnce() async throws {
        let device = try await rig.device()
        let request = try device.request("POST", "/v1/echo", [1, 2, 3], at: rig.seconds)
        let answer = await rig.ask(request)
        #expect(answer.verdict == "200" && answer.json["device_id"]?.string == device.id)
        #expect(answer.json["body_bytes"]?.integer == 3)
        // Again, and the same signature under a new nonce, which is not signed (decision: one-use).
        let other = request.with("X-Synheart-Nonce", try RequestHeaders.makeNonce())
        for again in [request, other] { #expect(await rig.ask(again).verdict == "409 NONCE_REPLAY") }
        #expect(try await rig.echo(device) == "200")
    }

    /// The order of docs/synheart.md: each request breaks one check and all later ones.
    @Test(.service) func theOrderOfChecks() async throws {
        let device = try await rig.device()
        let (now, other) = (rig.seconds, try SoftwareKey())
        var stranger = device
        stranger.key = other
        let late = try stranger.request("GET", "/v1/echo", at: now - 301)
        for (name, value, verdict) in [
            ("X-App-ID", nil, "400 INVALID_REQUEST"), ("X-Synheart-Sig-Version", "2", "400 INVALID_REQUEST"),
            ("X-App-ID", "nobody", "401 NOT_REGISTERED"), ("X-App-ID", "loose", "401 NOT_REGISTERED"),
            ("X-Device-ID", "nobody", "401 NOT_REGISTERED"),
        ] { #expect(await rig.ask(late.with(name, value)).verdict == verdict, "\(name)") }
        #expect(await rig.ask(late).verdict == "401 CLOCK_SKEW")
        #expect(try await rig.echo(stranger) == "401 INVALID_SIGNATURE")
        #expect(try await rig.echo(device) == "200")
        #expect(try await rig.revoke(device).verdict == "200")
        #expect(await rig.ask(late).verdict == "403 DEVICE_REVOKED")
        #expect(try await rig.register(device.key.publicKey).verdict == "403 DEVICE_REVOKED")
    }

    @Test(.service) func headersThatAreNone() async throws {
        let device = try await rig.device()
        let request = try device.request("GET", "/v1/echo", at: rig.seconds)
        for name in [
            "X-App-ID", "X-Device-ID", "X-Synheart-Signature", "X-Synheart-Timestamp", "X-Synheart-Nonce",
            "X-Synheart-Sig-Version",
        ] {
            for value in [nil, "", "x y", "\u{e9}"] {
                #expect(await rig.ask(request.with(name, value)).verdict == "400 INVALID_REQUEST", "\(name)")
            }
            var twice = request
            twice.headers += twice.headers.filter { $0.name == name }.map { ($0.name.lowercased(), $0.value) }
            #expect(await rig.ask(twice).verdict == "400 INVALID_REQUEST", "\(name)")
        }
        // No attempt used up the nonce.
        #expect(await rig.ask(request).verdict == "200")
    }

    /// Changes to each signed part.
    @Test(.service) func tampering() async throws {
        let device = try await rig.device()
        let now = rig.seconds
        let good = try device.request("POST", "/v1/echo", [1], at: now)
        var changed = [good, good, good, good.with("X-Synheart-Timestamp", String(now + 1))]
        (changed[0].body, changed[1].method, changed[2].target) = ([2], "PUT", "/auth/v1/echo")
        for request in changed { #expect(await rig.ask(request).verdict == "401 INVALID_SIGNATURE") }
        #expect(await rig.ask(good).verdict == "200")
    }

    @Test(.service, arguments: [(-300, "200"), (300, "200"), (-301, "401 CLOCK_SKEW"), (301, "401 CLOCK_SKEW")])
    func theEdgesOfTime(_ offset: Int64, _ verdict: String) async throws {
        let device = try await rig.device()
        // The first request of an instance tells it what earlier ones accepted.
        #expect(try await rig.echo(device) == "200")
        let answer = await rig.ask(try device.request("GET", "/v1/echo", at: rig.seconds + offset))
        #expect(answer.verdict == verdict)
        if answer.status == 401 { #expect(answer.json["server_timestamp"]?.integer == rig.seconds) }
    }

    /// A query is not signed.
    @Test(.service) func queries() async throws {
        for (app, method, verdict) in [
            ("open", "POST", "400 INVALID_REQUEST"), ("open", "GET", "200"), ("loose", "POST", "200"),
            ("open", "HEAD", "200"), ("open", "DELETE", "400 INVALID_REQUEST"),
            // Every method that does not promise to be read-only, because a backend may change something.
            ("open", "OPTIONS", "400 INVALID_REQUEST"), ("open", "PROPPATCH", "400 INVALID_REQUEST"),
            ("open", "MOVE", "400 INVALID_REQUEST"), ("loose", "MOVE", "200"),
        ] {
            let device = try await rig.device(app)
            let request = try device.request(method, "/v1/echo", at: rig.seconds, target: "/v1/echo?a=b")
            #expect(await rig.ask(request).verdict == verdict, "\(app) \(method)")
        }
    }

    @Test(.service) func aRotation() async throws {
        var device = try await rig.device()
        let (old, new) = (device.key, try SoftwareKey())
        rig.clock.advance(1_000)
        // The answer was lost: either key asks again (decision: own-endpoints).
        for _ in 0..<2 {
            let answer = try await rig.rotate(device, to: new)
            #expect(answer.verdict == "200" && answer.json["status"]?.string == "rotated")
            #expect(answer.json["effective_at"]?.integer == rig.seconds)
        }
        let own = await rig.ask(try device.request("GET", "/v1/device/self", at: rig.seconds))
        #expect(try own.json["key_thumbprint"]?.string == new.publicKey.thumbprint)
        // The old key settles that, and signs nothing else any more.
        #expect(try await rig.echo(device) == "401 INVALID_SIGNATURE")
        #expect(try await rig.rotate(device, to: SoftwareKey()).verdict == "409 ROTATION_FAILED")
        device.key = new
        #expect(try await rig.rotate(device, to: new).verdict == "200")
        #expect(try await rig.echo(device) == "200")
        #expect(try await rig.rotate(device, to: old).verdict == "409 ROTATION_FAILED")
        #expect(try await rig.register(old.publicKey).verdict == "403 REGISTRATION_REJECTED")
    }

    @Test(.service) func rotationsThatAreNone() async throws {
        let device = try await rig.device()
        let key = try SoftwareKey().publicKey
        let text = TextEncoding.base64.encode(key.derRepresentation)
        for (app, id, key) in [
            ("loose", device.id, text), ("open", "x", text), ("open", device.id, "AAAA"),
            ("open", device.id, TextEncoding.base64.encode(key.x963Representation)),
        ] {
            let body: JSON = ["app_id": .string(app), "device_id": .string(id), "new_public_key": .string(key)]
            let request = try device.request("POST", "/v1/device/rotate-key", body.encoded(), at: rig.seconds)
            #expect(await rig.ask(request).verdict == "400 INVALID_REQUEST")
        }
        // A signature by the new key alone does not rotate.
        var thief = device
        thief.key = try SoftwareKey()
        #expect(try await rig.rotate(thief, to: thief.key).verdict == "401 INVALID_SIGNATURE")
        #expect(try await rig.echo(device) == "200")
    }

    /// Of two simultaneous rotations, one succeeds, and the device has its key.
    @Test(.service) func rotationsThatRace() async throws {
        let device = try await rig.device()
        let keys = try (0..<8).map { _ in try SoftwareKey() }
        let requests = try keys.map { try device.rotation(to: $0.publicKey, at: rig.seconds) }
        let won = await withTaskGroup(of: (Int, String).self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask { (index, await rig.ask(request).verdict) }
            }
            return await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
        }
        let winners = won.filter { $0.value == "200" }.keys
        let winner = try #require(winners.first)
        #expect(winners.count == 1)
        #expect(won.values.filter { $0 == "409 ROTATION_FAILED" }.count == 7)
        let stored = try #require(try await rig.stores.devices.device(app: "open", id: device.id))
        #expect(stored.publicKey == keys[winner].publicKey)
    }

    /// If one request is sent 64 times at once, one is accepted.
    @Test(.service) func replaysThatRace() async throws {
        let request = try await rig.device().request("POST", "/v1/echo", [1], at: rig.seconds)
        let verdicts = await withTaskGroup(of: String.self) { group in
            for _ in 0..<64 { group.addTask { await rig.ask(request).verdict } }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(verdicts == ["200": 1, "409 NONCE_REPLAY": 63])
    }

    /// A key that is too old may only identify itself and rotate.
    @Test(.service) func keysThatAreTooOld() async throws {
        var device = try await rig.device()
        rig.clock.advance(90 * 86_400_000)
        #expect(try await rig.echo(device) == "200")
        rig.clock.advance(1_000)
        #expect(try await rig.echo(device) == "403 KEY_EXPIRED")
        #expect(try await rig.echo(device, "/v1/device/self") == "200")
        let new = try SoftwareKey()
        #expect(try await rig.rotate(device, to: new).verdict == "200")
        device.key = new
        #expect(try await rig.echo(device) == "200")
    }

    /// A retired key that signs after requests under way have ended: somebody has a copy (decision: copied-key).
    @Test(.service) func aRetiredKeyIsAnAlarm() async throws {
        let device = try await rig.device()
        #expect(try await rig.rotate(device, to: SoftwareKey()).verdict == "200")
        func alarms() async -> Bool { await !rig.metrics().contains("retired_key_uses_total 0\n") }
        // A request that was under way is not an alarm.
        #expect(try await rig.echo(device) == "401 INVALID_SIGNATURE")
        #expect(await !alarms())
        rig.clock.advance(601_000)
        #expect(try await rig.echo(device) == "401 INVALID_SIGNATURE")
        #expect(await alarms())
        // A caller that rotates to another key than the device did has a copy; a caller that asks which key is held
        // may be the device.
        #expect(try await rig.rotate(device, to: SoftwareKey()).verdict == "409 ROTATION_FAILED")
        #expect(try await rig.echo(device, "/v1/device/self") == "200")
        let use = try await rig.stores.devices.retiredKeyUsed(device.key.publicKey, at: rig.clock.now())
        #expect(use == .alarm(deviceID: device.id, uses: 3))
    }

    /// A store that cannot be asked: the request is refused, and there is no way around it
    /// (decision: forgetful-stores).
    @Test(.service) func storesThatFail() async throws {
        let device = try await rig.device()
        var stores = rig.stores
        stores.replays = BrokenReplays()
        let broken = rig.service(on: stores)
        let request = try device.request("POST", "/v1/echo", at: rig.seconds)
        let answer = await broken.answer(request, at: .public)
        #expect(answer.verdict == "503 UNAVAILABLE" && answer.header("Retry-After") == "7")
        #expect(answer.header("x-server-timestamp") == String(rig.seconds))
        // The request was not accepted, so it still can be.
        #expect(await rig.ask(request).verdict == "200")
        stores.challenges = BrokenChallenges()
        let body = try JSON.members(["app_id": "open"]).encoded()
        let challenge = await rig.service(on: stores).answer(
            AuthorityRequest(method: "POST", target: "/v1/device/challenge", body: body), at: .public)
        #expect(challenge.verdict == "503 UNAVAILABLE" && challenge.json["challenge"] == nil)
    }
}

struct BrokenReplays: ReplayStore {
    func remember(_ use: SignedUse) async throws(TenonError) -> SignedUse.Outcome {
        throw TenonError(.storeFailed, message: "", retryAfter: .seconds(7))
    }
}

private struct BrokenChallenges: ChallengeStore {
    func put(_ entry: ChallengeEntry, under key: Digest) async throws(TenonError) {
        throw TenonError(.storePermission, message: "")
    }

    func take(_ purpose: ChallengeEntry.Purpose, under key: Digest) async throws(TenonError) -> ChallengeEntry? {
        throw TenonError(.storePermission, message: "")
    }
}
