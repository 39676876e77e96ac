// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// What is made of each record by whoever has the lock after a process that was killed.
@Suite struct RecoveryTests {
    struct Row: Sendable {
        let shape: RecordShape
        /// The state, and whether the journal stays.
        let state: IdentityState
        let hasJournal: Bool
        let next: Recovery.Next
    }

    private static func row(
        _ shape: RecordShape, _ state: IdentityState, _ journal: String, _ next: Recovery.Next
    ) -> Row {
        Row(shape: shape, state: state, hasJournal: journal == "journal", next: next)
    }

    static let table: [Row] = [
        row(.fresh, .unregistered, "-", .nothing),
        row(.challenged, .unregistered, "-", .nothing),
        row(.keyReady, .unregistered, "-", .nothing),
        row(.abandoned, .unregistered, "-", .nothing),
        row(.registerPrepared, .unregistered, "-", .nothing),
        row(.registerSent, .unregistered, "journal", .register),
        row(.registerUnknown, .unregistered, "journal", .register),
        row(.registerPending, .unregistered, "journal", .register),
        row(.rejected, .unregistered, "-", .nothing),
        row(.registered, .registered, "-", .nothing),
        row(.rotatePrepared, .registered, "-", .nothing),
        row(.rotateSent, .registered, "journal", .settle),
        row(.rotateUnknown, .registered, "journal", .settle),
        row(.rotateAccepted, .registered, "journal", .promote(1_700_000_500)),
        row(.rotateTried, .registered, "journal", .settle),
        row(.rotateRefused, .registered, "-", .nothing),
        row(.promoted, .registered, "-", .nothing),
        row(.retired, .registered, "-", .nothing),
        row(.slotPrepared, .unregistered, "journal", .resend),
        row(.slotSent, .unregistered, "journal", .resend),
        row(.slotRotating, .registered, "journal", .resend),
        row(.cleared, .keyInvalid, "-", .nothing),
        row(.foreign, .keyInvalid, "-", .nothing),
        row(.superseded, .keyInvalid, "-", .nothing),
        row(.clearedWhileRotating, .keyInvalid, "journal", .nothing),
        row(.revoked, .registered, "-", .nothing),
        row(.revokedWhileRotating, .registered, "journal", .nothing),
        row(.revokedAndCleared, .keyInvalid, "-", .nothing),
        row(.revived, .registered, "journal", .settle),
        row(.wiped, .unregistered, "-", .nothing),
        row(.reset, .unregistered, "-", .nothing),
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
        #expect(recovery.next == row.next)
        // No key is let go, and none comes out of an attempt that it was not in.
        #expect(recovery.record.keys == found.keys)
        #expect(recovery.record.isRevoked == found.isRevoked)
        if row.hasJournal { #expect(recovery.record.journal == found.journal) }
        _ = try RecordFile.encode(recovery.record)
        // Once is enough.
        let again = try Recovery(of: recovery.record, intact: [], present: [])
        #expect(again.record == recovery.record && again.next == recovery.next)
    }

    /// Every set of files beside every record.
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
