// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import TenonAuths
import Testing

@testable import Tenon

/// A KERI identifier on a disk and a network that fail, and at services that lie (decision: last-number).
@Suite struct NumberedLogTests {
    /// Each write fails once, or the disk fails for good from there on: the same call again goes on.
    @Test(arguments: [false, true], [false, true])
    func eachWriteFails(_ isRotation: Bool, _ isForGood: Bool) async throws {
        var number = 0
        var hasFailed = true
        while hasFailed {
            number += 1
            let rig = isRotation ? try await LogRig.registered() : try LogRig()
            let plan = CallPlan(.errno(EIO), at: number, onward: isForGood)
            let cut = try rig.identity(plan.calls)
            if isRotation { _ = try? await cut.rotate() } else { _ = try? await cut.register() }
            hasFailed = plan.made.count >= number
            try await rig.identity().register()
            try await rig.identity().rotate()
            let events = try rig.held.log.count
            #expect(events == 2 || isRotation && events == 3, "call \(number)")
            try rig.expectAgreement(events: events, "call \(number)")
        }
        #expect(number > 10)
    }

    static let fates: [ScriptedService.Fate] = [
        .notSent, .requestLost, .answerLost, .late, .answers(500, nil), .answers(400, "INVALID_EVENT"),
        .answers(409, "SEQUENCE_TAKEN"), .answers(429, nil), .answers(200, nil), .answers(404, nil),
    ]

    /// Each exchange fails, in each way, once or until the call gives up.
    @Test(arguments: fates.indices, [1, 8])
    func eachExchangeFails(_ index: Int, _ times: Int) async throws {
        let fates = Array(repeating: Self.fates[index], count: times)
        for place in 0..<3 {
            let rig = try LogRig()
            let before = Array(repeating: ScriptedService.Fate.arrives, count: place)
            rig.service.change { $0.fates = before + fates }
            _ = try? await rig.identity().register()
            if place > 0 { _ = try? await rig.identity().rotate() }
            rig.service.change { $0.fates = [] }
            rig.service.deliverLate()
            try await rig.identity().register()
            try await rig.identity().maintain()
            let events = try rig.held.log.count
            try await rig.identity().rotate()
            try rig.expectAgreement(events: events + 1, "\(place)")
        }
    }

    static let damages: [@Sendable ([UInt8]) -> [UInt8]?] = [
        { _ in nil }, { _ in [] }, { Array($0.dropLast()) }, { Array($0.dropLast(400)) },
        { $0 + Array("{\"v\":\"KERI".utf8) },
        { bytes in
            var bytes = bytes
            bytes[40] ^= 1
            return bytes
        },
    ]

    /// A log that is lost or damaged comes back from the service, and is never taken from it unchecked.
    @Test(arguments: damages.indices)
    func aDamagedLogIsMended(_ index: Int) async throws {
        let rig = try await LogRig.registered(rotations: 3)
        let name = try rig.store.name.log
        let file = try #require(rig.folder.open().read(name, atMost: 1 << 20).value)
        unlink(rig.folder[name])
        if let damaged = Self.damages[index](file.bytes) { try rig.folder.put(damaged, as: name) }
        // One of which an event is missing is not given out.
        if index < 4 { #expect(await refusal { try await rig.identity().events() } == .stateMissing) }
        // A service that lies does not mend it.
        rig.service.change { $0.fates = [.answers(200, nil)] }
        #expect(await refusal { try await rig.identity().maintain() } == .serviceAnswer)
        rig.service.change { $0.fates = [] }
        try await rig.identity().maintain()
        try await rig.identity().rotate()
        try rig.expectAgreement(events: 5)
        #expect(try await rig.identity().events().count == 5)
    }

    /// What a service shows in the place of a lost log is checked as a whole.
    @Test func aServiceThatLiesInTheMiddle() async throws {
        let rig = try await LogRig.registered(rotations: 3)
        let (prefix, honest) = try rig.held
        unlink(rig.folder[try rig.store.name.log])
        rig.service.change { $0.logs[prefix]?[1] = KeyEvent(bytes: honest[1].bytes, attachment: honest[0].attachment) }
        #expect(await refusal { try await rig.identity().maintain() } == .serviceAnswer)
        #expect(try rig.store.log().isAbsent)
        rig.service.change { $0.logs[prefix] = honest }
        try await rig.identity().maintain()
        try rig.expectAgreement(events: 4)
    }

    /// Only events that prove themselves show that a state is old.
    @Test func aServiceThatLiesAboutTheEnd() async throws {
        let rig = try await LogRig.registered(rotations: 1)
        let honest = rig.service.logs
        let prefix = try rig.held.prefix
        var forged = try rig.held.log
        forged.append(KeyEvent(bytes: forged[1].bytes, attachment: forged[0].attachment))
        let foreign = try await LogRig.registered(rotations: 1).held.log
        for logs in [[prefix: forged], [:], [prefix: foreign], [prefix: Array(foreign.prefix(1))]] {
            rig.service.change { $0.logs = logs }
            let code = await refusal { try await rig.identity().rotate() }
            #expect(code == .serviceAnswer || code == .serviceRefused)
            #expect(try rig.record().state == .registered && rig.record().journal == nil)
        }
        rig.service.change { $0.logs = honest }
        try await rig.identity().rotate()
        try rig.expectAgreement(events: 3)
    }

    /// A number that was given out is not given out again, even if the log does not have it.
    @Test func aRecordIsNewerThanItsLog() async throws {
        let rig = try await LogRig.registered()
        let store = try rig.store
        let held = try #require(try store.lock.attempt())
        try store.change(held) { record throws(TenonError) in record.lastSlot = 1 }
        held.release()
        #expect(await refusal { try await rig.identity().rotate() } == .stateUnresolved)
        try rig.expectAgreement(events: 1)
    }

    /// The record is an older one, and its log is not. Not even a service that lost the last event gets another one with
    /// its number.
    @Test func aLogIsNewerThanItsRecord() async throws {
        let rig = try await LogRig.registered()
        let older = try rig.store.files()
        try await rig.identity().rotate()
        let (newer, (prefix, honest)) = (try rig.store.files(), try rig.held)
        let log = try rig.store.name.log
        for (name, bytes) in older where name != log { try rig.folder.put(bytes, as: name) }
        rig.service.change { $0.logs[prefix] = Array(honest.prefix(1)) }
        #expect(await refusal { try await rig.identity().rotate() } == .stateUnresolved)
        #expect(rig.service.numbersWithTwoEvents == 0)
        for (name, bytes) in newer { try rig.folder.put(bytes, as: name) }
        try await rig.identity().rotate()
        try rig.expectAgreement(events: 3)
        #expect(rig.service.logs[prefix]?.prefix(2) == honest[...])
    }

    /// The service holds another event with the number of the one that is under way, and this device's own key signed
    /// it: another copy of the state did. Nothing more is signed.
    @Test func anotherCopyWasFaster() async throws {
        let rig = try await LogRig.registered()
        let state = try rig.store.files()
        rig.service.change { $0.fates = [.arrives] + Array(repeating: .requestLost, count: 5) }
        _ = try? await rig.identity().rotate()
        rig.service.change { $0.fates = [] }
        // The copy, which nobody can prevent, signs an event with the same number.
        let copy = try TemporaryFolder()
        for (name, bytes) in state { try copy.put(bytes, as: name) }
        try await DeviceIdentity(
            appID: "app", profile: Auths(baseURL: "https://log.example", appID: "app"), vault: rig.vault,
            transport: rig.service, folder: copy.open(), clock: rig.service.time.clock
        ).rotate()
        #expect(await refusal { try await rig.identity().rotate() } == .keyInvalidated)
        #expect(try rig.record().cause == .superseded)
        #expect(rig.service.logs.values.first?.count == 2)
    }

    @Test func aKeyGetsAYearOld() async throws {
        let rig = try await LogRig.registered()
        rig.service.time.advance(.seconds(355 * 86_400))
        try await rig.identity().maintain()
        #expect(rig.service.logs.values.first?.count == 1)
        rig.service.time.advance(.seconds(11 * 86_400))
        try await rig.identity().maintain()
        try rig.expectAgreement(events: 2)
    }

    /// What a key of this service signs is what another program chose, and never an event.
    @Test func onlyPlainDataIsSigned() async throws {
        let rig = try LogRig()
        let identity = try rig.identity()
        #expect(await refusal { try await identity.signPlain([1]) } == .notRegistered)
        try await identity.register()
        for text in ["{\"v\":\"KERI10JSON\"}", "{}", "a\0b", "POST\n/x"] {
            #expect(await refusal { try await identity.signPlain(Array(text.utf8)) } == .dataIsMessage, "\(text)")
        }
        #expect(try await identity.signPlain(Array("hello".utf8)).isLowS)
        let value = try await identity.presentation(audience: "https://log.example", nonce: Array(0..<32))
        #expect(value.hasPrefix("Auths-Presentation "))
        let envelope = try await JSON(
            parsing: identity.envelope(
                type: "x", payload: Array("{\"b\":1,\"a\":[]}".utf8), timestamp: "2026-01-02T03:04:05Z"))
        #expect(envelope["version"] == "1.0" && envelope["signature"]?.string?.utf8.count == 128)
        let attestation = try await JSON(
            parsing: identity.selfAttestation(id: "one", timestamp: "2026-01-02T03:04:05Z"))
        #expect(attestation["device_public_key"]?["curve"] == "p256" && attestation["note"] == nil)
    }
}
