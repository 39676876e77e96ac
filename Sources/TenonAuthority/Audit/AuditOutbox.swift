// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// A line of the audit log that is stored with its change, under an id that is also in the line.
struct OutboxLine: Sendable {
    static let nameMember = "change"

    let id: String
    let members: [String: JSON]

    init(_ event: AuditEvent, id: String) {
        self.id = id
        var members = event.members
        members[OutboxLine.nameMember] = .string(id)
        self.members = members
    }

    /// - Throws: ``TenonError/Code/storeCorrupt``.
    init(id: String, stored bytes: [UInt8]) throws(TenonError) {
        guard let object = (try? JSON(parsing: bytes))?.object else { throw .damaged("a line of the audit log") }
        self.id = id
        members = Dictionary(object.members.map { ($0.key, $0.value) }) { $1 }
    }

    /// - Throws: ``TenonError/Code/tooLarge`` for a line that the log would not take.
    func encoded() throws(TenonError) -> [UInt8] {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        let bytes = try JSON.object(object).encoded()
        guard bytes.count <= AuditLog.eventBytes else { throw AuditLog.tooLong }
        return bytes
    }
}

/// Tracks a process's lines on their way from the store to the log (decision: audit-log): each is written to the log
/// once, and then removed from the store.
final class AuditOutbox: Sendable {
    private struct State {
        var log: AuditLog?
        /// Lines whose change or whose writing is under way.
        var underWay: Set<String> = []
        /// Lines that are in the log and still in the store.
        var written: Set<String> = []
        /// Lines that are in the store and not in the log.
        var waiting: Set<String> = []
        var isTidying = false
        /// The number of the last line of the log that the store knows.
        var kept: Int64 = 0
    }

    private let state = Mutex(State())

    var log: AuditLog? { state.withLock { $0.log } }
    var waiting: Int { state.withLock { $0.waiting.count } }
    /// Whether so many written lines are in the store that they should be removed without waiting for the timer.
    var isLong: Bool { state.withLock { $0.written.count >= 256 } }

    /// Begins with a log, and with the lines that an earlier process left in the store.
    func attach(_ log: AuditLog, written: Set<String>, waiting: Set<String>) {
        state.withLock { $0 = State(log: log, written: written, waiting: waiting) }
    }

    /// Makes an id for a line that may follow, and marks it as under way, so that nobody takes it for one that was left
    /// behind.
    func begin() -> String {
        let id = TextEncoding.hex.encode([UInt8](random: 16))
        state.withLock { _ = $0.underWay.insert(id) }
        return id
    }

    /// Whether a line in the store was left behind. If so, the caller must write it.
    func take(_ id: String) -> Bool {
        state.withLock { state in
            guard !state.written.contains(id), state.underWay.insert(id).inserted else { return false }
            state.waiting.insert(id)
            return true
        }
    }

    enum End {
        /// The change stored no line.
        case nothing
        case written
        /// The line is not in the log; whether it is, or may be, in the store.
        case failed(isStored: Bool)
    }

    func end(_ id: String, _ end: End) {
        state.withLock { state in
            state.underWay.remove(id)
            switch end {
            case .nothing: break
            case .written:
                state.waiting.remove(id)
                state.written.insert(id)
            case .failed(let isStored):
                if isStored { state.waiting.insert(id) }
            }
        }
    }

    // MARK: What only one does at a time

    func beginTidying() -> Bool {
        state.withLock { state in
            defer { state.isTidying = true }
            return !state.isTidying
        }
    }

    func endTidying() { state.withLock { $0.isTidying = false } }

    var kept: Int64 { state.withLock { $0.kept } }

    func keep(_ mark: AuditMark) { state.withLock { $0.kept = max($0.kept, mark.sequence) } }

    /// Lines that are in the log and still in the store.
    func written(atMost count: Int) -> [String] { state.withLock { Array($0.written.prefix(count)) } }

    /// Forgets lines that were removed from the store.
    func forget(_ ids: [String]) { state.withLock { $0.written.subtract(ids) } }
}
