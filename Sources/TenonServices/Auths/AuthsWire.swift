// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension Auths: ServiceProfile {
    /// The key in CESR.
    package func text(of key: PublicKey) -> String { key.keriText }

    package func registration(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> ServiceDraft {
        guard let next = terms.next, terms.slot == 0 else { throw .missing("a next key") }
        let inception = try KeyEventLog.inception(key: terms.key, next: next)
        let prefix = try KeyEvent(bytes: inception, attachment: "").entry().digest
        return .unsigned(.event(inception)) { signature throws(TenonError) in
            let event = try KeyEvent(inception, signature: signature)
            var body = JSONObject()
            body["prefix"] = .string(prefix)
            body["did"] = .string(KeyEventLog.didPrefix + prefix)
            body["public_key_hex"] = .string(TextEncoding.hex.encode(terms.key.compressedRepresentation))
            body["inception_event"] = .string(String(decoding: event.bytes, as: UTF8.self))
            body["attachment"] = .string(event.attachment)
            body["device_name"] = deviceName.map { .string($0) }
            return post("/register", try JSON.object(body).encoded())
        }
    }

    /// The identifier is its own name: the answer adds nothing to it.
    package func registration(
        in answer: HTTPResponse, to request: HTTPRequest
    ) -> ServiceAnswer<RegistrationOutcome> {
        let json = json(answer)
        guard let prefix = try? JSON(parsing: request.body)["prefix"]?.string else { return .unclear(.unreadable) }
        switch (answer.status, json?["status"]?.string) {
        case (200, "registered"), (201, "registered"):
            return .accepted(.registered(deviceID: prefix, attestationCertificates: []))
        case (200, "pending"), (202, "pending"): return .accepted(.pending)
        default: return failure(answer, json)
        }
    }

    package func rotation(_ device: ServiceDevice, _ terms: RotationTerms) throws(TenonError) -> ServiceDraft {
        guard let prefix = device.deviceID, let prior = terms.prior, let following = terms.following else {
            throw .missing("the last event")
        }
        let position = LogPosition(tail: prior, key: terms.current, next: terms.new)
        let log = try KeyEventLog(prefix: prefix, at: position)
        let rotation = try log.rotation(to: terms.new, next: following)
        guard try KeyEvent(bytes: rotation, attachment: "").entry().sequence == terms.slot else {
            throw .missing("the number after the last event's")
        }
        return .unsigned(.event(rotation)) { signature throws(TenonError) in
            try message([KeyEvent(rotation, signature: signature)], toLog: prefix)
        }
    }

    package func logMessage(_ device: ServiceDevice, _ entries: [LogEntry]) throws(TenonError) -> HTTPRequest {
        guard let prefix = device.deviceID else { throw .missing("an identifier") }
        return try message(entries.map { entry throws(TenonError) in try KeyEvent(line: entry.line) }, toLog: prefix)
    }

    private func message(_ events: [KeyEvent], toLog prefix: String) throws(TenonError) -> HTTPRequest {
        var body = JSONObject()
        body["events"] = .array(events.map { .string(String(decoding: $0.bytes, as: UTF8.self)) })
        body["attachments"] = .array(events.map { .string($0.attachment) })
        return post(path(ofLog: prefix), try JSON.object(body).encoded())
    }

    package func rotation(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RotationOutcome> {
        let json = json(answer)
        guard answer.status == 200, json?["status"]?.string == "accepted" else { return failure(answer, json) }
        return .accepted(RotationOutcome())
    }

    package func logEntry(in request: HTTPRequest) throws(TenonError) -> LogEntry? {
        let json = try JSON(parsing: request.body)
        let event = json["inception_event"]?.string ?? json["events"]?.array?.last?.string
        let attachment = json["attachment"]?.string ?? json["attachments"]?.array?.last?.string
        guard let event, let attachment else { throw .unreadable }
        return try KeyEvent(bytes: Array(event.utf8), attachment: attachment).entry()
    }

    package func logEntry(ofLine line: [UInt8]) throws(TenonError) -> LogEntry { try KeyEvent(line: line).entry() }

    /// As many events as fit in an answer.
    package func logRequest(_ device: ServiceDevice, from sequence: Int64) throws(TenonError) -> HTTPRequest {
        guard let prefix = device.deviceID else { throw .missing("an identifier") }
        let url = service.text + path(ofLog: prefix) + "?from=\(sequence)&limit=64"
        return HTTPRequest(method: "GET", url: url, headers: [("Accept", "application/json")])
    }

    package func log(in answer: HTTPResponse) -> ServiceAnswer<[LogEntry]> {
        let json = json(answer)
        guard answer.status == 200, let events = json?["events"]?.array, let attachments = json?["attachments"]?.array,
            events.count == attachments.count
        else { return failure(answer, json) }
        do throws(TenonError) {
            var entries: [LogEntry] = []
            for (event, attachment) in zip(events, attachments) {
                guard let event = event.string, let attachment = attachment.string else { throw .unreadable }
                entries.append(try KeyEvent(bytes: Array(event.utf8), attachment: attachment).entry())
            }
            return .accepted(entries)
        } catch {
            return .unclear(.unreadable)
        }
    }

    package func isLog(_ entries: [LogEntry], of device: ServiceDevice, after position: LogPosition?) -> Bool {
        do throws(TenonError) {
            guard let prefix = device.deviceID else { return false }
            var log = KeyEventLog()
            if let position { log = try KeyEventLog(prefix: prefix, at: position) }
            for entry in entries {
                try log.append(KeyEvent(line: entry.line))
                guard log.said == entry.digest, log.sequence == entry.sequence else { return false }
            }
            return log.prefix == prefix
        } catch {
            return false
        }
    }

    private func path(ofLog prefix: String) -> String { "/v1/identities/\(prefix)/kel" }

    private func post(_ path: String, _ body: [UInt8]) -> HTTPRequest {
        HTTPRequest(
            method: "POST", url: service.text + path,
            headers: [("Accept", "application/json"), ("Content-Type", "application/json")], body: body)
    }
}

extension Auths {
    private func json(_ answer: HTTPResponse) -> JSON? {
        let json = try? JSON(parsing: answer.body)
        return json?.object == nil ? nil : json
    }

    /// Most services say what is wrong in `error`, and have no codes.
    private func failure<Value>(_ answer: HTTPResponse, _ json: JSON?) -> ServiceAnswer<Value> {
        let texts = [json?["code"]?.string, json?["error"]?.string].compactMap { $0 }
        let code = texts.first { 1...64 ~= $0.utf8.count && $0.utf8.allSatisfy { 0x20...0x7e ~= $0 } }
        return declaration.failure(answer, code: code)
    }
}

extension KeyEventLog {
    /// The state of an identifier that this device keeps, and continues.
    init(prefix: String, at position: LogPosition) throws(TenonError) {
        try self.init(
            prefix: prefix, said: position.tail.digest, sequence: UInt64(max(position.tail.sequence, 0)),
            key: position.key, nextDigest: position.next.keriDigest, isEstablishmentOnly: false)
    }
}

extension TenonError {
    fileprivate static func missing(_ what: String) -> TenonError {
        TenonError(.serviceStep, message: "This step of the service needs \(what).")
    }

    fileprivate static let unreadable = TenonError(
        .serviceAnswer, message: "The service's answer does not contain events of a log.")
}
