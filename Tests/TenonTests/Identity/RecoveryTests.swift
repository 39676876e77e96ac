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

    private static func row(_ shape: RecordShape, _ state: IdentityState, _ journal: String) -> Row {
        Row(shape: shape, state: state, hasJournal: journal == "journal")
    }

    static let table: [Row] = [
        row(.fresh, .unregistered, "-"),
        row(.challenged, .unregistered, "-"),
        row(.keyReady, .unregistered, "-"),
        row(.abandoned, .unregistered, "-"),
        row(.registerPrepared, .unregistered, "-"),
        row(.registerSent, .unregistered, "journal"),
        row(.registerUnknown, .unregistered, "journal"),
        row(.registerPending, .unregistered, "journal"),
        row(.rejected, .unregistered, "-"),
        row(.registered, .registered, "-"),
        row(.rotatePrepared, .registered, "-"),
        row(.rotateSent, .registered, "journal"),
        row(.rotateUnknown, .registered, "journal"),
        row(.rotateAccepted, .registered, "journal"),
        row(.rotateTried, .registered, "journal"),
        row(.rotateRefused, .registered, "-"),
        row(.promoted, .registered, "-"),
        row(.retired, .registered, "-"),
        row(.slotPrepared, .unregistered, "journal"),
        row(.slotSent, .unregistered, "journal"),
        row(.slotRotating, .registered, "journal"),
        row(.logPrepared, .unregistered, "journal"),
        row(.logSent, .unregistered, "journal"),
        row(.logged, .registered, "-"),
        row(.cleared, .keyInvalid, "-"),
        row(.foreign, .keyInvalid, "-"),
        row(.superseded, .keyInvalid, "-"),
        row(.clearedWhileRotating, .keyInvalid, "journal"),
        row(.revoked, .registered, "-"),
        row(.revokedWhileRotating, .registered, "journal"),
        row(.revokedAndCleared, .keyInvalid, "-"),
        row(.revived, .registered, "journal"),
        row(.wiped, .unregistered, "-"),
        row(.reset, .unregistered, "-"),
    ]

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
