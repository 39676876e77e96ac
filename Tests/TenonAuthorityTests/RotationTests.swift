// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

@Suite struct RotationTests {
    private var stores: TestStores { .current }

    static func rotated(_ outcome: KeyRotation.Outcome) throws -> Device {
        guard case .rotated(let device) = outcome else { throw Surprise("\(outcome)") }
        return device
    }

    @Test(.stores) func theNewKeyTakesThePlace() async throws {
        let (old, new) = (try Sample(), try Sample())
        let device = try await stores.registered(old)
        stores.clock.advance(60_000)
        let rotated = try Self.rotated(await stores.rotate(new.rotation(of: device)))
        #expect(rotated.publicKey == new.key && rotated.id == device.id)
        #expect(try rotated.thumbprint == new.key.thumbprint)
        #expect(rotated.keyRotatedAt == 1_800_000_060 && rotated.registeredAt == device.registeredAt)
        #expect(try await stores.devices.device(app: "demo", id: device.id) == rotated)
        let retired = try await stores.devices.retiredKeys(ofDevice: device.id, limit: 4)
        #expect(retired == [RetiredKey(publicKey: old.key, retiredAt: 1_800_000_060)])
    }

    /// Decision: own-endpoints. The present and the previous key may ask again, no other.
    @Test(.stores) func askedAgainItSaysTheSame() async throws {
        let (first, second, third) = (try Sample(), try Sample(), try Sample())
        let device = try await stores.registered(first)
        let two = try Self.rotated(await stores.rotate(second.rotation(of: device)))
        for signer in [first.key, second.key] {
            #expect(try await stores.rotate(second.rotation(of: two, by: signer)) == .current(two))
        }
        let three = try Self.rotated(await stores.rotate(third.rotation(of: two)))
        #expect(try await stores.rotate(third.rotation(of: three, by: second.key)) == .current(three))
        #expect(try await stores.rotate(third.rotation(of: three, by: first.key)) == .refused(.superseded))
        #expect(try await stores.rotate(third.rotation(of: three, by: Sample().key)) == .refused(.superseded))
        // An old request that was held back changes nothing.
        #expect(try await stores.rotate(second.rotation(of: device)) == .refused(.superseded))
        #expect(try await stores.rotate(second.rotation(of: three)) == .refused(.keyInUse))
        #expect(try await stores.devices.device(app: "demo", id: device.id) == three)
        let retired = try await stores.devices.retiredKeys(ofDevice: device.id, limit: 4)
        #expect(retired.map(\.publicKey) == [second.key, first.key])
        #expect(try await stores.devices.retiredKeys(ofDevice: device.id, limit: 1).count == 1)
    }

    @Test(.stores) func otherKeysAndDevicesAreRefused() async throws {
        let (one, two, next) = (try Sample(), try Sample(), try Sample())
        let device = try await stores.registered(one)
        _ = try await stores.register(two.registration(app: "other"))
        #expect(try await stores.rotate(two.rotation(of: device)) == .refused(.keyInUse))
        #expect(try await stores.rotate(next.rotation(of: device, app: "other")) == .refused(.unknownDevice))
        var unknown = device
        unknown.id = "unknown"
        #expect(try await stores.rotate(next.rotation(of: unknown)) == .refused(.unknownDevice))
        _ = try await stores.revoke(.device(app: "demo", id: device.id, compromised: false))
        #expect(try await stores.rotate(next.rotation(of: device)) == .refused(.revoked))
    }

    @Test(.stores) func attestedIsLostOnlyWhenSaid() async throws {
        let (one, two, three) = (try Sample(), try Sample(), try Sample())
        let registration = try one.registration(ek: "ek")
        _ = try await stores.register(registration)
        let kept = try Self.rotated(await stores.rotate(two.rotation(of: registration.device)))
        #expect(kept.level == .attested)
        let lost = try Self.rotated(await stores.rotate(three.rotation(of: kept, vouching: .nothingAndMarked)))
        #expect(lost.level == .unattested && lost.attestation == kept.attestation)
        #expect(try await stores.devices.device(app: "demo", id: lost.id) == lost)
        // The same TPM attests it again.
        #expect(try await stores.known(three.registration(ek: "ek")).level == .attested)
        // A rotation that was checked before that, when no proof was needed.
        let late = try Sample().rotation(of: lost, by: three.key, vouching: .nothing)
        #expect(try await stores.rotate(late) == .refused(.superseded))
        #expect(try await stores.devices.device(app: "demo", id: lost.id)?.level == .attested)
    }

    /// 64 rotations of one device to 64 keys: one wins, and the others are refused as late.
    @Test(.stores) func raceOfRotations() async throws {
        var device = try await stores.registered(Sample())
        for _ in 0..<4 {
            let outcomes = try await atOnce(64) { [device] _ in
                try await stores.rotate(Sample().rotation(of: device))
            }
            #expect(outcomes.count { $0 == .refused(.superseded) } == 63)
            device = try #require(try await stores.devices.device(app: "demo", id: device.id))
            #expect(outcomes.contains(.rotated(device)))
        }
    }

    /// 64 devices and 64 registrations want one new key: it gets one owner.
    @Test(.stores) func raceForOneKey() async throws {
        let wanted = try Sample()
        let devices = try await atOnce(32) { _ in try await stores.registered(Sample()) }
        let won = try await atOnce(64) { index in
            if index < 32 {
                return try await stores.rotate(wanted.rotation(of: devices[index])) != .refused(.keyInUse)
            }
            let outcome = try await stores.register(wanted.registration(app: "app \(index)", id: "id \(index)"))
            return outcome != .refused(.keyInUse)
        }
        #expect(won.count { $0 } == 1)
    }

    /// Simultaneous registrations, rotations and revocations of one device leave the result of one of the possible
    /// orders.
    @Test(.stores) func raceOfEverything() async throws {
        let sample = try Sample()
        let device = try await stores.registered(sample)
        _ = try await atOnce(64) { index in
            switch index % 8 {
            case 0: _ = try await stores.revoke(.device(app: "demo", id: device.id, compromised: false))
            case 1, 2, 3: _ = try await stores.register(sample.registration())
            default: _ = try await stores.rotate(Sample().rotation(of: device))
            }
        }
        let after = try await stores.devices.device(app: "demo", id: device.id)
        #expect(after?.state == .revoked)
        let retired = try await stores.devices.retiredKeys(ofDevice: device.id, limit: 100)
        #expect(retired.count == (after?.publicKey == sample.key ? 0 : 1))
        #expect(try await stores.register(sample.registration()) == .refused(.revoked(deviceID: device.id)))
    }

    @Test(.stores) func retiredKeysRaiseTheAlarm() async throws {
        let (old, new) = (try Sample(), try Sample())
        let device = try await stores.registered(old)
        #expect(try await stores.devices.retiredKeyUsed(old.key, at: stores.clock.now()) == .unknownKey)
        _ = try await stores.rotate(new.rotation(of: device))
        stores.clock.advance(600_000)
        #expect(try await stores.devices.retiredKeyUsed(old.key, at: stores.clock.now()) == .underWay)
        stores.clock.advance(1_000)
        for uses: Int64 in 1...3 {
            let use = try await stores.devices.retiredKeyUsed(old.key, at: stores.clock.now())
            #expect(use == .alarm(deviceID: device.id, uses: uses))
        }
        #expect(try await stores.devices.retiredKeyUsed(new.key, at: stores.clock.now()) == .unknownKey)
    }
}
