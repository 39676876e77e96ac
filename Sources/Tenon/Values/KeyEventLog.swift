// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// An event of a KERI log with its attachment, as both are sent.
package struct KeyEvent: Equatable, Sendable {
    package var bytes: [UInt8]
    package var attachment: String

    package init(bytes: [UInt8], attachment: String) {
        self.bytes = bytes
        self.attachment = attachment
    }

    /// The event with the attachment that carries its signature.
    ///
    /// - Throws: ``TenonError/Code/signatureRange`` for a signature with a high s.
    package init(_ bytes: [UInt8], signature: Signature) throws(TenonError) {
        self.bytes = bytes
        attachment = try coreText(capacity: TENON_KERI_ATTACHMENT_SIZE) { buffer, written in
            withUnsafePointer(to: signature.core) {
                tenon_keri_attachment_encode(buffer.baseAddress, buffer.count, &written, $0)
            }
        }
    }
}

/// The state of a KERI log after its last event (docs/auths.md). It does not keep the events.
package struct KeyEventLog: Sendable {
    private var core = tenon_keri_state()

    /// An empty log.
    package init() {}

    /// The state that was read from a log before.
    ///
    /// - Parameter nextDigest: nil for a log that has ended.
    /// - Throws: ``TenonError/Code/length`` for a text that is not the length of a SAID.
    package init(
        prefix: String, said: String, sequence: UInt64, key: PublicKey, nextDigest: String?,
        isEstablishmentOnly: Bool
    ) throws(TenonError) {
        try KeyEventLog.copy(prefix, to: &core.prefix)
        try KeyEventLog.copy(said, to: &core.said)
        if let nextDigest { try KeyEventLog.copy(nextDigest, to: &core.next) }
        core.sequence = sequence
        core.key = key.core
        core.flags = isEstablishmentOnly ? UInt32(TENON_KERI_ESTABLISHMENT_ONLY) : 0
    }

    /// Takes the next event. The log is unchanged when this throws.
    ///
    /// - Throws: the code of the first rule that the event breaks: ``TenonError/Code/log1Size`` and the others.
    package mutating func append(_ event: KeyEvent) throws(TenonError) {
        var next = core
        let status = event.bytes.withUnsafeBufferPointer { bytes in
            event.attachment.withCoreText { attachment, count in
                tenon_keri_append(&next, bytes.baseAddress, bytes.count, attachment, count, 0)
            }
        }
        try TenonError.check(status)
        core = next
    }

    package var isEmpty: Bool { withUnsafeBytes(of: core.prefix) { $0[0] == 0 } }

    /// The identifier: the SAID of the inception; "" for an empty log.
    package var prefix: String { KeyEventLog.text(core.prefix) }

    /// The SAID of the last event; "" for an empty log.
    package var said: String { KeyEventLog.text(core.said) }

    /// The number of the last event.
    package var sequence: UInt64 { core.sequence }

    /// The digest of the key to which the last rotation or the inception committed; nil after the log has ended.
    package var nextDigest: String? {
        let text = KeyEventLog.text(core.next)
        return text.isEmpty ? nil : text
    }

    /// The current key; nil for an empty log.
    package var key: PublicKey? { isEmpty ? nil : PublicKey(core: core.key) }

    /// Whether the inception allows rotations only.
    package var isEstablishmentOnly: Bool { core.flags & UInt32(TENON_KERI_ESTABLISHMENT_ONLY) != 0 }

    /// The identifier as a DID.
    ///
    /// - Throws: ``TenonError/Code/empty`` for an empty log.
    package var did: String {
        get throws(TenonError) {
            try coreText(capacity: TENON_KERI_DID_SIZE) { buffer, written in
                withUnsafePointer(to: core) { tenon_keri_did(buffer.baseAddress, buffer.count, &written, $0) }
            }
        }
    }

    /// What stands before the identifier in a DID.
    package static let didPrefix = "did:keri:"

    /// The most bytes of an event.
    package static let maxEventSize = TENON_KERI_EVENT_MAX

    /// The inception of an identifier, for its key to sign. Both keys must be on disk before it is sent.
    package static func inception(key: PublicKey, next: PublicKey) throws(TenonError) -> [UInt8] {
        try bytes(capacity: TENON_KERI_INCEPTION_SIZE) { buffer, written in
            withUnsafePointer(to: key.core) { key in
                withUnsafePointer(to: next.core) {
                    tenon_keri_inception(buffer.baseAddress, buffer.count, &written, key, $0)
                }
            }
        }
    }

    /// The rotation that follows, for `key` to sign: the key to which the log committed. It commits to `next`.
    package func rotation(to key: PublicKey, next: PublicKey) throws(TenonError) -> [UInt8] {
        try bytes(capacity: TENON_KERI_ROTATION_MAX) { buffer, written in
            withUnsafePointer(to: core) { core in
                withUnsafePointer(to: key.core) { key in
                    withUnsafePointer(to: next.core) {
                        tenon_keri_rotation(buffer.baseAddress, buffer.count, &written, core, key, $0)
                    }
                }
            }
        }
    }

    private static func copy<Field>(_ text: String, to field: inout Field) throws(TenonError) {
        guard text.utf8.count == TENON_KERI_SAID_SIZE, !text.utf8.contains(0) else {
            throw TenonError(.length, message: "A SAID has \(TENON_KERI_SAID_SIZE) characters.")
        }
        withUnsafeMutableBytes(of: &field) { $0.copyBytes(from: text.utf8) }
    }

    private static func text<Field>(_ field: Field) -> String {
        withUnsafeBytes(of: field) { $0[0] == 0 ? "" : String(decoding: $0, as: UTF8.self) }
    }
}

extension KeyEventLog: Equatable {
    package static func == (left: KeyEventLog, right: KeyEventLog) -> Bool {
        left.prefix == right.prefix && left.said == right.said && left.sequence == right.sequence
            && left.nextDigest == right.nextDigest && left.key == right.key
            && left.isEstablishmentOnly == right.isEstablishmentOnly
    }
}

/// A text that the core writes, at most so many bytes.
private func coreText(
    capacity: Int, _ write: (UnsafeMutableBufferPointer<CChar>, inout Int) -> tenon_status
) throws(TenonError) -> String {
    let text = try bytes(capacity: capacity) { buffer, written in
        buffer.withMemoryRebound(to: CChar.self) { write($0, &written) }
    }
    return String(decoding: text, as: UTF8.self)
}

extension PublicKey {
    /// The key in CESR, as an event names it.
    package var keriText: String {
        cesr(capacity: TENON_KERI_KEY_SIZE) { buffer, written, key in
            tenon_keri_key_encode(buffer.baseAddress, buffer.count, &written, key)
        }
    }

    /// The digest of that text, as the event before names the key.
    package var keriDigest: String {
        cesr(capacity: TENON_KERI_SAID_SIZE) { buffer, written, key in
            tenon_keri_key_digest(buffer.baseAddress, buffer.count, &written, key)
        }
    }

    /// The buffer is large enough, and nothing else can fail.
    private func cesr(
        capacity: Int,
        _ write: (UnsafeMutableBufferPointer<CChar>, inout Int, UnsafePointer<tenon_public_key>) -> tenon_status
    ) -> String {
        let text = try? coreText(capacity: capacity) { buffer, written in
            withUnsafePointer(to: core) { write(buffer, &written, $0) }
        }
        return text ?? ""
    }
}
