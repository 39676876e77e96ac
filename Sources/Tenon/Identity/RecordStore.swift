// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// The files of one identity: its record, the record before it, its keys and its lock.
///
/// Its functions block: they are for a ``WorkThread``, or a thread that may wait. Reading needs no lock. Whatever
/// changes a file asks for the lock, as a proof that it is held, and acts on what it reads then: a value that was read
/// before somebody else had the lock is never written back.
package final class RecordStore: Sendable {
    package let name: IdentityName
    package let folder: StateFolder
    /// What two processes, or two threads, must not hold both.
    package let lock: FileLock
    /// The record's file, which each signature looks at.
    private let file: String
    private let last = Mutex<LastReading?>(nil)

    package init(_ name: IdentityName, in folder: StateFolder) {
        self.name = name
        self.folder = folder
        file = name.record
        lock = FileLock(name.lock, in: folder)
    }

    /// Gives the record, and reads it again when it is another file than the last time.
    ///
    /// - Returns: absent only when nothing of the identity is there: no record before it, and no key. Unreadable with
    ///   ``TenonError/Code/stateMissing`` when there is any; with ``TenonError/Code/stateUnresolved`` when only the
    ///   record before can be read; else with what is wrong with the record.
    package func read() -> Reading<IdentityRecord> {
        if case .found(let stamp) = folder.stamp(of: file), let last = last.withLock({ $0 }), last.stamp == stamp {
            return .found(last.record)
        }
        let reading = folder.read(file, atMost: RecordFile.longest)
        switch reading.map(decode) {
        case .found(let record): return .found(record)
        case .absent: return absence()
        case .unreadable(let error): return .unreadable(damage(error))
        }
    }

    /// The record before, as it was.
    func readPrevious() -> Reading<IdentityRecord> {
        folder.read(name.record + StateFolder.previous, atMost: RecordFile.longest).map { file throws(TenonError) in
            let record = try RecordFile.decode(file.bytes)
            try check(record)
            return record
        }
    }

    /// The keys of which there is a file.
    func keyFiles() throws(TenonError) -> [KeyFile] { try folder.names().compactMap { name.key(of: $0) }.sorted() }

    private func decode(_ file: StoredFile) throws(TenonError) -> IdentityRecord {
        let record = try RecordFile.decode(file.bytes)
        try check(record)
        last.withLock { $0 = LastReading(file.stamp, record) }
        return record
    }

    // It gives nothing back: Swift 6.3.1 with -O takes a value of this size, given back as it came, for an error.
    private func check(_ record: IdentityRecord) throws(TenonError) {
        guard record.name == name else {
            throw TenonError(.recordForm, message: "The record is another identity's: was it copied, or renamed?")
        }
    }

    /// Where there is no record there must be nothing else (decision: missing-state).
    private func absence() -> Reading<IdentityRecord> {
        do throws(TenonError) {
            let remains = try !keyFiles().isEmpty || folder.isThere(name.record + StateFolder.previous)
            // Whoever has the lock may have begun meanwhile.
            guard remains else { return .absent }
            guard !folder.isThere(name.record) else { return read() }
        } catch {
            return .unreadable(error)
        }
        return .unreadable(readPrevious().isFound ? .stateUnresolved : .stateMissing)
    }

    /// Of a later version's record the one before says nothing, and what cannot be opened may be whole.
    private func damage(_ error: TenonError) -> TenonError {
        guard error.code == .recordForm || error.code == .recordSum, readPrevious().isFound else { return error }
        return .stateUnresolved
    }
}

extension Reading {
    fileprivate var isFound: Bool {
        if case .found = self { true } else { false }
    }
}

extension TenonError {
    static let stateMissing = TenonError(
        .stateMissing,
        message: "There are keys of this identity and no record: bring back the folder of the state, or reset.")
    static let stateUnresolved = TenonError(
        .stateUnresolved,
        message: "Only an older record can be read: register again, which asks the service for its key, or reset.")
}

/// A record as it was read: a value of that size is not copied to look at it.
private final class LastReading: Sendable {
    let stamp: FileStamp
    let record: IdentityRecord

    init(_ stamp: FileStamp, _ record: IdentityRecord) { (self.stamp, self.record) = (stamp, record) }
}
