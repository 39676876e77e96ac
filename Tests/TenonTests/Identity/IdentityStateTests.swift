// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct IdentityStateTests {
    /// A record in each state, in which nothing forbids a step that the state allows.
    static let shapes: [(IdentityState, RecordShape)] = [
        (.unregistered, .fresh), (.challengeReceived, .challenged), (.keyReady, .keyReady),
        (.registering, .registerSent), (.registered, .registered), (.keyInvalid, .cleared),
    ]

    /// The edges of docs/states.md: a row for each state, a column for the next; `e` an edge, `a` an attempt that is
    /// abandoned, `r` a reset.
    static let table = """
        .                 unregistered challengeReceived keyReady registering registered keyInvalid
        unregistered      r            e                 -        -           -          -
        challengeReceived ar           -                 e        -           -          -
        keyReady          ar           -                 -        e           -          -
        registering       er           -                 -        -           e          -
        registered        r            -                 -        e           -          e
        keyInvalid        er           -                 -        -           -          -
        """

    @Test("W11: all 36 pairs, by each step") func w11_allPairsByEachStep() throws {
        let rows = Self.table.split(separator: "\n").map { $0.split(separator: " ") }
        let letters: [(Character, IdentityStep)] = [("e", .edge), ("a", .abandon), ("r", .reset)]
        #expect(letters.count == IdentityStep.allCases.count)
        var cases = 0
        for (row, (state, shape)) in zip(rows.dropFirst(), Self.shapes) {
            #expect(row[0] == state.rawValue)
            for (column, next) in IdentityState.allCases.enumerated() {
                #expect(rows[0][column + 1] == next.rawValue)
                for (letter, step) in letters {
                    try check(shape, state, next, step, isAllowed: row[column + 1].contains(letter))
                    cases += 1
                }
            }
        }
        #expect(cases == 108)
    }

    private func check(
        _ shape: RecordShape, _ state: IdentityState, _ next: IdentityState, _ step: IdentityStep, isAllowed: Bool
    ) throws {
        let before = try shape.record()
        #expect(before.state == state)
        var record = before
        do throws(TenonError) {
            try record.move(to: next, by: step, because: next == .keyInvalid ? .tpmCleared : nil)
            #expect(isAllowed, "\(state) \(next) \(step)")
            #expect(record.state == next)
        } catch {
            #expect(!isAllowed, "\(state) \(next) \(step)")
            #expect(error.code == .invalidStateTransition)
            #expect(error.stateTransition?.from == state.rawValue && error.stateTransition?.to == next.rawValue)
            #expect(record == before)
        }
    }

    /// docs/states.md shows exactly the table's edges.
    @Test func thePictureIsTheTables() throws {
        var picture = ["stateDiagram-v2", "    [*] --> unregistered"]
        for row in Self.table.split(separator: "\n").dropFirst().map({ $0.split(separator: " ") }) {
            for (next, steps) in zip(IdentityState.allCases, row.dropFirst()) {
                if steps.contains("e") { picture.append("    \(row[0]) --> \(next)") }
                if steps.contains("a") { picture.append("    \(row[0]) --> \(next) : abandoned") }
            }
            #expect(row[1].contains("r"))
        }
        let page = try lines(of: "/docs/states.md")
        let begin = try #require(page.firstIndex(of: "```mermaid"))
        let end = try #require(page[begin...].firstIndex(of: "```"))
        #expect(page[(begin + 1)..<end].map(String.init) == picture)
        for reason in IdentityReason.allCases {
            #expect(page.contains { $0.hasPrefix("| `\(reason.rawValue)` |") }, "\(reason)")
        }
    }

    @Test func anInvalidKeyHasACauseAndNothingElseHas() throws {
        for cause in IdentityReason.allCases {
            let invalidates = [.superseded, .foreignTPM, .tpmCleared].contains(cause)
            var registered = try RecordShape.registered.record()
            let code = codeThrown { try registered.move(to: .keyInvalid, because: cause) }
            #expect(code == (invalidates ? nil : .invalidStateTransition))
            var other = try RecordShape.registered.record()
            #expect(
                codeThrown { try other.move(to: .registering, because: cause) }
                    == (invalidates ? .invalidStateTransition : nil))
        }
        var registered = try RecordShape.registered.record()
        #expect(codeThrown { try registered.move(to: .keyInvalid) } == .invalidStateTransition)
    }

    @Test func anUnknownRotationIsNeverAFailure() throws {
        for shape in [RecordShape.rotatePrepared, .rotateSent, .slotRotating] {
            var record = try shape.record()
            #expect(codeThrown { try record.move(to: .unregistered) } == .invalidStateTransition)
            try record.move(to: .registered)
        }
    }

    @Test func onlyAResetLeavesARevocation() throws {
        for shape in [RecordShape.revoked, .revokedWhileRotating, .revokedAndCleared] {
            for next in IdentityState.allCases {
                for step in [IdentityStep.edge, .abandon] {
                    var record = try shape.record()
                    let cause: IdentityReason? = next == .keyInvalid ? .superseded : nil
                    let code = codeThrown { try record.move(to: next, by: step, because: cause) }
                    let isLoss = record.state == .keyInvalid && shape != .revokedAndCleared && step == .edge
                    #expect(code == (isLoss ? nil : .invalidStateTransition), "\(shape) \(next) \(step)")
                    #expect(record.isRevoked)
                }
            }
            var record = try shape.record()
            try record.reset(deviceLocalID: RecordShape.otherLocal)
            #expect(record.state == .unregistered && !record.isRevoked)
        }
    }

    static let reasons: [(RecordShape, IdentityReason?)] = [
        (.fresh, nil), (.keyReady, nil), (.registerUnknown, nil), (.registerPending, .approvalPending),
        (.registered, nil), (.rotatePrepared, .rotationPending), (.rotateUnknown, .rotationPending),
        (.rotateRefused, .rotationPending), (.rotateTried, .rotationPending), (.promoted, nil), (.cleared, .tpmCleared),
        (.foreign, .foreignTPM),
        (.superseded, .superseded), (.clearedWhileRotating, .tpmCleared), (.revoked, .revoked),
        (.revokedWhileRotating, .revoked), (.revokedAndCleared, .tpmCleared), (.reset, nil),
    ]

    @Test(arguments: reasons)
    func theReasonIsTheGravest(_ shape: RecordShape, _ reason: IdentityReason?) throws {
        #expect(try shape.record().reason == reason)
    }

    /// The setter is private to the file of the record, and there it is one function's, beside the one that reads a
    /// record.
    @Test("W11: one function writes the state") func w11_oneFunctionWritesTheState() throws {
        let record = try lines(of: "/Sources/Tenon/Identity/IdentityRecord.swift")
        #expect(record.count { $0.contains("package private(set) var state = ") } == 1)
        let writes = record.filter { !$0.contains("var state") && $0.contains("state") && $0.contains(" = (") }
        #expect(
            writes.map { $0.drop { $0 == " " } } == [
                "(state, self.cause) = (next, cause)",
                "(record.state, record.cause) = (state, state == .keyInvalid ? reason : nil)",
            ])
    }

    /// The lines of a file of this repository.
    private func lines(of path: String) throws -> [Substring] {
        let root = #filePath.prefix(upTo: #filePath.firstRange(of: "/Tests/")!.lowerBound)
        return try String(decoding: Vectors.contents(root + path), as: UTF8.self).split(separator: "\n")
    }
}
