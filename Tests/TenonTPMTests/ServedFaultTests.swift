// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonSynheart
import Testing

/// Faults between a device and a running authority, or two of them.
@Suite(.timeLimit(.minutes(1))) struct ServedFaultTests {
    /// The answer to a registration is lost: it stays one device, with the same key.
    @Test(arguments: Stores.allCases, [Dialect.docs, .tenon])
    func aRegistrationWhoseAnswerIsLost(_ stores: Stores, _ dialect: Dialect) async throws {
        try await ServedWorld.with(stores) { world in
            let identity = try world.hurried(dialect) { $0.retry.tries = 1 }
            world.wire.lose("/register")
            let error = await errorAwaited { try await identity.register() }
            #expect(error?.code.category == .unknown)
            let held = try await world.devices()
            #expect(held.count == 1)
            let registered = try await world.identity(dialect).register()
            #expect(registered.deviceID == held[0]["device_id"]?.string)
            #expect(try await world.devices().map { $0["key_thumbprint"] } == [held[0]["key_thumbprint"]])
            try await world.expectSigns(world.identity(dialect))
        }
    }

    /// The answer to a rotation is lost: the next call, or maintenance, finds the key that the authority holds.
    @Test(arguments: Stores.allCases, [false, true])
    func aRotationWhoseAnswerIsLost(_ stores: Stores, _ isMaintained: Bool) async throws {
        try await ServedWorld.with(stores) { world in
            let identity = try world.hurried(.tenon) { $0.retry.tries = 1 }
            try await identity.register()
            let before = try await world.devices()[0]["key_thumbprint"]
            world.wire.lose("/rotate-key")
            let error = await errorAwaited { try await identity.rotate() }
            #expect(error?.code.category == .unknown)
            let held = try await world.devices()[0]["key_thumbprint"]
            #expect(held != nil && held != before)
            let again = try world.hurried(.tenon)
            if isMaintained { try await again.maintain() } else { try await again.rotate() }
            #expect(try await world.devices()[0]["key_thumbprint"] == held)
            try await world.expectSigns(again)
        }
    }

    /// The authority decides at once; a service that does not is played by changing its answer.
    @Test(arguments: Stores.allCases, [Dialect.docs, .tenon])
    func aRegistrationThatIsNotDecided(_ stores: Stores, _ dialect: Dialect) async throws {
        try await ServedWorld.with(stores) { world in
            let identity = try world.identity(dialect)
            world.wire.say("pending", to: "/register")
            let error = await errorAwaited { try await identity.register() }
            #expect(error?.code == .registrationPending)
            #expect(!identity.isRegistered)
            #expect(try await identity.register().status == .registered)
            #expect(try await world.devices().count == 1)
            try await world.expectSigns(identity)
        }
    }

    @Test(arguments: Stores.allCases, [Dialect.docs, .tenon])
    func aRegistrationThatIsRejected(_ stores: Stores, _ dialect: Dialect) async throws {
        try await ServedWorld.with(stores) { world in
            let first = try world.identity(dialect, app: "few")
            try await first.register()
            let second = try world.identity(dialect, app: "few", in: "other")
            let error = await errorAwaited { try await second.register() }
            #expect(error?.code == .registrationRejected && error?.httpStatus == 403)
            #expect(!second.isRegistered)
            try await world.expectSigns(first)
            let third = try world.identity(dialect, in: "third")
            world.wire.say("rejected", to: "/register")
            let refusal = await errorAwaited { try await third.register() }
            #expect(refusal?.code == .registrationRejected)
            #expect(!third.isRegistered)
        }
    }

    /// Exchanges alternate between the instances, so that what one issued is sent to the other.
    @Test(arguments: [Dialect.docs, .tenon])
    func twoInstances(_ dialect: Dialect) async throws {
        let app = dialect == .tenon ? "demo" : "marked"
        var authorities: [ServedAuthority] = []
        var logs: [[JSON]] = []
        try await ServedWorld.with(.shared, instances: 2) { world in
            let identity = try world.identity(dialect, app: app)
            let id = try await identity.register().deviceID
            let asked = world.wire.seen.suffix(2)
            #expect(asked.map(\.path) == ["/auth/v1/device/challenge", "/auth/v1/device/register"])
            #expect(Set(asked.map(\.instance)) == [0, 1])
            try await identity.rotate()
            let signed = try await world.signed(identity)
            #expect(try await world.send(signed, to: 1).status == 200)
            #expect(try await world.send(signed, to: 0).status == 409)
            _ = try await world.authorities[0].admin(
                "POST", "/v1/revoke", ["app_id": .string(app), "device_id": .string(id), "reason": "lost"])
            #expect(try await world.send(world.signed(identity), to: 1).status == 403)
            authorities = world.authorities
            for authority in authorities { await authority.stop() }
            logs = try authorities.map { try $0.audit() }
        }
        let events = logs.joined().compactMap { $0["event"]?.string }
        for event in ["registered", "rotated", "device_revoked"] {
            #expect(events.count { $0 == event } == 1, "\(event)")
        }
        #expect(logs.allSatisfy { !$0.isEmpty })
    }
}
