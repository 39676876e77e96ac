// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// An identity of Auths whose keys are in memory.
package struct TestIdentity: Sendable {
    package private(set) var log = KeyEventLog()
    package private(set) var events: [KeyEvent] = []
    /// The current key and the next one.
    package private(set) var keys: [SoftwareKey]

    package init() throws {
        keys = [try SoftwareKey(), try SoftwareKey()]
        let event = try KeyEventLog.inception(key: keys[0].publicKey, next: keys[1].publicKey)
        try add(Self.signed(event, by: keys[0]))
    }

    package var key: SoftwareKey { keys[0] }

    package var did: String { KeyEventLog.didPrefix + log.prefix }

    /// A rotation to the next key, which it signs.
    package mutating func rotate() throws -> KeyEvent {
        let next = try SoftwareKey()
        let rotation = try Self.signed(log.rotation(to: keys[1].publicKey, next: next.publicKey), by: keys[1])
        try add(rotation)
        keys = [keys[1], next]
        return rotation
    }

    /// A rotation that is not taken into this log: it commits to a key that nobody keeps.
    package func other() throws -> KeyEvent {
        let next = try SoftwareKey().publicKey
        return try Self.signed(log.rotation(to: keys[1].publicKey, next: next), by: keys[1])
    }

    private mutating func add(_ event: KeyEvent) throws {
        try log.append(event)
        events.append(event)
    }

    package static func signed(_ event: [UInt8], by key: SoftwareKey) throws -> KeyEvent {
        try KeyEvent(event, signature: key.blockingSignature(for: .event(event)).normalised())
    }

    /// The message that registers it.
    package func registration() throws -> [String: JSON] {
        var first = KeyEventLog()
        try first.append(events[0])
        let key = TextEncoding.hex.encode(first.key?.compressedRepresentation ?? [])
        return [
            "prefix": .string(first.prefix), "did": .string(try first.did), "public_key_hex": .string(key),
            "inception_event": .string(String(decoding: events[0].bytes, as: UTF8.self)),
            "attachment": .string(events[0].attachment), "device_name": "A phone",
        ]
    }

    package func message() throws -> [UInt8] {
        var object = JSONObject()
        for (name, value) in try registration() { object[name] = value }
        return try JSON.object(object).encoded()
    }
}

extension KeyEvent {
    /// The message that hands events over.
    package static func message(_ events: [KeyEvent]) throws -> [UInt8] {
        let json: JSON = [
            "events": .array(events.map { .string(String(decoding: $0.bytes, as: UTF8.self)) }),
            "attachments": .array(events.map { .string($0.attachment) }),
        ]
        return try json.encoded()
    }
}
