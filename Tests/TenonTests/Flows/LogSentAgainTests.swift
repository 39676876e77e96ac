// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonAuths
import Testing

/// A service that lost its last events gets them again, the same bytes; one that lies gets nothing new signed
/// (decision: log-sent-again).
@Suite struct LogSentAgainTests {
    /// A device whose service took so many rotations and lost all events but the first ones.
    private func restored(_ rotations: Int, keeping count: Int) async throws -> (rig: LogRig, log: [KeyEvent]) {
        let rig = try LogRig()
        try await rig.identity().register()
        for _ in 0..<rotations { try await rig.identity(.withoutSync).rotate() }
        let (prefix, log) = try #require(rig.service.logs.first)
        rig.service.change {
            $0.logs[prefix] = Array(log.prefix(count))
            $0.exchanges = 0
        }
        return (rig, log)
    }

    static let verbs: [Verb] = [.rotate, .maintain, .resolve]

    /// After its backup was restored the service has each event again, with the signature that it had.
    @Test(arguments: verbs, 1...5)
    func theLastEventsAreSentAgain(_ verb: Verb, _ count: Int) async throws {
        let (rig, log) = try await restored(5, keeping: count)
        #expect(try await rig.identity().code(verb) == nil)
        let events = verb == .rotate ? 7 : 6
        try rig.expectAgreement(events: events, "\(verb), \(count) events kept")
        #expect(rig.service.logs.values.first?.prefix(6) == log[...])
        #expect(rig.service.refused == 0)
        // Nothing is left to do.
        rig.service.change { $0.exchanges = 0 }
        try await rig.identity().maintain()
        #expect(rig.service.exchanges == 1)
    }

    @Test func aLongLogIsSentInParts() async throws {
        let (rig, log) = try await restored(70, keeping: 2)
        try await rig.identity().maintain()
        try rig.expectAgreement(events: 71)
        #expect(rig.service.logs.values.first == log)
        // Questions about the events 70, 69, 67, 63, 55, 39, 7 and 0; two messages with 69 events; a question about the end.
        #expect(rig.service.exchanges == 11)
    }

    /// An event was under way when the service was restored: one call settles both.
    @Test func anEventWasUnderWay() async throws {
        let (rig, _) = try await restored(3, keeping: 4)
        rig.service.change { $0.fates = [.arrives] + Array(repeating: .requestLost, count: 5) }
        _ = try? await rig.identity().rotate()
        let prefix = try #require(rig.service.logs.keys.first)
        rig.service.change {
            $0.fates = []
            $0.logs[prefix]?.removeLast(2)
        }
        try await rig.identity().rotate()
        try rig.expectAgreement(events: 5)
    }

    /// Each exchange on the way fails, in each way: the next call goes on.
    @Test(arguments: NumberedLogTests.fates.indices, 0..<6)
    func eachExchangeFails(_ index: Int, _ place: Int) async throws {
        let (rig, log) = try await restored(3, keeping: 1)
        let before = Array(repeating: ScriptedService.Fate.arrives, count: place)
        rig.service.change { $0.fates = before + [NumberedLogTests.fates[index]] }
        _ = try? await rig.identity().maintain()
        rig.service.change { $0.fates = [] }
        rig.service.deliverLate()
        try await rig.identity().maintain()
        try rig.expectAgreement(events: 4, "\(place)")
        #expect(rig.service.logs.values.first == log)
    }

    /// A service that takes what it is sent and keeps nothing gets the log once a call, and no new event.
    @Test(arguments: verbs) func aServiceThatForgetsAgain(_ verb: Verb) async throws {
        let (rig, _) = try await restored(3, keeping: 2)
        let prefix = try #require(rig.service.logs.keys.first)
        let sent = rig.service.events
        let forgetful = ForgetfulService(rig.service, keeping: 2, of: prefix)
        let device = try rig.identity(through: forgetful)
        #expect(await device.code(verb) == .serviceAnswer)
        #expect(rig.service.events == sent && rig.service.exchanges < 12)
        let record = try rig.record()
        #expect(record.state == .registered && record.journal == nil)
    }

    /// The beginning that a service shows is another one, or that of another identifier: it is sent nothing.
    @Test func anotherBeginningIsNotContinued() async throws {
        let (rig, log) = try await restored(3, keeping: 2)
        let (prefix, messages) = (try #require(rig.service.logs.keys.first), rig.service.messages)
        let other = try await restored(1, keeping: 2)
        let forged = KeyEvent(bytes: other.log[1].bytes, attachment: log[1].attachment)
        for shown in [[log[0], forged], other.log, [log[1]], [], [log[0], log[0]]] {
            rig.service.change { $0.logs[prefix] = shown }
            #expect(await refusal { try await rig.identity().rotate() } == .serviceAnswer)
            #expect(rig.service.messages == messages && rig.service.logs[prefix] == shown)
            #expect(try rig.record().journal == nil)
        }
    }

    @Test func aDamagedLogIsNotSent() async throws {
        let (rig, _) = try await restored(3, keeping: 2)
        let name = try rig.store.name.log
        let file = try #require(rig.folder.open().read(name, atMost: 1 << 20).value)
        let messages = rig.service.messages
        try rig.folder.put(Array(file.bytes.dropLast(200)), as: name)
        for verb in Self.verbs {
            let device = try rig.identity()
            #expect(await device.code(verb) == .serviceAnswer, "\(verb)")
        }
        #expect(rig.service.messages == messages)
    }
}

/// Loses what it is sent, and says that it took it.
private final class ForgetfulService: Transport {
    private let service: LogService
    private let prefix: String
    private let count: Int

    init(_ service: LogService, keeping count: Int, of prefix: String) {
        (self.service, self.count, self.prefix) = (service, count, prefix)
    }

    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        let answer = try service.exchange(request)
        service.change { $0.logs[prefix] = $0.logs[prefix].map { Array($0.prefix(count)) } }
        return answer
    }
}

extension SystemCalls {
    /// Skips fsync, which is slow: what is written must survive nothing here.
    fileprivate static let withoutSync = SystemCalls { operation, _ in
        operation == .sync || operation == .syncFolder ? .errno(0) : nil
    }
}
