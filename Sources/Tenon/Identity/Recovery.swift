// SPDX-License-Identifier: Apache-2.0

/// A new holder of the lock first brings the files in order: the previous holder may have been killed at any point, and
/// can no longer act (W12).
package struct Recovery: Equatable, Sendable {
    /// The record as it is to be written, if it is another, before any file is moved.
    package let record: IdentityRecord
    /// Keys of the record whose files are absent or damaged.
    package let restored: [KeyFile]
    /// Files of keys that are not in the record: they were made and never named, or are done with.
    package let retired: [KeyFile]

    /// - Parameter intact: the keys of the record whose files are what it says.
    /// - Parameter present: the keys that have a file.
    package init(
        of found: IdentityRecord, intact: Set<KeyFile>, present: Set<KeyFile>
    ) throws(TenonError) {
        record = try Self.afterTheEnd(of: found)
        let known = Set(record.keyFiles)
        restored = known.subtracting(intact).sorted()
        retired = present.subtracting(known).sorted()
    }

    /// The attempt is over. What was sent stays in the journal; what was not sent counts as never made.
    private static func afterTheEnd(of found: IdentityRecord) throws(TenonError) -> IdentityRecord {
        var record = found
        if let journal = found.journal, journal.phase == .prepared, journal.isReplaceable { record.settle() }
        switch found.state {
        case .challengeReceived, .keyReady: try record.move(to: .unregistered, by: .abandon)
        // Decision: open-outcome. A rotation leaves the old key in use, whatever its outcome.
        case .registering: try record.move(to: found.journal?.operation == .rotate ? .registered : .unregistered)
        case .unregistered, .registered, .keyInvalid: break
        }
        return record
    }
}

extension RecordStore {
    /// Mends what was left. The first thing that each operation does with the lock.
    package func recover(_ held: FileLock.Held) throws(TenonError) -> Recovery {
        let found = try found(held)
        var intact: Set<KeyFile> = []
        for key in found.keyFiles {
            if let facts = found.facts(of: key), try isIntact(key, facts) { intact.insert(key) }
        }
        let recovery = try Recovery(of: found, intact: intact, present: Set(keyFiles()))
        try change(held) { record in record = recovery.record }
        for key in recovery.restored {
            if let facts = recovery.record.facts(of: key) { try restore(key, facts) }
        }
        for key in recovery.retired { try retire(key, parent: nil) }
        try retireRemains(beside: recovery.record)
        try folder.sweepUnfinished(of: name.prefix)
        return recovery
    }

    /// Moves what is left of an earlier identity to the attic: nothing may bring that identity back (W14), and its
    /// certificate must not be shown to anybody else.
    private func retireRemains(beside record: IdentityRecord) throws(TenonError) {
        if record.attestationKey?.certificate == nil {
            try folder.moveToAttic(name.attestationCertificate, as: name.attestationCertificate)
        }
        // Of an identity that was reset; one whose key is lost keeps its log until another one begins.
        if record.isUnheard { try folder.moveToAttic(name.log, as: name.log) }
        guard case .found(let before) = readPrevious(), before.deviceLocalID != record.deviceLocalID,
            !before.keys.isEmpty
        else { return }
        let previous = name.record + StateFolder.previous
        try folder.moveToAttic(previous, as: previous)
    }
}

/// The keys that remain when only the previous record can be read (decision: damaged-record). Each key that has a file,
/// or a copy in that record, may be the one that the service holds.
package struct Leftover: Sendable {
    /// A key that may be it.
    package struct Candidate: Equatable, Sendable {
        package let generation: Int
        /// The file.
        package let pem: [UInt8]
        /// The key as the record knows it; nil for one that is younger than the record.
        package let known: IdentityKey?
    }

    package let record: IdentityRecord
    /// The youngest first.
    package let candidates: [Candidate]
}

extension RecordStore {
    /// - Throws: ``TenonError/Code/stateMissing`` when there is no record before either, and for a record that can be
    ///   read ``TenonError/Code/operationInFlight``.
    package func leftover(_ held: FileLock.Held) throws(TenonError) -> Leftover {
        try check(held)
        switch read() {
        case .found: throw TenonError(.operationInFlight, message: "The record can be read; nothing needs recovery.")
        case .absent: throw .stateMissing
        case .unreadable(let error): guard error.code == .stateUnresolved else { throw error }
        }
        guard case .found(let record) = readPrevious() else { throw .stateMissing }
        return Leftover(record: record, candidates: try candidates(beside: record))
    }

    private func candidates(beside record: IdentityRecord) throws(TenonError) -> [Leftover.Candidate] {
        var candidates = record.keys.map {
            Leftover.Candidate(generation: $0.generation, pem: $0.facts.pem, known: $0)
        }
        for key in try keyFiles() {
            guard case .generation(let number) = key, !record.keys.contains(where: { $0.generation == number }) else {
                continue
            }
            switch folder.read(name.file(key), atMost: KeyFacts.longestFile) {
            case .found(let file): candidates.append(.init(generation: number, pem: file.bytes, known: nil))
            case .absent: break
            case .unreadable(let error): throw error
            }
        }
        return candidates.sorted { $0.generation > $1.generation }
    }
}

extension RecordStore {
    /// Starts the identity again: first in the record, then the files, so that no crash brings it back (W14).
    ///
    /// - Parameter removes: whether the keys are removed for good.
    func reset(_ held: FileLock.Held, removes: Bool) throws(TenonError) -> IdentityStatus {
        try finishErasure(held)
        if removes {
            try erase(held)
            return IdentityStatus(state: .unregistered)
        }
        switch read() {
        case .absent: return IdentityStatus(state: .unregistered)
        case .unreadable: try setAside(held)
        case .found:
            let local = try RequestHeaders.makeNonce()
            try change(held) { record throws(TenonError) in try record.reset(deviceLocalID: local) }
            _ = try recover(held)
        }
        return IdentityStatus(state: .unregistered)
    }
}
