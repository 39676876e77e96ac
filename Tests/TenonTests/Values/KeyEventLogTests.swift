// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// The core's log as a value. Its rules are tested in C.
@Suite struct KeyEventLogTests {
    private let keys: [SoftwareKey]

    init() throws {
        keys = try KeriVectorTests.keys.map { try SoftwareKey(scalar: hex($0.0), deterministic: true) }
    }

    private func signed(_ event: [UInt8], by index: Int) throws -> KeyEvent {
        try KeyEvent(event, signature: keys[index].blockingSignature(for: .event(event)).normalised())
    }

    @Test func aLogIsMadeCheckedAndRestored() throws {
        var log = KeyEventLog()
        #expect(log.isEmpty && log.prefix.isEmpty && log.key == nil && log.nextDigest == nil)
        let inception = try KeyEventLog.inception(key: keys[0].publicKey, next: keys[1].publicKey)
        try log.append(signed(inception, by: 0))
        #expect(log.prefix == "EKiCzlm2xHzI6WIBcGlo0zlyQ3cSxtmwpNGES_A0VxAD" && log.said == log.prefix)
        #expect(try log.did == KeyEventLog.didPrefix + log.prefix)
        let rotation = try log.rotation(to: keys[1].publicKey, next: keys[2].publicKey)
        let before = log
        try log.append(signed(rotation, by: 1))
        #expect(log.said == "EKBO8xVngC-pVQBlDbXXR4d2oIL4ezYE5kpY6p7RTt_x" && log.sequence == 1)
        #expect(log.key == keys[1].publicKey && log != before)

        var restored = try KeyEventLog(
            prefix: before.prefix, said: before.said, sequence: 0, key: keys[0].publicKey,
            nextDigest: before.nextDigest, isEstablishmentOnly: false)
        #expect(restored == before)
        try restored.append(signed(rotation, by: 1))
        #expect(restored == log)
    }

    @Test func aRefusedEventChangesNothing() throws {
        var log = KeyEventLog()
        let inception = try KeyEventLog.inception(key: keys[0].publicKey, next: keys[1].publicKey)
        try log.append(signed(inception, by: 0))
        let before = log
        let rotation = try log.rotation(to: keys[1].publicKey, next: keys[2].publicKey)
        let byOldKey = try signed(rotation, by: 0)
        #expect(throws: TenonError.self) { try log.append(byOldKey) }
        let unsigned = KeyEvent(bytes: rotation, attachment: "")
        #expect(throws: TenonError.self) { try log.append(unsigned) }
        #expect(log == before)
        #expect(throws: TenonError.self) {
            try KeyEventLog(
                prefix: "E", said: before.said, sequence: 0, key: keys[0].publicKey, nextDigest: nil,
                isEstablishmentOnly: false)
        }
    }
}
