// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Testing

@testable import Tenon

@Suite struct LogTests {
    private final class Log: Sendable {
        private let events = Mutex<[LogEvent]>([])

        var sink: LogSink { { event in self.events.withLock { $0.append(event) } } }
        var lines: [String] { events.withLock { $0.map(\.description) } }
    }

    @Test func tellsWhatHappens() async throws {
        let (rig, log) = (try FlowRig(), Log())
        rig.service.script(.notSent)
        let identity = try rig.restarted(log: log.sink)
        try await identity.register()
        #expect(
            log.lines == [
                "register began", "state unregistered", "not answered: TENON_ERROR_HTTP_CONNECT",
                "waits 1000 ms for try 2 of 3, after TENON_ERROR_HTTP_CONNECT",
                "answered 200 after 0 ms", "state challengeReceived", "state keyReady", "state registering",
                "answered 200 after 0 ms", "state registered", "register ended",
            ])
        rig.service.script(
            .answers(503, nil), .answers(503, nil), .answers(503, nil), .answers(503, nil), .answers(503, nil))
        _ = await refusal { try await identity.rotate() }
        #expect(log.lines.last?.hasPrefix("rotate ended with TENON_ERROR_") == true)
    }

    /// W27: the log of a full run with faults contains nothing from the wire or from the record.
    @Test func w27_holdsNothingThatMustNotBeWrittenDown() async throws {
        let (rig, log) = (try FlowRig(), Log())
        let identity = try rig.restarted(log: log.sink)
        rig.service.script(.answerLost)
        try await identity.register()
        rig.service.script(.answerLost, .answerLost)
        _ = await refusal { try await identity.rotate() }
        try await rig.expectNotLost(identity)
        let record = try rig.record()
        let signed = try await identity.sign("POST", path: "/v1/x", body: [1])
        try await identity.reset()
        let text = log.lines.joined(separator: "\n")
        #expect(LogEvent.Operation.allCases.filter { text.contains("\($0.rawValue) began") }.count >= 4)
        var forbidden = [signed.signature, signed.nonce, record.deviceLocalID, record.name.id, record.origin]
        forbidden += [try #require(record.deviceID), "service.example", "https"]
        for request in rig.service.seen {
            forbidden += request.headers.map(\.value) + texts(try? JSON(parsing: request.body))
        }
        forbidden += record.keys.flatMap { [TextEncoding.hex.encode($0.facts.name), $0.facts.digest.description] }
        for secret in forbidden where secret.count >= 5 { #expect(!text.contains(secret), "\(secret)") }
        #expect(forbidden.count > 30)
    }

    private func texts(_ json: JSON?) -> [String] {
        switch json {
        case .string(let text): [text]
        case .array(let values): values.flatMap(texts)
        case .object(let object): object.members.flatMap { texts($0.value) }
        default: []
        }
    }
}
