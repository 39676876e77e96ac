// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// One event, as the audit log records it. It names devices by their ids, and holds nothing that a log may not hold.
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
        /// Another signed event has a number that an accepted event has.
        case eventConflict = "event_conflict"
        /// An operator continued with a log that differed from the database's knowledge.
        case logAccepted = "log_accepted"
    }

    package var kind: Kind
    package var app: String?
    package var device: String?
    /// The details of the kind: a level, a serial, a number, an operator's reason.
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

/// The end of a chain, in the form in which it is signed.
package struct AuditHead: Equatable, Sendable {
    package var instance: String
    package var sequence: Int64
    /// The `mac` of the line with this sequence.
    package var mac: Digest

    package init(instance: String, sequence: Int64, mac: Digest) {
        self.instance = instance
        self.sequence = sequence
        self.mac = mac
    }

    /// The bytes that the CA's key signs; nothing else that it signs begins like them.
    package var message: [UInt8] {
        Array("tenon/audit/1\n\(instance)\n\(sequence)\n\(mac)\n".utf8)
    }
}

/// The end of a log: its last line that is on the disk, and the offset at which that line ends. The database keeps it
/// to detect a log that lost lines.
package struct AuditMark: Equatable, Sendable {
    /// The number of the last line; 0 without one.
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

    /// A chain that continues after a trusted head.
    init(after head: AuditHead, key: [UInt8]) {
        self.key = key
        self.head = head
    }

    /// A chain that continues after a line with a trusted `sequence` and `mac`.
    init(instance: String, key: [UInt8], after line: [UInt8]) throws(TenonError) {
        self.key = key
        guard let json = try? JSON(parsing: line), let sequence = json["sequence"]?.integer,
            let mac = AuditChain.mac(in: json)
        else { throw AuditChain.broken }
        head = AuditHead(instance: instance, sequence: sequence, mac: mac)
    }

    /// The end of the chain, in a file of this length.
    func mark(at bytes: Int) -> AuditMark {
        AuditMark(sequence: head.sequence, mac: head.mac, bytes: Int64(bytes))
    }

    /// Makes the next line.
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

    /// Takes a line, without its line feed, that must be the next.
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

    /// Compared with its only form, because a letter in the wrong case is a change, too.
    static func mac(in json: JSON) -> Digest? {
        guard let text = json["mac"]?.string, let bytes = try? TextEncoding.hex.decode(text),
            let mac = try? Digest(rawRepresentation: bytes), mac.description == text
        else { return nil }
        return mac
    }

    static let broken = TenonError(
        .auditChain, message: "A line of the audit log does not follow from the line before it.")
}

// The audit events of each change. A call that changed nothing leaves none.
extension AuditEvent {
    init?(_ outcome: DeviceRegistration.Outcome) {
        switch outcome {
        case .registered(let device): self.init(device.state == .pending ? .registrationPending : .registered, device)
        // A waiting device asks again and again, so a repetition leaves no line.
        case .known(let device) where device.state == .pending: return nil
        case .known(let device): self.init(.registeredAgain, device)
        case .refused: return nil
        }
    }

    init?(_ outcome: KeyRotation.Outcome) {
        switch outcome {
        case .rotated(let device): self.init(.rotated, device)
        case .current(let device): self.init(.rotatedAgain, device)
        case .refused: return nil
        }
    }

    init?(_ approval: Approval, _ outcome: Approval.Outcome, reason: String) {
        guard case .decided(let device) = outcome else { return nil }
        self.init(approval == .approve ? .deviceApproved : .deviceRejected, device)
        details["reason"] = .string(reason)
    }

    /// One event for the name that was given, and one for each device that is revoked with it.
    static func events(_ revocation: Revocation, _ outcome: Revocation.Outcome, reason: String) -> [AuditEvent] {
        guard let event = AuditEvent(revocation, outcome, reason: reason) else { return [] }
        guard case .device(_, let id, _) = revocation else { return [event] }
        return outcome.devices.map { device in
            guard device.id != id else { return event }
            let details: [String: JSON] = [
                "reason": .string(reason), "compromised": true, "with": .string(id), "certificates": 0,
            ]
            return AuditEvent(.deviceRevoked, app: device.app, device: device.id, details: details)
        }
    }

    /// An EK may be denied before it is known.
    private init?(_ revocation: Revocation, _ outcome: Revocation.Outcome, reason: String) {
        var details: [String: JSON] = [
            "certificates": .integer(Int64(outcome.certificates)), "reason": .string(reason),
        ]
        switch revocation {
        case .device(let app, let id, let compromised):
            guard outcome.found else { return nil }
            details["compromised"] = .bool(compromised)
            self.init(.deviceRevoked, app: app, device: id, details: details)
        case .certificate(let serial):
            guard outcome.found else { return nil }
            details["serial"] = .string(TextEncoding.hex.encode(serial))
            self.init(.certificateRevoked, details: details)
        case .ek: self.init(.ekDenied, details: details)
        }
    }

    /// Not every use leaves a line: somebody who has the copy may use it as often as they like.
    init?(_ use: RetiredKeyUse) {
        guard case .alarm(let device, let uses) = use, uses & (uses - 1) == 0 else { return nil }
        self.init(.retiredKeyUsed, device: device, details: ["uses": .integer(uses)])
    }

    init(issued certificate: AKCertificate) {
        let serial = JSON.string(TextEncoding.hex.encode(certificate.serial))
        self.init(.certificateIssued, app: certificate.app, device: certificate.device, details: ["serial": serial])
    }

    private init(_ kind: Kind, _ device: Device) {
        var details: [String: JSON] = ["level": .string(device.level.rawValue)]
        details["serial"] = device.akSerial.map { .string(TextEncoding.hex.encode($0)) }
        self.init(kind, app: device.app, device: device.id, details: details)
    }
}
