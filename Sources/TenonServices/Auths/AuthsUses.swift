// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension DeviceIdentity {
    /// The identity of this device at an Auths service.
    ///
    /// - Parameters:
    ///   - keys: where the keys live, for example a TPM.
    ///   - transport: how the service is reached.
    ///   - stateDirectory: the folder of the state; it is made with mode 0700 when it does not exist.
    ///   - log: receives the events of the identity, which contain no secrets.
    /// - Throws: an error of the folder, or ``TenonError/Code/httpURL`` when a development build is given the URL of
    ///   another machine.
    public convenience init(
        _ service: Auths, keys: Keys, transport: any Transport, stateDirectory: String, log: LogSink? = nil
    ) throws(TenonError) {
        try self.init(
            appID: service.appID, service: Service(service), keys: keys, transport: transport,
            stateDirectory: stateDirectory, log: log)
    }

    /// The events that the service took, each with its attachment, from the inception on. They remain readable after
    /// the keys are lost.
    ///
    /// - Throws: ``TenonError/Code/notRegistered``; ``TenonError/Code/stateMissing`` for a log that is incomplete, which
    ///   ``maintain()`` takes from the service.
    public func events() async throws(TenonError) -> [(event: [UInt8], attachment: String)] {
        var events: [(event: [UInt8], attachment: String)] = []
        for line in try await log() {
            let event = try KeyEvent(line: line)
            events.append((event.bytes, event.attachment))
        }
        return events
    }

    /// Signs data that another program chose. What could be taken for a message of the device is refused.
    ///
    /// - Throws: ``TenonError/Code/dataIsMessage``.
    @discardableResult
    public func signPlain(_ data: [UInt8]) async throws(TenonError) -> Signature {
        try await sign(.plainData(data)).signature
    }

    /// A login or a request of an identifier, for the header `Authorization`. A verifier takes its nonce once.
    ///
    /// - Parameters:
    ///   - credential: the SAID of a credential; nil is that of the inception.
    ///   - audience: the verifier's name, as it expects it: its origin.
    ///   - nonce: the verifier's, 16 to 128 bytes.
    /// - Returns: the value of the header.
    public func presentation(
        credential: String? = nil, audience: String, nonce: [UInt8]
    ) async throws(TenonError) -> String {
        guard let prefix = deviceID else { throw TenonError(.notRegistered, message: "This device is not registered.") }
        let credential = credential ?? prefix
        let made = try await sign(.presentation(credential: credential, audience: audience, nonce: nonce))
        let members: [(String, JSON)] = [
            ("audience", .string(audience)),
            ("binding", ["challenge": ["nonce": .string(TextEncoding.base64url.encode(nonce))]]),
            ("credential_said", .string(credential)), ("identity", .string(KeyEventLog.didPrefix + made.deviceID)),
            ("signature_b64", .string(TextEncoding.base64url.encode(made.signature.rawRepresentation))),
        ]
        let text = try JSON.members(members).canonical()
        return "Auths-Presentation " + TextEncoding.base64url.encode(text)
    }

    /// A request as an ActionEnvelope: what is asked for, by whom and when, signed as a whole.
    ///
    /// - Parameters:
    ///   - type: the kind of action.
    ///   - payload: JSON, in which integers are at most 2^53 - 1.
    ///   - timestamp: RFC 3339, for example `2026-01-02T03:04:05Z`.
    /// - Returns: the envelope, as JSON.
    public func envelope(type: String, payload: [UInt8], timestamp: String) async throws(TenonError) -> [UInt8] {
        guard let prefix = deviceID else { throw TenonError(.notRegistered, message: "This device is not registered.") }
        let members: [(String, JSON)] = [
            ("identity", .string(KeyEventLog.didPrefix + prefix)), ("payload", try JSON(parsing: payload)),
            ("timestamp", .string(timestamp)), ("type", .string(type)), ("version", "1.0"),
        ]
        return try await signed(members, "signature")
    }

    /// The answer to a login: the signature over the verifier's domain and nonce.
    public func login(domain: String, nonce: String) async throws(TenonError) -> Signature {
        let members: [(String, JSON)] = [("domain", .string(domain)), ("nonce", .string(nonce))]
        return try await sign(.clientData(JSON.members(members).canonical())).signature
    }

    /// An attestation of version 1 in which the identifier speaks about its own device.
    ///
    /// - Parameters:
    ///   - id: its name, which makes it different from others.
    ///   - timestamp: RFC 3339.
    /// - Returns: the attestation, as JSON.
    public func selfAttestation(id: String, timestamp: String, note: String? = nil) async throws(TenonError) -> [UInt8]
    {
        guard let prefix = deviceID else { throw TenonError(.notRegistered, message: "This device is not registered.") }
        let key = try await publicKey()
        let hex = TextEncoding.hex.encode(key.compressedRepresentation)
        let did: JSON = .string(KeyEventLog.didPrefix + prefix)
        var members: [(String, JSON)] = [
            ("device_public_key", .string(hex)), ("expires_at", .null), ("issuer", did),
            ("note", note.map { .string($0) } ?? .null), ("payload", .null), ("revoked_at", .null),
            ("rid", .string(id)), ("subject", did), ("timestamp", .string(timestamp)), ("version", .integer(1)),
        ]
        let made = try await sign(.clientData(JSON.members(members).canonical()))
        guard made.publicKey == key else { throw TenonError(.stateBusy, message: "The key was changed. Try again.") }
        members[0].1 = ["curve": "p256", "key": .string(hex)]
        members += [("device_signature", .string(made.hex)), ("identity_signature", .string(made.hex))]
        return try JSON.members(members.filter { !$0.1.isNull }).canonical()
    }

    private func signed(_ members: [(String, JSON)], _ name: String) async throws(TenonError) -> [UInt8] {
        let made = try await sign(.clientData(JSON.members(members).canonical()))
        return try JSON.members(members + [(name, .string(made.hex))]).canonical()
    }
}

extension IdentitySignature {
    /// r and s in hex.
    fileprivate var hex: String { TextEncoding.hex.encode(signature.rawRepresentation) }
}

extension JSON {
    fileprivate static func members(_ members: [(String, JSON)]) -> JSON {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        return .object(object)
    }
}
