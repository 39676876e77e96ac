// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What the audit log says of one event. It names whole devices and never what no log may hold.
package struct AuditEvent: Sendable {
    package enum Kind: String, Sendable {
        case registered
        /// A known key was registered again.
        case registeredAgain = "registered_again"
        case rotated
        case rotatedAgain = "rotated_again"
        case registrationPending = "registration_pending"
        case deviceApproved = "device_approved"
        case deviceRejected = "device_rejected"
        case deviceRevoked = "device_revoked"
        case certificateRevoked = "certificate_revoked"
        case ekDenied = "ek_denied"
        case ekAllowed = "ek_allowed"
        case certificateIssued = "certificate_issued"
        case retiredKeyUsed = "retired_key_used"
        /// An operator went on with a log that was not the database's.
        case logAccepted = "log_accepted"
    }

    package var kind: Kind
    package var app: String?
    package var device: String?
    /// What is particular to the kind: a level, a serial, a number, an operator's reason.
    package var details: [String: JSON]

    package init(_ kind: Kind, app: String? = nil, device: String? = nil, details: [String: JSON] = [:]) {
        self.kind = kind
        self.app = app
        self.device = device
        self.details = details
    }

    var members: [String: JSON] {
        var members = details
        members["event"] = .string(kind.rawValue)
        members["app"] = app.map(JSON.string)
        members["device"] = device.map(JSON.string)
        return members
    }
}

/// The end of a chain, as it is signed.
package struct AuditHead: Equatable, Sendable {
    package var instance: String
    package var sequence: Int64
    /// Of the line with this sequence.
    package var mac: Digest

    package init(instance: String, sequence: Int64, mac: Digest) {
        self.instance = instance
        self.sequence = sequence
        self.mac = mac
    }

    /// What the CA's key signs; nothing else that it signs begins so.
    package var message: [UInt8] {
        Array("tenon/audit/1\n\(instance)\n\(sequence)\n\(mac)\n".utf8)
    }
}

/// Where a log ends: its last line that is on the disk, and where in the file that line ends. The database keeps it, so
/// that a log that lost lines shows.
package struct AuditMark: Equatable, Sendable {
    /// Of the last line; 0 without one.
    package var sequence: Int64
    package var mac: Digest
    package var bytes: Int64

    package init(sequence: Int64, mac: Digest, bytes: Int64) {
        self.sequence = sequence
        self.mac = mac
        self.bytes = bytes
    }
}

/// The chain of one instance's lines: each line's `mac` is the HMAC-SHA256 of the `mac` before it, then of the line
/// without its own.
///
/// A line is one JSON object in its one form, and a line feed.
struct AuditChain: Sendable {
    private let key: [UInt8]
    private(set) var head: AuditHead

    /// A chain without lines.
    init(instance: String, key: [UInt8]) throws(TenonError) {
        self.key = key
        let start = AuditHead(instance: instance, sequence: 0, mac: try Digest(hashing: []))
        head = start
        head.mac = try Digest(authenticating: start.message, key: key)
    }

    /// A chain that goes on behind a head that is believed.
    init(after head: AuditHead, key: [UInt8]) {
        self.key = key
        self.head = head
    }

    /// A chain that goes on behind a line, of which `sequence` and `mac` are believed.
    init(instance: String, key: [UInt8], after line: [UInt8]) throws(TenonError) {
        self.key = key
        guard let json = try? JSON(parsing: line), let sequence = json["sequence"]?.integer,
            let mac = AuditChain.mac(in: json)
        else { throw AuditChain.broken }
        head = AuditHead(instance: instance, sequence: sequence, mac: mac)
    }

    /// Its end, in a file that has so many bytes.
    func mark(at bytes: Int) -> AuditMark {
        AuditMark(sequence: head.sequence, mac: head.mac, bytes: Int64(bytes))
    }

    /// The next line.
    mutating func add(_ members: [String: JSON], at seconds: Int64) throws(TenonError) -> [UInt8] {
        var object = JSONObject()
        for (key, value) in members { object[key] = value }
        object["instance"] = .string(head.instance)
        object["sequence"] = .integer(head.sequence + 1)
        object["time"] = .integer(seconds)
        let mac = try next(object)
        object["mac"] = .string(mac.description)
        let line = try JSON.object(object).encoded()
        head.sequence += 1
        head.mac = mac
        return line + [UInt8(ascii: "\n")]
    }

    /// Takes a line, without its line feed, that has to be the next.
    ///
    /// - Throws: ``TenonError/Code/auditChain``.
    mutating func verify(_ line: [UInt8]) throws(TenonError) -> JSON {
        guard let json = try? JSON(parsing: line), (try? json.encoded()) == line, var object = json.object,
            let mac = AuditChain.mac(in: json), json["sequence"]?.integer == head.sequence + 1,
            json["instance"]?.string == head.instance
        else { throw AuditChain.broken }
        object["mac"] = nil
        guard try next(object) == mac else { throw AuditChain.broken }
        head.sequence += 1
        head.mac = mac
        return json
    }

    private func next(_ object: JSONObject) throws(TenonError) -> Digest {
        try Digest(authenticating: head.mac.rawRepresentation + JSON.object(object).encoded(), key: key)
    }

    /// In its one form: the case of a letter is as good as another letter.
    static func mac(in json: JSON) -> Digest? {
        guard let text = json["mac"]?.string, let bytes = try? TextEncoding.hex.decode(text),
            let mac = try? Digest(rawRepresentation: bytes), mac.description == text
        else { return nil }
        return mac
    }

    static let broken = TenonError(
        .auditChain, message: "A line of the audit log is not the one that was written behind the line before it.")
}
