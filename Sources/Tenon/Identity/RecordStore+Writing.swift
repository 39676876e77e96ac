// SPDX-License-Identifier: Apache-2.0

// For the holder of the lock.
extension RecordStore {
    /// Writes the first record of an identity of which nothing is there. It comes before any key
    /// (decision: missing-state).
    package func create(_ record: IdentityRecord, _ held: FileLock.Held) throws(TenonError) {
        try check(held)
        switch read() {
        case .absent: try write(record)
        case .unreadable(let error): throw error
        case .found: throw TenonError(.operationInFlight, message: "There is a record of this identity already.")
        }
    }

    /// Changes the record that is there: what the body throws leaves it as it is, and so does a record that it does not
    /// change.
    ///
    /// - Returns: what is on disk now. After an error of the write that is the one record or the other.
    @discardableResult
    package func change(
        _ held: FileLock.Held, _ body: (inout IdentityRecord) throws(TenonError) -> Void
    ) throws(TenonError) -> IdentityRecord {
        let found = try found(held)
        var record = found
        try body(&record)
        if record != found { try write(record) }
        return record
    }

    /// Moves all that there is of an identity into the attic, its record too, readable or not (decision: state-folder).
    /// A reset of a record that can be read is a change of it.
    package func setAside(_ held: FileLock.Held) throws(TenonError) {
        try check(held)
        for file in try keyFiles() { try retire(file, parent: nil) }
        let record = name.record
        for file in [name.attestationCertificate, record + StateFolder.previous, record] {
            try folder.moveToAttic(file, as: file)
        }
        try folder.sweepUnfinished(of: name.prefix)
    }

    /// Ends with a record what only an older one was left of.
    ///
    /// - Parameter record: made of ``leftover(_:)`` and of what the service said.
    package func resolve(_ record: IdentityRecord, _ held: FileLock.Held) throws(TenonError) {
        _ = try leftover(held)
        // Written over, it would become the record before, and that one is the only one that can be read.
        try folder.moveToAttic(name.record, as: name.record)
        try write(record)
    }

    /// The record, as the holder of the lock reads it.
    func found(_ held: FileLock.Held) throws(TenonError) -> IdentityRecord {
        try check(held)
        switch read() {
        case .found(let record): return record
        case .unreadable(let error): throw error
        case .absent: throw TenonError(.stateMissing, message: "There is no record of this identity.")
        }
    }

    func check(_ held: FileLock.Held) throws(TenonError) {
        guard held.isHeld, held.lock.name == lock.name, held.lock.folder === folder else {
            throw TenonError(.stateBusy, message: "The lock of this identity is not held.")
        }
    }

    private func write(_ record: IdentityRecord) throws(TenonError) {
        guard record.name == name else { throw TenonError(.recordForm, message: "The record is another identity's.") }
        try folder.write(RecordFile.encode(record), to: name.record, keepingPrevious: true)
    }
}
