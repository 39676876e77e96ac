// SPDX-License-Identifier: Apache-2.0
import SynheartAuth
import Tenon
import TenonAuthority
import TenonSynheart
import TenonTPM
import Testing

/// A device at a running authority, over HTTP, on both kinds of stores and in both dialects.
@Suite(.timeLimit(.minutes(1))) struct ServedDeviceTests {
    private var world: ServedWorld { .current }

    /// The app in which a device of this dialect may rotate: `docs` has no place for the new key's proof.
    private func app(_ dialect: Dialect) -> String { dialect == .tenon ? "demo" : "marked" }

    @Test(arguments: Stores.allCases, [Dialect.docs, .tenon])
    func registersSignsAndRotates(_ stores: Stores, _ dialect: Dialect) async throws {
        try await ServedWorld.with(stores) { world in
            let identity = try world.identity(dialect)
            let registered = try await identity.register()
            #expect(registered.status == .registered)
            try await world.expectSigns(identity)
            if dialect == .tenon {
                try await identity.rotate()
            } else {
                // An attested device stays attested (decision: never-weaker).
                let error = await errorAwaited { try await identity.rotate() }
                #expect(error?.code == .attestationFailed)
            }
            try await world.expectSigns(identity)
            // Another process of the same device.
            let again = try world.identity(dialect)
            #expect(try await again.register().status == .alreadyRegistered)
            #expect(again.deviceID == registered.deviceID)
            try await again.maintain()
            try await world.expectSigns(again)
            #expect(try await world.devices().count == 1)
        }
    }

    /// An operator lets a device in, or turns it away; until then it has no id, signs nothing, and asks with the same
    /// key.
    @Test(arguments: Stores.allCases, [Dialect.docs, .tenon])
    func anOperatorDecides(_ stores: Stores, _ dialect: Dialect) async throws {
        try await ServedWorld.with(stores) { world in
            let identity = try world.identity(dialect, app: "approved")
            func refusal(_ identity: DeviceIdentity) async -> TenonError.Code? {
                await errorAwaited { try await identity.register() }?.code
            }
            // Nor does its attestation key get a certificate.
            world.wire.change("/device/register") { answer throws(TenonError) in
                #expect(!String(decoding: answer.body, as: UTF8.self).contains("ak_certificate"))
                return answer
            }
            for _ in 0..<2 { #expect(await refusal(identity) == .registrationPending) }
            #expect(!identity.isRegistered)
            let waiting = try await world.authorities[0].admin("GET", "/v1/devices?state=pending")
            let id = try #require(waiting["devices"]?.array?.first?["device_id"]?.string)
            #expect(waiting["devices"]?.array?.count == 1)
            func decide(_ decision: String, _ id: String) async throws {
                _ = try await world.authorities[0].admin(
                    "POST", "/v1/decide", ["device_id": .string(id), "decision": .string(decision)])
            }
            try await decide("approve", id)
            let registered = try await identity.register()
            #expect(registered.status == .registered && registered.deviceID == id)
            try await world.expectSigns(identity)
            if dialect == .tenon { try await identity.rotate() }

            let second = try world.identity(dialect, app: "approved", in: "other")
            #expect(await refusal(second) == .registrationPending)
            let next = try await world.authorities[0].admin("GET", "/v1/devices?state=pending")
            try await decide("reject", try #require(next["devices"]?.array?.first?["device_id"]?.string))
            #expect(await refusal(second) == .registrationRejected)
            #expect(!second.isRegistered)
            // With another key, it waits again.
            #expect(await refusal(second) == .registrationPending)
            #expect(
                try await world.devices("approved").map { $0["state"]?.string } == ["active", "rejected", "pending"])
        }
    }

    /// The device is so slow that its challenge expires: it gets another one, and the key stays.
    @Test(arguments: Stores.allCases, [Dialect.docs, .tenon])
    func aChallengeThatCameTooLate(_ stores: Stores, _ dialect: Dialect) async throws {
        try await ServedWorld.with(stores) { world in
            let identity = try world.hurried(dialect)
            world.wire.change("/device/challenge") { answer throws(TenonError) in
                world.clock.shift(by: 91)
                return answer
            }
            world.wire.change("/device/register") { answer throws(TenonError) in
                #expect(answer.status == 400 && answer.headers.contains { $0.value == "CHALLENGE_EXPIRED" })
                return answer
            }
            #expect(try await identity.register().status == .registered)
            #expect(world.wire.paths.count { $0.hasSuffix("/device/challenge") } == 2)
            #expect(try await world.devices().count == 1)
        }
    }

    /// A device says which key is the parent of its own, where it registers and where it rotates.
    @Test(.world) func theHierarchyIsShown() async throws {
        let identity = try world.identity(.tenon, app: "owned")
        #expect(try await identity.register().status == .registered)
        try await identity.rotate()
        try await world.expectSigns(identity)
    }

    /// The answer of an older service is accepted, too.
    @Test(arguments: Stores.allCases, ["rotated", "ok", "success"])
    func rotationsHaveThreeNames(_ stores: Stores, _ word: String) async throws {
        try await ServedWorld.with(stores) { world in
            let identity = try world.identity(.docs, app: "marked")
            try await identity.register()
            let before = try await world.devices("marked")[0]["key_thumbprint"]
            world.wire.say(word, to: "/rotate-key")
            try await identity.rotate()
            let device = try await world.devices("marked")[0]
            #expect(before != nil && device["key_thumbprint"] != before)
            #expect(device["attestation"] == "unattested")
            try await world.expectSigns(identity)
        }
    }

    @Test(arguments: Stores.allCases, [Dialect.docs, .tenon])
    func aDeviceThatIsResetIsAnother(_ stores: Stores, _ dialect: Dialect) async throws {
        try await ServedWorld.with(stores) { world in
            let identity = try world.identity(dialect)
            let first = try await identity.register().deviceID
            try await identity.reset()
            #expect(!identity.isRegistered)
            #expect(try await identity.register().deviceID != first)
            try await world.expectSigns(identity)
        }
    }

    /// It learns the service's time from a refusal, and keeps it.
    @Test(arguments: Stores.allCases, [Dialect.docs, .tenon])
    func aClockThatIsWrong(_ stores: Stores, _ dialect: Dialect) async throws {
        try await ServedWorld.with(stores) { world in
            let identity = try world.hurried(dialect)
            try await identity.register()
            world.wire.setClock(by: -1_000)
            try await world.expectResent(identity)
            try await world.expectSigns(world.hurried(dialect))
        }
    }

    @Test(arguments: Stores.allCases, [Dialect.docs, .tenon])
    func aDeviceThatIsRevoked(_ stores: Stores, _ dialect: Dialect) async throws {
        try await ServedWorld.with(stores) { world in
            let identity = try world.identity(dialect)
            let id = try await identity.register().deviceID
            _ = try await world.authorities[0].admin(
                "POST", "/v1/revoke", ["app_id": "demo", "device_id": .string(id), "reason": "lost"])
            guard case .stop(let error) = try await world.advice(identity, 403) else { throw WrongAdvice() }
            #expect(error.code == .deviceRevoked)
            #expect(try identity.status().reason == .revoked)
            let refusal = await errorAwaited { try await identity.register() }
            #expect(refusal?.code == .deviceRevoked)
            // Only a reset leaves this state, and then it is a new device.
            try await identity.reset()
            #expect(try await identity.register().deviceID != id)
            try await world.expectSigns(identity)
        }
    }

    @Test(arguments: Stores.allCases, [Dialect.docs, .tenon])
    func whatIsDue(_ stores: Stores, _ dialect: Dialect) async throws {
        try await ServedWorld.with(stores) { world in
            try await world.identity(dialect, app: app(dialect)).register()
            let asked = world.wire.paths.count
            let identity = try world.hurried(dialect, app: app(dialect)) { limits in
                (limits.keyAge, limits.keyAgeSpread) = (.zero, .zero)
            }
            try await identity.maintain()
            let paths = world.wire.paths[asked...]
            #expect(paths.contains { $0.hasSuffix("/rotate-key") })
            try await world.expectSigns(identity)
        }
    }

    /// A device that was registered in another dialect than the short configuration would choose keeps it.
    @Test(.world) func theOtherAPIKeepsTheDialect() async throws {
        let id = try await world.identity(.docs).register().deviceID
        let auth = SynheartAuth()
        let url = world.authorities[0].url + "/auth"
        auth.configure(baseUrl: url, tpm: world.tpm, stateDirectory: world.folder + "/device")
        auth.configure(baseUrl: url)
        #expect(auth.isRegistered(appId: "demo") && auth.getDeviceId(appId: "demo") == id)
        #expect(try await auth.registerDevice(appId: "demo").status == .alreadyRegistered)
        auth.configure(baseUrl: url, tpm: nil, stateDirectory: nil)
    }

    /// A dialect that was named comes without a certificate, and is not kept if the service never heard of it.
    @Test(.world) func theOtherAPIShowsNothingUnasked() async throws {
        let auth = SynheartAuth()
        let (url, folder) = (world.authorities[0].url + "/auth", world.folder + "/device")
        for dialect in [Dialect.tenon, .docs] {
            auth.configure(baseUrl: url, tpm: world.tpm, stateDirectory: folder, dialect: dialect)
            #expect(try await auth.registerDevice(appId: "demo").error == .attestationUnavailable)
        }
        auth.configure(
            baseUrl: url, tpm: world.tpm, stateDirectory: folder,
            disclosure: .endorsement(above: [try Endorsed.issuer()]))
        let result = try await auth.registerDevice(appId: "demo")
        #expect(result.status == .success)
        // Its calls cannot say what a signature of version 2 covers.
        let devices = world.authorities[0].instance.engine.stores.devices
        #expect(try await devices.device(app: "demo", id: result.deviceId ?? "")?.signatureVersions == [1])
        auth.configure(baseUrl: url, tpm: nil, stateDirectory: nil)
    }

    /// The API of the iOS SDK.
    @Test(arguments: Stores.allCases)
    func byTheOtherAPI(_ stores: Stores) async throws {
        try await ServedWorld.with(stores) { world in
            let auth = SynheartAuth { _, app throws(TenonError) in
                do {
                    return try world.identity(.tenon, app: app)
                } catch {
                    throw error as? TenonError ?? TenonError(.options, message: "\(error)")
                }
            }
            auth.configure(baseUrl: world.authorities[0].url + "/auth")
            let first = try await auth.registerDevice(appId: "demo")
            #expect(first.status == .success && first.deviceId != nil)
            func echo() async throws -> Int {
                let headers = try auth.signRequest(appId: "demo", method: "post", path: "/v1/echo")
                return try await world.send(headers.dictionary.map { ($0.key, $0.value) }, "POST", "/v1/echo", [])
                    .status
            }
            #expect(try await echo() == 200)
            #expect(try await auth.rotateKey(appId: "demo").status == .success)
            #expect(try await echo() == 200)
            #expect(try await auth.registerDevice(appId: "demo").status == .alreadyRegistered)
            auth.resetDeviceIdentity(appId: "demo")
            #expect(!auth.isRegistered(appId: "demo"))
            #expect(try await auth.registerDevice(appId: "demo").deviceId != first.deviceId)
            #expect(try await echo() == 200)
        }
    }
}
