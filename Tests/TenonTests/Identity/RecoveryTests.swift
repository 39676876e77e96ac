// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// The recovery of each record by the holder of the lock after a process was killed.
@Suite struct RecoveryTests {
    struct Row: Sendable {
        let shape: RecordShape
        /// The state, and whether the journal stays.
        let state: IdentityState
        let hasJournal: Bool
    }

    private static func rows(_ state: IdentityState, hasJournal: Bool, _ shapes: RecordShape...) -> [Row] {
        shapes.map { Row(shape: $0, state: state, hasJournal: hasJournal) }
    }

    static let table =
        rows(
            .unregistered, hasJournal: false, .fresh, .challenged, .keyReady, .abandoned, .registerPrepared, .rejected,
            .wiped, .reset)
        + rows(
            .unregistered, hasJournal: true, .registerSent, .registerUnknown, .registerPending, .slotPrepared,
            .slotSent, .logPrepared, .logSent)
        + rows(
            .registered, hasJournal: false, .registered, .rotatePrepared, .rotateRefused, .promoted, .retired, .logged,
            .revoked)
        + rows(
            .registered, hasJournal: true, .rotateSent, .rotateUnknown, .rotateAccepted, .rotateTried, .slotRotating,
            .revokedWhileRotating, .revived)
        + rows(.keyInvalid, hasJournal: false, .cleared, .foreign, .superseded, .revokedAndCleared)
        + rows(.keyInvalid, hasJournal: true, .clearedWhileRotating)

    @Test func everyShapeHasItsRow() {
        #expect(Set(Self.table.map(\.shape)) == Set(RecordShape.allCases))
        #expect(Self.table.count == RecordShape.allCases.count)
    }

    @Test(arguments: table)
    func whatIsMadeOfARecord(_ row: Row) throws {
        let found = try row.shape.record()
        let recovery = try Recovery(of: found, intact: [], present: [])
        #expect(recovery.record.state == row.state)
        #expect((recovery.record.journal != nil) == row.hasJournal)
        // No key is dropped, and no attempt yields a key that was not part of it.
        #expect(recovery.record.keys == found.keys)
        #expect(recovery.record.isRevoked == found.isRevoked)
        if row.hasJournal { #expect(recovery.record.journal == found.journal) }
        _ = try RecordFile.encode(recovery.record)
        // A second recovery changes nothing.
        let again = try Recovery(of: recovery.record, intact: [], present: [])
        #expect(again.record == recovery.record)
    }

    /// Every set of files with every record.
    @Test func theRecordSaysWhichFilesThereAre() throws {
        let all: [KeyFile] = [.generation(1), .generation(2), .generation(3), .attestation]
        var cases = 0
        for shape in RecordShape.allCases {
            let record = try shape.record()
            var known = Set(record.keys.map { KeyFile.generation($0.generation) })
            if record.attestationKey != nil { known.insert(.attestation) }
            for bits in 0..<256 {
                let present = Set(all.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element))
                let intact = Set(all.enumerated().filter { bits >> ($0.offset + 4) & 1 == 1 }.map(\.element))
                guard intact.isSubset(of: present.intersection(known)) else { continue }
                let recovery = try Recovery(of: record, intact: intact, present: present)
                #expect(recovery.restored == known.subtracting(intact).sorted())
                #expect(recovery.retired == present.subtracting(known).sorted())
                cases += 1
            }
        }
        #expect(cases > 500)
    }
}
