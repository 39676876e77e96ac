// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The body of `POST /register`.
private struct RegisterMessage {
    let prefix: String
    let did: String
    let keyText: String
    let event: KeyEvent
    let deviceName: String?

    init(_ message: MessageObject) throws(TenonError) {
        func text(_ name: String, _ maxBytes: Int) throws(TenonError) -> String {
            guard let text = try message.text(name, maxBytes: maxBytes) else { throw message.missing(name) }
            return text
        }
        prefix = try text("prefix", 128)
        did = try text("did", 128)
        keyText = try text("public_key_hex", 256)
        deviceName = try message.text("device_name", maxBytes: 256)
        // An inception without its attachment is one that nobody has signed.
        event = KeyEvent(
            bytes: Array(try text("inception_event", KeyEventLog.maxEventSize).utf8),
            attachment: try message.text("attachment", maxBytes: 1_024) ?? "")
    }
}

extension AuthsSteps {
    /// The same inception again is how a device repairs a lost answer.
    func register(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let object = try request.message()
        let message = try refusing(Refusal.init(form:)) { () throws(TenonError) in try RegisterMessage(object) }
        let inception = try await engine.gate.run { () throws(Refusal) in try AuthsSteps.inception(message) }
        // A log that has gone on has another key now, and its inception is still the same registration.
        if let known = try await known(inception) { return try answer(known) }
        guard let key = inception.log.key else { throw .invalidInception }
        let (limits, now) = (settings, now)
        let device = try await engine.register(
            key, .unattested, for: app, redeeming: nil, id: inception.log.prefix, platform: nil,
            localID: message.deviceName
        ) { device, connection throws(TenonError) in
            try connection.insert(inception: inception, app: device.app, limits: limits, at: now)
        }
        return try answer(device)
    }

    /// The event, if it is an inception, is signed by its key, and the other members are its own.
    private static func inception(_ message: RegisterMessage) throws(Refusal) -> StoredEvent {
        var log = KeyEventLog()
        do throws(TenonError) {
            try log.append(message.event)
            guard message.prefix == log.prefix, try message.did == log.did, let key = log.key,
                message.keyText.lowercased() == TextEncoding.hex.encode(key.compressedRepresentation)
            else { throw .otherIdentity }
        } catch {
            throw Refusal(.invalidInception, Refusal.invalidInception.message, cause: Refusal.cause(of: error.code))
        }
        return StoredEvent(event: message.event, log: log)
    }

    /// The identity, if it may go on. The engine answers the others.
    private func known(_ inception: StoredEvent) async throws(Refusal) -> Device? {
        let device = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.device(app: app.id, id: inception.log.prefix)
        }
        return device?.state == .active ? device : nil
    }

    private func answer(_ device: Device) throws(Refusal) -> AuthorityAnswer {
        try AuthorityAnswer(["status": device.state == .active ? "registered" : "pending"])
    }
}

extension Refusal {
    static let invalidInception = Refusal(.invalidInception, "Invalid inception event")
}

extension TenonError {
    static let otherIdentity = TenonError(.log13Identifier, message: "The event belongs to another identity.")
}
