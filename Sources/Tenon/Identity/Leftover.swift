// SPDX-License-Identifier: Apache-2.0

/// What is left when only the record before can be read (decision: damaged-record): each key of which there is a file,
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
        case .found: throw TenonError(.operationInFlight, message: "The record can be read: there is nothing to solve.")
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
