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
    /// Only one process and one thread at a time can hold it.
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

    /// Gives the record. Reads the file only if it is another one than the last time.
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

    /// The keys that have a file.
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
            throw TenonError(.recordForm, message: "The record is of another identity. Was it copied or renamed?")
        }
    }

    /// Where there is no record there must be nothing else (decision: missing-state).
    private func absence() -> Reading<IdentityRecord> {
        do throws(TenonError) {
            guard !folder.isThere(name.erasure) else { return .absent }
            let remains =
                try !keyFiles().isEmpty || folder.isThere(name.record + StateFolder.previous)
                || folder.isThere(name.log)
            // The holder of the lock may have begun meanwhile.
            guard remains else { return .absent }
            guard !folder.isThere(name.record) else { return read() }
        } catch {
            return .unreadable(error)
        }
        return .unreadable(readPrevious().isFound ? .stateUnresolved : .stateMissing)
    }

    /// A record of a later version, and one that cannot be opened, may be whole, so the previous record does not count
    /// then.
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
        message: "This identity has keys but no record. Restore the state folder, or reset the identity.")
    static let stateUnresolved = TenonError(
        .stateUnresolved,
        message: "Only an older record can be read. Register again, which asks the service for its key, or reset.")
}

/// A record as it was read: a value of that size is not copied to look at it.
private final class LastReading: Sendable {
    let stamp: FileStamp
    let record: IdentityRecord

    init(_ stamp: FileStamp, _ record: IdentityRecord) { (self.stamp, self.record) = (stamp, record) }
}

// For the holder of the lock.
extension RecordStore {
    /// Writes the first record of an identity of which nothing is there. It comes before any key
    /// (decision: missing-state).
    package func create(_ record: IdentityRecord, _ held: FileLock.Held) throws(TenonError) {
        try check(held)
        switch read() {
        case .absent: try write(record)
        case .unreadable(let error): throw error
        case .found: throw TenonError(.operationInFlight, message: "A record of this identity already exists.")
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
        for file in [name.log, name.attestationCertificate, record + StateFolder.previous, record] {
            try folder.moveToAttic(file, as: file)
        }
        try folder.sweepUnfinished(of: name.prefix)
    }

    /// Writes a new record for an identity of which only the previous record can be read.
    ///
    /// - Parameter record: made of ``leftover(_:)`` and of what the service said.
    package func resolve(_ record: IdentityRecord, _ held: FileLock.Held) throws(TenonError) {
        _ = try leftover(held)
        // Moved first: a write would otherwise make the damaged record the previous one, and lose the only one that can
        // be read.
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
        guard record.name == name else { throw TenonError(.recordForm, message: "The record is of another identity.") }
        try folder.write(RecordFile.encode(record), to: name.record, keepingPrevious: true)
    }
}

// The files of keys, for the holder of the lock. None is ever removed: what is not in use is in the attic.
extension RecordStore {
    private static let longestCertificate = 16_384

    /// The number of the next key: no record and no file had it.
    package func nextGeneration(_ held: FileLock.Held) throws(TenonError) -> Int {
        let record = try found(held)
        let files = try keyFiles().map { if case .generation(let number) = $0 { number } else { 0 } }
        return max(record.lastGeneration, files.max() ?? 0) + 1
    }

    /// Puts a key on disk, before its public half leaves the device. On return its file and its name are there for
    /// good.
    package func save(_ facts: KeyFacts, as key: KeyFile, _ held: FileLock.Held) throws(TenonError) {
        _ = try found(held)
        if try isIntact(key, facts) { return }
        try retire(key, parent: nil)
        try folder.write(facts.pem, to: name.file(key))
    }

    /// Keeps the certificates of the attestation key, leaf first; the record says of whom they are.
    package func saveCertificate(_ bytes: [UInt8], _ held: FileLock.Held) throws(TenonError) {
        _ = try found(held)
        guard bytes.count <= Self.longestCertificate else {
            throw TenonError(.tooLarge, message: "The certificates have more than \(Self.longestCertificate) bytes.")
        }
        try folder.write(bytes, to: name.attestationCertificate)
    }

    /// The kept certificates, if they are those that the record names.
    package func certificate(of record: IdentityRecord) throws(TenonError) -> [UInt8]? {
        guard let expected = record.attestationKey?.certificate?.digest else { return nil }
        let file = folder.read(name.attestationCertificate, atMost: Self.longestCertificate)
        guard case .found(let found) = file else { return nil }
        return try Digest(hashing: found.bytes) == expected ? found.bytes : nil
    }

    /// Whether the file of a key is what the record says (decision: key-digest).
    func isIntact(_ key: KeyFile, _ facts: KeyFacts) throws(TenonError) -> Bool {
        switch folder.read(name.file(key), atMost: KeyFacts.longestFile) {
        case .found(let file): return file.bytes == facts.pem
        case .absent: return false
        case .unreadable(let error):
            // A file that is not ours is not a key; a file that cannot be read now may be one.
            guard [.stateKind, .stateOwner, .recordForm].contains(error.code) else { throw error }
            return false
        }
    }

    /// Brings back a key that the record has: out of the attic, or out of the record itself (decision: key-digest,
    /// attic).
    func restore(_ key: KeyFile, _ facts: KeyFacts) throws(TenonError) {
        try retire(key, parent: facts.parent)
        let attic = try folder.attic()
        for kept in try attic.names() where kept.hasPrefix(name.prefix) {
            if case .found(let file) = attic.read(kept, atMost: KeyFacts.longestFile), file.bytes == facts.pem {
                return try folder.restore(kept, from: attic, to: name.file(key))
            }
        }
        try folder.write(facts.pem, to: name.file(key))
    }

    /// Moves the file of a key to the attic, if there is one, under the name of its parent: the one that is known, or
    /// else the one that the file says.
    func retire(_ key: KeyFile, parent: [UInt8]?) throws(TenonError) {
        let file = name.file(key)
        let old = folder.read(file, atMost: KeyFacts.longestFile)
        let parent = if case .found(let file) = old { parent ?? KeyFacts.parent(namedIn: file.bytes) } else { parent }
        try folder.moveToAttic(file, as: name.atticName(key, parent: parent))
    }
}

extension KeyFacts {
    /// The parent's Name as the text of a key's file has it (decision: file-names). It names a file and decides
    /// nothing.
    fileprivate static func parent(namedIn pem: [UInt8]) -> [UInt8]? {
        for line in String(decoding: pem, as: UTF8.self).split(separator: "\n") where line.hasPrefix("tenon-parent: ") {
            let name = try? TextEncoding.hex.decode(String(line.dropFirst("tenon-parent: ".count)))
            return name.flatMap { 1...66 ~= $0.count ? $0 : nil }
        }
        return nil
    }
}
