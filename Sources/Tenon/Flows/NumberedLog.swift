// SPDX-License-Identifier: Apache-2.0

// What a service with numbered messages needs besides: two messages with one number end an identity for ever
// (decision: one-message, last-number).
extension Flow {
    /// Keeps a message that the service took, before the record says that it did.
    func keepInLog(_ request: HTTPRequest) async throws(TenonError) {
        guard let entry = try profile.logEntry(in: request) else { return }
        let held = held
        try await context.onDisk { store throws(TenonError) in try store.append(entry, held) }
        record.took(LogTail(entry))
    }

    /// Before a message takes a number: this state must not be older than what was sent with it.
    func checkLog() async throws(TenonError) {
        guard context.declaration.isSequenced, let tail = record.logTail else { return }
        let lines = await lines()
        guard (lines?.count ?? 0) <= tail.sequence + 1, record.lastSlot == tail.sequence else { throw .olderThanLog }
        try await askForLog()
    }

    /// Asks the service for the log from the last message on that it is known to hold, and sends it again what it has
    /// lost. Messages beyond that one, which prove themselves, show that this state is older: nothing is signed with it.
    func askForLog() async throws(TenonError) {
        guard let tail = record.logTail, let current = record.key(.current), let next = record.key(.next) else {
            return
        }
        let entries = try await wholeLog(from: tail)
        guard let first = entries.first, LogTail(first) == tail else { throw .otherLog }
        let later = Array(entries.dropFirst())
        guard let newest = later.first else { return }
        // It took the message that is under way, and nobody heard.
        if try pendingEntry()?.digest == newest.digest { return }
        let position = LogPosition(
            tail: tail, key: try await load(current).publicKey, next: try await load(next).publicKey)
        guard profile.isLog(later, of: device, after: position) else { throw .otherLog }
        try await invalidate(because: .superseded)
        throw .invalidated(.superseded)
    }

    /// Makes the log on disk what the record says that it is, from what the service holds; or gives the service again
    /// what it has lost.
    func mendLog() async throws(TenonError) {
        guard context.declaration.isSequenced, record.state == .registered, let tail = record.logTail else { return }
        guard await ownEntries(to: tail) != nil else { return try await replaceLog(to: tail) }
        guard try await wholeLog(from: tail).first.map(LogTail.init) == tail else { throw .otherLog }
    }

    private func replaceLog(to tail: LogTail) async throws(TenonError) {
        var entries: [LogEntry] = []
        while (entries.last?.sequence ?? -1) < tail.sequence {
            let more = try await self.entries(from: Int64(entries.count))
            guard more.first?.sequence == Int64(entries.count) else { throw .otherLog }
            entries += more
        }
        entries.removeLast(entries.count - Int(tail.sequence) - 1)
        guard isLog(entries, to: tail) else { throw .otherLog }
        let (held, whole) = (held, entries)
        try await context.onDisk { store throws(TenonError) in try store.replaceLog(whole, held) }
    }

    /// What the service holds from this message on. A service that does not have it is sent what it lost.
    private func wholeLog(from tail: LogTail) async throws(TenonError) -> [LogEntry] {
        let entries = try await entries(from: tail.sequence)
        guard entries.isEmpty else { return entries }
        try await sendLog(to: tail)
        return try await self.entries(from: tail.sequence)
    }

    /// Sends a service that lost its last messages those messages again, as it does that was restored from a backup.
    /// They are the bytes that it took before: nothing is signed (decision: log-sent-again).
    private func sendLog(to tail: LogTail) async throws(TenonError) {
        guard !hasSentLog, let own = await ownEntries(to: tail) else { throw .otherLog }
        hasSentLog = true
        var missing = own[try await beginningHeld(of: own)...]
        while !missing.isEmpty {
            let request = try profile.logMessage(device, Array(missing.prefix(Self.page)))
            _ = try await profile.rotation(in: exchange(request), to: request).get()
            missing = missing.dropFirst(Self.page)
        }
    }

    /// How many messages of this log the service still holds, at least. It is asked for one message, two, four, and so
    /// on before the end, until it shows some.
    private func beginningHeld(of own: [LogEntry]) async throws(TenonError) -> Int {
        var (start, step) = (own.count - 1, 1)
        var held: [LogEntry] = []
        while held.isEmpty, start > 0 {
            start = max(0, start - step)
            step *= 2
            held = try await entries(from: Int64(start))
        }
        // A log with another message is not this one, and nothing continues it.
        guard !held.isEmpty, own.dropFirst(start).map(LogTail.init).starts(with: held.map(LogTail.init)) else {
            throw .otherLog
        }
        return start + held.count
    }

    private static var page: Int { 64 }

    /// The messages on disk, if they are the whole log.
    private func ownEntries(to tail: LogTail) async -> [LogEntry]? {
        let lines = await lines()?.prefix(Int(tail.sequence) + 1)
        let entries = lines?.compactMap { try? profile.logEntry(ofLine: $0) } ?? []
        return isLog(entries, to: tail) ? entries : nil
    }

    private func isLog(_ entries: [LogEntry], to tail: LogTail) -> Bool {
        entries.last.map(LogTail.init) == tail && profile.isLog(entries, of: device, after: nil)
    }

    private func pendingEntry() throws(TenonError) -> LogEntry? {
        guard let journal = record.journal, journal.resend == .identical else { return nil }
        return try profile.logEntry(in: HTTPRequest(journalled: journal.message))
    }

    private func entries(from sequence: Int64) async throws(TenonError) -> [LogEntry] {
        let answer = try await exchange(profile.logRequest(device, from: sequence))
        return try profile.log(in: answer).get()
    }

    /// The lines on disk; nil if they cannot be read, which the service mends.
    private func lines() async -> [[UInt8]]? {
        let reading = try? await context.onDisk { store throws(TenonError) in store.log() }
        if case .found(let lines)? = reading { return lines } else { return nil }
    }
}

extension TenonError {
    static let olderThanLog = TenonError(
        .stateUnresolved,
        message: "The log of this identity is newer than its record. Restore the newer record, or reset the identity.")
    static let otherLog = TenonError(
        .serviceAnswer, message: "The service does not hold the log of this identity. Nothing was signed.")
}

extension DeviceIdentity {
    /// The log of the identity, as far as the service took it: also of one whose key is lost.
    package func log() async throws(TenonError) -> [[UInt8]] {
        let (lines, tail) = try await context.onDisk { store throws(TenonError) in
            (store.log(), try self.record()?.logTail)
        }
        guard let tail else { throw .notRegistered }
        switch lines {
        case .found(let lines) where lines.count > tail.sequence: return Array(lines.prefix(Int(tail.sequence) + 1))
        case .unreadable(let error): throw error
        default:
            throw TenonError(
                .stateMissing, message: "The log beside the record is incomplete.",
                mend: "Take it from the service: tenon maintain")
        }
    }
}
