// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonAuthority
import TenonAuths
import Testing

/// The device's side of Auths at this authority: both read the wire by themselves, so each finds the other's mistakes.
@Suite struct AuthsDeviceTests {
    private var rig: AuthsRig { .current }

    /// A device that keeps its folder and its keys, whatever authority it talks to.
    private struct Device {
        let folder: TestFolder
        let vault = ScriptedVault()
        let time = FlowTime()

        init() throws {
            folder = try TestFolder()
            time.advance(.seconds(20))
        }

        func identity(_ wire: ToyWire) throws -> DeviceIdentity {
            try DeviceIdentity(
                appID: "kel", profile: Auths(baseURL: AuthsRig.origin + "/auths/kel", appID: "kel"), vault: vault,
                transport: wire, folder: StateFolder(at: "\(folder.path)/device"), clock: time.clock)
        }
    }

    /// The events that an authority holds.
    private static func events(_ rig: AuthsRig, _ prefix: String) async throws -> [KeyEvent] {
        let answer = await rig.ask("GET", "/auths/kel/v1/identities/\(prefix)/kel")
        let events = try #require(answer.json["events"]?.array)
        let attachments = try #require(answer.json["attachments"]?.array)
        return try zip(events, attachments).map { event, attachment in
            KeyEvent(bytes: Array(try #require(event.string).utf8), attachment: try #require(attachment.string))
        }
    }

    private static func log(_ events: [KeyEvent]) throws -> KeyEventLog {
        var log = KeyEventLog()
        for event in events { try log.append(event) }
        return log
    }

    /// The first answers to the registration and to a rotation are lost: the same bytes go out again.
    @Test(.auths) func aLifeWithLostAnswers() async throws {
        let (device, wire) = (try Device(), ToyWire(rig.engine, losing: ["/auths/kel/register"]))
        let identity = try device.identity(wire)
        try await identity.register()
        let prefix = try #require(identity.deviceID)
        #expect(wire.paths.count { $0.hasSuffix("/register") } == 2)
        #expect(try await Self.events(rig, prefix).count == 1)
        wire.lose("/auths/kel/v1/identities/\(prefix)/kel")
        try await identity.rotate()
        try await identity.rotate()
        let log = try await Self.log(Self.events(rig, prefix))
        #expect(log.sequence == 2 && log.prefix == prefix)
        #expect(try await identity.publicKey() == log.key)
        #expect(try await identity.events().count == 3)
        let conflicts = await rig.ask("GET", "/auths/kel/v1/identities/\(prefix)/conflicts", at: .admin)
        #expect(conflicts.json["events"]?.array == [])
    }

    /// An authority that was restored from a backup is another one that took only the beginning of the log. It gets the
    /// rest from the device, with the signatures of then.
    @Test(.auths) func aRestoredAuthorityGetsTheRest() async throws {
        let device = try Device()
        let identity = try device.identity(ToyWire(rig.engine))
        try await identity.register()
        let prefix = try #require(identity.deviceID)
        for _ in 0..<5 { try await identity.rotate() }
        let whole = try await Self.events(rig, prefix)
        for isRotation in [false, true] {
            try await AuthsRig.with { restored in
                try await Self.take(Array(whole.prefix(3)), restored)
                // One copy of the device for each authority that is restored.
                let wire = ToyWire(restored.engine)
                let same = try device.identity(wire)
                if isRotation { try await same.resolve() } else { try await same.maintain() }
                #expect(try await Self.events(restored, prefix) == whole)
                let device = try await restored.stores.devices.device(app: "kel", id: prefix)
                #expect(try await same.publicKey() == device?.publicKey)
                #expect(wire.paths.count { !$0.contains("from=") } == 1)
            }
        }
        try await identity.rotate()
        #expect(try await Self.events(rig, prefix).count == 7)
    }

    /// Has an authority register an identity, and take the events after its inception.
    private static func take(_ events: [KeyEvent], _ rig: AuthsRig) async throws {
        let first = try log(Array(events.prefix(1)))
        let body: JSON = [
            "prefix": .string(first.prefix), "did": .string(try first.did),
            "public_key_hex": .string(TextEncoding.hex.encode(try #require(first.key).compressedRepresentation)),
            "inception_event": .string(String(decoding: events[0].bytes, as: UTF8.self)),
            "attachment": .string(events[0].attachment),
        ]
        #expect(await rig.ask("POST", "/auths/kel/register", try body.encoded()).status == 200)
        let path = "/auths/kel/v1/identities/\(first.prefix)/kel"
        #expect(await rig.ask("POST", path, try KeyEvent.message(Array(events.dropFirst()))).status == 200)
    }

    /// A presentation and an envelope of the device are accepted, once.
    @Test(.auths) func itUsesAResource() async throws {
        let device = try Device()
        let identity = try device.identity(ToyWire(rig.engine))
        try await identity.register()
        let challenge = await rig.ask("GET", "/auths/kel/v1/auth/challenge")
        let nonce = try TextEncoding.base64url.decode(#require(challenge.json["nonce"]?.string))
        let header = try await identity.presentation(audience: AuthsRig.origin, nonce: nonce)
        for status in [200, 401] {
            let answer = await rig.ask("POST", "/auths/kel/api", headers: [("Authorization", header)])
            #expect(answer.status == status)
        }
        let payload = Array(#"{"b": 1.50, "a": ["\u00e9", null]}"#.utf8)
        let envelope = try await identity.envelope(
            type: "tool_call", payload: payload, timestamp: CivilDate.iso8601(rig.seconds))
        for status in [200, 401] {
            #expect(await rig.ask("POST", "/auths/kel/api", envelope).status == status)
        }
    }
}
