// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonAuthority
import Testing

/// The logs that the authority keeps for Auths: the first event with a number stays.
@Suite struct AuthsLogTests {
    private var rig: AuthsRig { .current }

    @Test(.auths) func rotationsAreTakenAndRead() async throws {
        var identity = try await rig.identity()
        for number in Int64(1)...3 {
            let rotation = try identity.rotate()
            // The answer was lost: the same bytes again.
            for _ in 0..<2 {
                let answer = try await rig.send([rotation], of: identity)
                #expect(answer.status == 200 && answer.json["sequence"]?.integer == number)
                #expect(answer.json["said"]?.string == identity.log.said)
            }
        }
        let device = try await rig.stores.devices.device(app: "kel", id: identity.log.prefix)
        #expect(device?.publicKey == identity.key.publicKey && device?.keyRotatedAt == rig.seconds)
        #expect(
            try await rig.stores.devices.retiredKeys(ofDevice: identity.log.prefix, limit: 9).count == 3)
        let answer = await rig.log(of: identity)
        #expect(answer.json["prefix"]?.string == identity.log.prefix && answer.json["sequence"]?.integer == 3)
        let texts = identity.events.map { JSON.string(String(decoding: $0.bytes, as: UTF8.self)) }
        #expect(answer.json["events"]?.array == texts)
        #expect(answer.json["attachments"]?.array == identity.events.map { .string($0.attachment) })
        for (query, events) in [
            ("?from=2", texts[2...]), ("?from=3", texts[3...]), ("?from=4", []), ("?from=1&limit=2", texts[1...2]),
        ] as [(String, ArraySlice<JSON>)] {
            let part = await rig.log(of: identity, query)
            #expect(part.json["events"]?.array == Array(events), "\(query)")
            #expect(part.json["said"]?.string == identity.log.said, "\(query)")
        }
        for query in ["?from=-1", "?from=", "?limit=0", "?to=1", "?from=1&&limit=1", "?"] {
            let status = await rig.log(of: identity, query).status
            #expect(status == (query == "?" ? 200 : 400), "\(query)")
        }
        // The inception again, although its key is retired.
        #expect(try await rig.register(identity).status == 200)
    }

    /// A whole log in one message, also with a beginning that is known.
    @Test(.auths) func aMessageHasManyEvents() async throws {
        var identity = try await rig.identity()
        for _ in 1...20 { _ = try identity.rotate() }
        #expect(try await rig.send(Array(identity.events[1...5]), of: identity).status == 200)
        #expect(try await rig.send(identity.events, of: identity).json["sequence"]?.integer == 20)
        #expect(try await rig.send(identity.events, of: identity).status == 200)
        #expect(await rig.log(of: identity).json["events"]?.array?.count == 21)
        let devices = rig.stores.devices
        #expect(try await devices.retiredKeys(ofDevice: identity.log.prefix, limit: 99).count == 20)
    }

    @Test(.auths) func evidenceIsLimited() async throws {
        var identity = try await rig.identity()
        let others = try (0..<17).map { _ in try identity.other() }
        #expect(try await rig.send([identity.rotate()], of: identity).status == 200)
        for other in others { #expect(try await rig.send([other], of: identity).auths == "409 SEQUENCE_TAKEN") }
        #expect(await rig.conflicts(of: identity).json["events"]?.array?.count == 16)
    }

    /// Another signed event with a taken number is refused and kept, and the log stays as it is.
    @Test(.auths) func anotherEventWithANumberIsEvidence() async throws {
        let folder = try TestFolder()
        let log = try AuditedStoreTests.log(folder)
        try await rig.stores.devices.audit(in: log)
        var identity = try await rig.identity()
        let other = try identity.other()
        let rotation = try identity.rotate()
        #expect(try await rig.send([rotation], of: identity).status == 200)
        for _ in 0..<2 { #expect(try await rig.send([other], of: identity).auths == "409 SEQUENCE_TAKEN") }
        let kept = await rig.conflicts(of: identity)
        #expect(kept.json["events"]?.array == [.string(String(decoding: other.bytes, as: UTF8.self))])
        #expect(kept.json["attachments"]?.array == [.string(other.attachment)])
        #expect(await rig.conflicts(of: identity, at: .public).status == 404)
        let lines = try AuditReader.lines(folder).compactMap { $0["event"]?.string }
        #expect(lines == ["registered", "rotated", "event_conflict"])
        #expect(await rig.engine.metrics().contains("\ntenon_authority_event_conflicts_total 2\n"))
        // The first stays, and its log goes on.
        let answer = await rig.log(of: identity, "?from=1")
        #expect(answer.json["said"]?.string == identity.log.said)
        #expect(try await rig.send([identity.rotate()], of: identity).status == 200)
        await log.close()
    }

    /// What nobody with the right key signed is no evidence, whatever number it has.
    @Test(.auths) func whatIsNotProvenIsRefused() async throws {
        var identity = try await rig.identity()
        let start = identity
        _ = try identity.rotate()
        #expect(try await rig.send([identity.events[1]], of: identity).status == 200)
        let stranger = try TestIdentity()
        let next = try SoftwareKey().publicKey
        let valid = try identity.other()
        let byOldKey = try TestIdentity.signed(valid.bytes, by: identity.key)
        let uncommitted = try SoftwareKey()
        let toUncommitted = try TestIdentity.signed(
            start.log.rotation(to: start.keys[1].publicKey, next: next), by: uncommitted)
        let text = String(decoding: valid.bytes, as: UTF8.self)
        let resized = text.replacing("\"s\":\"2\"", with: "\"s\":\"1\"")
        for (what, event) in [
            ("the old key", byOldKey), ("another key", toUncommitted),
            ("no attachment", KeyEvent(bytes: valid.bytes, attachment: "")),
            ("a cut one", KeyEvent(bytes: valid.bytes, attachment: String(valid.attachment.dropLast(4)))),
            ("a changed number", KeyEvent(bytes: Array(resized.utf8), attachment: valid.attachment)),
            ("another inception", stranger.events[0]), ("not JSON", KeyEvent(bytes: [0x7b], attachment: "A")),
            ("no number", KeyEvent(bytes: Array("{}".utf8), attachment: "A")),
            ("a negative number", KeyEvent(bytes: Array(#"{"s":"-1"}"#.utf8), attachment: "A")),
        ] {
            #expect(try await rig.send([event], of: identity).auths == "400 INVALID_EVENT", "\(what)")
        }
        var ahead = identity
        _ = try ahead.rotate()
        #expect(try await rig.send([ahead.rotate()], of: identity).auths == "409 SEQUENCE_GAP")
        // A batch with one bad event stores none.
        #expect(try await rig.send([valid, byOldKey], of: identity).auths == "400 INVALID_EVENT")
        #expect(await rig.log(of: identity).json["sequence"]?.integer == 1)
        #expect(await rig.conflicts(of: identity).json["events"]?.array == [])
        #expect(try await rig.send([valid], of: stranger).auths == "404 UNKNOWN_IDENTITY")
    }

    @Test(.auths) func aMessageOfAnotherFormIsRefused() async throws {
        let identity = try await rig.identity()
        let path = "/auths/kel/v1/identities/\(identity.log.prefix)/kel"
        for body in [
            "", "[]", "{}", #"{"events":[],"attachments":[]}"#, #"{"events":["{}"],"attachments":[]}"#,
            #"{"events":["{}"],"attachments":["",""]}"#, #"{"events":[1],"attachments":[""]}"#,
            #"{"events":["{}",1],"attachments":["",""]}"#, #"{"events":"{}","attachments":""}"#,
            #"{"events":["{}"],"events":["{}"],"attachments":[""]}"#,
        ] {
            #expect(await rig.ask("POST", path, Array(body.utf8)).auths == "400 INVALID_REQUEST", "\(body)")
        }
        let many: JSON = [
            "events": .array(Array(repeating: "{}", count: 1_025)),
            "attachments": .array(Array(repeating: "", count: 1_025)),
        ]
        #expect(await rig.ask("POST", path, try many.encoded()).auths == "400 INVALID_REQUEST")
        #expect(await rig.ask("POST", path, [UInt8](repeating: 0x20, count: 1 << 20 + 1)).status == 413)
    }

    @Test func quotaAndRevocation() async throws {
        try await AuthsRig.with(#", "max_events": 3"#) { rig in
            var identity = try await rig.identity()
            for _ in 1...2 { #expect(try await rig.send([identity.rotate()], of: identity).status == 200) }
            let accepted = identity.events[1...]
            #expect(try await rig.send([identity.rotate()], of: identity).auths == "429 RATE_LIMITED")
            #expect(try await rig.send(Array(accepted.prefix(2)), of: identity).status == 200)
            try await rig.revoke(identity)
            #expect(try await rig.send([identity.events[1]], of: identity).auths == "403 DEVICE_REVOKED")
            #expect(await rig.log(of: identity).status == 200)
        }
    }

    /// The bytes of a log are counted in the transaction that stores its events: what is refused counts nothing, and
    /// what is known is accepted again.
    @Test func aLogHasOnlySoManyBytes() async throws {
        // An inception has 395 bytes with its attachment, and a rotation 448 while its number has one digit.
        try await AuthsRig.with(#", "max_log_bytes": 1291"#) { rig in
            var identity = try await rig.identity()
            let sizes = { (events: [KeyEvent]) in events.reduce(0) { $0 + $1.bytes.count + $1.attachment.utf8.count } }
            _ = try identity.rotate()
            let last = try identity.rotate()
            #expect(sizes(identity.events) == 1_291)
            let start = identity
            let beyond = try identity.rotate()
            #expect(try await rig.send(Array(identity.events[1...]), of: identity).auths == "429 RATE_LIMITED")
            #expect(await rig.log(of: identity).json["sequence"]?.integer == 0)
            #expect(try await rig.send([start.events[1]], of: identity).status == 200)
            #expect(try await rig.send([last, beyond], of: identity).auths == "429 RATE_LIMITED")
            for _ in 0..<2 { #expect(try await rig.send([last], of: identity).status == 200) }
            #expect(try await rig.send([beyond], of: identity).auths == "429 RATE_LIMITED")
            // Neither the key nor the log has changed.
            let device = try await rig.stores.devices.device(app: "kel", id: identity.log.prefix)
            #expect(device?.publicKey == start.key.publicKey)
            #expect(await rig.log(of: identity).json["said"]?.string == start.log.said)
        }
    }

    /// Of many events with one number that arrive at once, one is accepted, and that one is always the same.
    @Test(.auths) func oneOfManyWins() async throws {
        let identity = try await rig.identity()
        let rotations = try (0..<12).map { _ in try identity.other() }
        let answers = try await atOnce(24) { index in
            (index, try await rig.send([rotations[index % 12]], of: identity).auths)
        }
        #expect(answers.count { $0.1 == "200" } >= 1)
        #expect(Set(answers.map(\.1)).subtracting(["200", "409 SEQUENCE_TAKEN", "503 UNAVAILABLE"]).isEmpty)
        let log = await rig.log(of: identity)
        let winner = try #require(log.json["events"]?.array?.last?.string)
        #expect(log.json["sequence"]?.integer == 1)
        for rotation in rotations {
            let isWinner = String(decoding: rotation.bytes, as: UTF8.self) == winner
            let answer = try await rig.send([rotation], of: identity)
            #expect(answer.auths == (isWinner ? "200" : "409 SEQUENCE_TAKEN"))
        }
        for (index, answer) in answers where answer == "200" {
            #expect(String(decoding: rotations[index % 12].bytes, as: UTF8.self) == winner)
        }
    }

    /// A key belongs to one device for ever, also as a key of an identity.
    @Test(.auths) func aKeyIsUsedOnce() async throws {
        let folder = try TestFolder()
        let log = try AuditedStoreTests.log(folder)
        try await rig.stores.devices.audit(in: log)
        var identity = try TestIdentity()
        // The next key is registered as a device of another service.
        let sample = try Sample()
        var device = try sample.device(app: "open")
        device.publicKey = identity.keys[1].publicKey
        device.thumbprint = try device.publicKey.thumbprint
        let taken = DeviceRegistration(device: device, challenge: nil)
        _ = try await rig.stores.devices.register(taken, at: rig.clock.now())
        #expect(try await rig.register(identity).status == 200)
        #expect(try await rig.send([identity.rotate()], of: identity).auths == "409 KEY_IN_USE")
        #expect(await rig.log(of: identity).json["sequence"]?.integer == 0)
        #expect(try AuditReader.lines(folder).compactMap { $0["event"]?.string } == ["registered", "registered"])
        await log.close()
    }
}
