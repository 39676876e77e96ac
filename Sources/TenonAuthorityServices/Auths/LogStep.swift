// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The body of `POST /v1/identities/{prefix}/kel`: events that follow one another, each with its attachment.
private struct EventsMessage {
    /// The most events of a message, in both directions.
    static let maxEvents = 1_024
    static let maxBytes = 1 << 20

    let events: [KeyEvent]
    /// The number of the first event.
    let first: Int64

    init(_ body: [UInt8]) throws(Refusal) {
        let json = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try JSON(parsing: body, maxBytes: EventsMessage.maxBytes, maxValues: 4_096)
        }
        let events = json["events"]?.array?.compactMap(\.string) ?? []
        let attachments = json["attachments"]?.array?.compactMap(\.string) ?? []
        guard 1...EventsMessage.maxEvents ~= events.count, events.count == json["events"]?.array?.count,
            attachments.count == events.count, attachments.count == json["attachments"]?.array?.count
        else {
            throw Refusal(
                .invalidRequest, "The message needs events and as many attachments, texts, at most 1024.")
        }
        self.events = zip(events, attachments).map { KeyEvent(bytes: Array($0.utf8), attachment: $1) }
        first = try EventsMessage.number(of: self.events[0])
    }

    /// The number that an event claims; nothing else of the event is checked yet.
    private static func number(of event: KeyEvent) throws(Refusal) -> Int64 {
        let json = try? JSON(parsing: event.bytes, maxBytes: KeyEventLog.maxEventSize)
        guard let number = json?["s"]?.string.flatMap({ Int64($0, radix: 16) }), number >= 0 else {
            throw Refusal(.invalidEvent, "The first event has no number.")
        }
        return number
    }
}

extension AuthsSteps {
    /// `POST /v1/identities/{prefix}/kel`: the first event with a number stays the only one that is accepted.
    func append(_ request: AuthorityRequest, to prefix: String) async throws(Refusal) -> AuthorityAnswer {
        let message = try EventsMessage(request.body)
        // Another request may store events between reading the log and storing these.
        for _ in 0..<AuthsSteps.tries {
            if let last = try await append(message, to: prefix) {
                return try AuthorityAnswer([
                    "status": "accepted", "sequence": .integer(Int64(last.sequence)), "said": .string(last.said),
                ])
            }
        }
        throw Refusal(.unavailable, "The log changes at the moment. Send the same events again.", retryAfter: 1)
    }

    private static let tries = 8

    /// The state of the log afterwards; nil if the log has changed meanwhile.
    private func append(_ message: EventsMessage, to prefix: String) async throws(Refusal) -> KeyEventLog? {
        _ = try await identity(prefix)
        let known = try await known(prefix, message)
        guard message.first == 0 || known.before != nil else {
            throw Refusal(.sequenceGap, "The first event does not follow the last one of the log.")
        }
        guard message.first + Int64(message.events.count) <= settings.maxEvents else {
            throw Refusal(.rateLimited, "The identity has as many events as it may.", cause: "quota")
        }
        let verdict = try await engine.gate.run { () throws(Refusal) in try known.judge(message.events, of: prefix) }
        if let conflict = verdict.conflict { throw try await refusal(of: conflict) }
        guard let last = verdict.fresh.last else { return known.last }
        return try await store(verdict.fresh, after: known.last) ? last.log : nil
    }

    private func known(_ prefix: String, _ message: EventsMessage) async throws(Refusal) -> KnownEvents {
        let (first, count) = (message.first, message.events.count)
        let events = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.look { connection throws(TenonError) in
                let before = first == 0 ? nil : try connection.events(of: prefix, from: first - 1, limit: 1).first
                let known = try connection.events(of: prefix, from: first, limit: count)
                return (before?.log, known, try connection.lastEvent(of: prefix)?.log)
            }
        }
        guard let last = events.2 else { throw Refusal(.unknownIdentity, "The identity has no log.") }
        return KnownEvents(before: events.0, events: events.1, last: last)
    }

    /// Stores new events and the keys that they bring, in one transaction; false if the log has changed.
    private func store(_ events: [StoredEvent], after last: KeyEventLog) async throws(Refusal) -> Bool {
        let (now, app, limit) = (now, app.id, settings.maxLogBytes)
        var keys = [last.key].compactMap(\.self)
        for event in events { if let key = event.log.key, key != keys.last { keys.append(key) } }
        let newKeys = Array(keys.dropFirst())
        let rotation = newKeys.isEmpty ? nil : events.last.map { Int64($0.log.sequence) }
        let outcome = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.step { (outcome: Storing) in
                guard outcome == .stored, let rotation else { return nil }
                return AuditEvent(.rotated, app: app, device: last.prefix, details: ["sequence": .integer(rotation)])
            } _: { connection throws(TenonError) in
                try connection.store(events, newKeys, after: last, limit: limit, at: now)
            }
        }
        switch outcome {
        case .stored: return true
        case .changed: return false
        case .keyInUse: throw Refusal(.keyInUse, "A key of these events is or was in use. Rotate to another one.")
        }
    }

    /// Keeps the other event as evidence, before the answer.
    private func refusal(of conflict: StoredEvent) async throws(Refusal) -> Refusal {
        let (now, app) = (now, app.id)
        let (prefix, sequence, said) = (conflict.log.prefix, Int64(conflict.log.sequence), conflict.log.said)
        _ = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.step { isNew in
                guard isNew else { return nil }
                return AuditEvent(
                    .eventConflict, app: app, device: prefix,
                    details: ["sequence": .integer(sequence), "said": .string(said)])
            } _: { connection throws(TenonError) in
                try connection.keep(conflict: conflict, at: now)
            }
        }
        engine.countEventConflict()
        return Refusal(.sequenceTaken, "Another event has this number. This one is kept as evidence.")
    }
}

/// The events of a log that a message is compared with.
private struct KnownEvents: Sendable {
    /// The state before the first event of the message; nil for an inception.
    let before: KeyEventLog?
    /// The accepted events with the numbers of the message.
    let events: [StoredEvent]
    /// The state after the last accepted event.
    let last: KeyEventLog

    struct Verdict {
        var fresh: [StoredEvent] = []
        /// A signed event that is another one than the accepted event with its number.
        var conflict: StoredEvent?
    }

    /// Verifies the events that are not known byte for byte. Costly.
    func judge(_ sent: [KeyEvent], of prefix: String) throws(Refusal) -> Verdict {
        var (log, verdict) = (before ?? KeyEventLog(), Verdict())
        for (index, event) in sent.enumerated() {
            let known = index < events.count ? events[index] : nil
            if let known, known.event == event {
                log = known.log
                continue
            }
            do throws(TenonError) {
                try log.append(event)
                guard log.prefix == prefix else { throw .otherIdentity }
            } catch {
                throw Refusal(.invalidEvent, error.message, cause: Refusal.cause(of: error.code))
            }
            let read = StoredEvent(event: event, log: log)
            if let known, known.log.said != log.said { return Verdict(conflict: read) }
            // A signature differs each time; the first one stays.
            if known == nil { verdict.fresh.append(read) }
        }
        return verdict
    }
}

private enum Storing: Equatable, Sendable {
    case stored
    /// Another request came first.
    case changed
    case keyInUse
}

extension SQLConnection {
    fileprivate func store(
        _ events: [StoredEvent], _ keys: [PublicKey], after last: KeyEventLog, limit: Int64, at now: AuthorityInstant
    ) throws(TenonError) -> Storing {
        guard try lastEvent(of: last.prefix)?.log == last else { return .changed }
        switch try replaceKey(ofDevice: last.prefix, by: keys, at: now) {
        case .replaced: break
        case .keyInUse: return .keyInUse
        // The next try says why.
        case .notActive: return .changed
        }
        try count(events, of: last.prefix, limit: limit)
        for event in events {
            guard try insert(event, at: now) else {
                throw TenonError(.storeBusy, message: "Another request stored an event.", retryAfter: .seconds(1))
            }
        }
        return .stored
    }
}

extension AuthsSteps {
    /// `GET /v1/identities/{prefix}/kel`: the events from a number on. A log is public.
    func events(_ request: AuthorityRequest, of prefix: String) async throws(Refusal) -> AuthorityAnswer {
        let (from, limit) = try AuthsSteps.range(request.query ?? "")
        let device = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.device(app: app.id, id: prefix)
        }
        let (events, last) = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.look { connection throws(TenonError) in
                let last = try connection.lastEvent(of: prefix)
                return (
                    try connection.events(of: prefix, from: from, limit: limit, maxBytes: EventsMessage.maxBytes), last
                )
            }
        }
        guard device != nil, let last else { throw Refusal(.unknownIdentity, "The identity is not registered.") }
        return try AuthorityAnswer([
            "prefix": .string(prefix), "sequence": .integer(Int64(last.log.sequence)), "said": .string(last.log.said),
            "events": .texts(events.map(\.event.bytes)),
            "attachments": .array(events.map { .string($0.event.attachment) }),
        ])
    }

    /// `GET .../conflicts`, for operators: the events that are kept as evidence.
    func conflicts(of prefix: String) async throws(Refusal) -> AuthorityAnswer {
        let events = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.look { connection throws(TenonError) in
                try connection.conflicts(of: prefix)
            }
        }
        return try AuthorityAnswer([
            "prefix": .string(prefix), "events": .texts(events.map(\.bytes)),
            "attachments": .array(events.map { .string($0.attachment) }),
        ])
    }

    private static func range(_ query: String) throws(Refusal) -> (from: Int64, limit: Int) {
        var (from, limit) = (Int64(0), EventsMessage.maxEvents)
        for pair in query.split(separator: "&", omittingEmptySubsequences: false) where !query.isEmpty {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let number = parts.count == 2 ? Int64(parts[1]) : nil
            switch (parts[0], number) {
            case ("from", let number?) where number >= 0: from = number
            case ("limit", let number?) where number >= 1: limit = Int(min(number, Int64(EventsMessage.maxEvents)))
            default: throw Refusal(.invalidRequest, "The query has other members than from and limit, or no numbers.")
            }
        }
        return (from, limit)
    }
}

extension JSON {
    fileprivate static func texts(_ texts: [[UInt8]]) -> JSON {
        .array(texts.map { .string(String(decoding: $0, as: UTF8.self)) })
    }
}
