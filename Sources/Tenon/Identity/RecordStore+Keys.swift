// SPDX-License-Identifier: Apache-2.0

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

    /// What was kept so, if it is what the record speaks of.
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
            // What is no file of ours is no key; what cannot be read now may be one.
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
        let said = folder.read(file, atMost: KeyFacts.longestFile)
        let parent = if case .found(let file) = said { parent ?? KeyFacts.parent(saidIn: file.bytes) } else { parent }
        try folder.moveToAttic(file, as: name.atticName(key, parent: parent))
    }
}

extension KeyFacts {
    /// The parent's Name as the text of a key's file has it (decision: file-names). It names a file and decides
    /// nothing.
    fileprivate static func parent(saidIn pem: [UInt8]) -> [UInt8]? {
        for line in String(decoding: pem, as: UTF8.self).split(separator: "\n") where line.hasPrefix("tenon-parent: ") {
            let name = try? TextEncoding.hex.decode(String(line.dropFirst("tenon-parent: ".count)))
            return name.flatMap { 1...66 ~= $0.count ? $0 : nil }
        }
        return nil
    }
}
