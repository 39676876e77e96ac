// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import Testing

@Suite struct RecordStoreTests {
    let temporary: TemporaryFolder
    let name: IdentityName

    init() throws {
        temporary = try TemporaryFolder()
        name = try RecordShape.name()
    }

    private func store(_ calls: SystemCalls = SystemCalls()) throws -> RecordStore {
        RecordStore(name, in: try temporary.open(calls))
    }

    private func held(_ store: RecordStore) throws -> FileLock.Held { try #require(try store.lock.attempt()) }

    /// Writes a record, and the one before.
    private func put(_ shapes: RecordShape...) throws {
        let files = [name.record, name.record + ".prev"]
        for (file, shape) in zip(files, shapes) { try temporary.put(RecordFile.encode(shape.record()), as: file) }
    }

    private var damaged: [UInt8] { get throws { try RecordFile.encode(RecordShape.registered.record()).dropLast(1) } }

    // W9, W10
    @Test func readingHasThreeOutcomes() throws {
        let store = try store()
        #expect(store.read().isAbsent)
        try put(.registered)
        #expect(try store.read().value == RecordShape.registered.record())
        try temporary.put(damaged, as: name.record)
        #expect(store.read().code == .recordForm)
    }

    @Test func onlyTheRecordBeforeCanBeRead() throws {
        let store = try store()
        let sumless = changed(try RecordFile.encode(RecordShape.registered.record()), at: 20, to: 0x41)
        for (bytes, alone) in [(try damaged, TenonError.Code.recordForm), ([], .recordForm), (sumless, .recordSum)] {
            try temporary.put(bytes, as: name.record)
            #expect(store.read().code == alone)
            try temporary.put(RecordFile.encode(RecordShape.registered.record()), as: name.record + ".prev")
            #expect(store.read().code == .stateUnresolved)
            try temporary.put(damaged, as: name.record + ".prev")
            #expect(store.read().code == alone)
            unlink(temporary[name.record + ".prev"])
        }
        unlink(temporary[name.record])
        try temporary.put(damaged, as: name.record + ".prev")
        #expect(store.read().code == .stateMissing)
        try temporary.put(RecordFile.encode(RecordShape.registered.record()), as: name.record + ".prev")
        #expect(store.read().code == .stateUnresolved)
    }

    /// A line of the log is on disk before the record counts it, and in the place of what a killed process left.
    @Test func aLineOfTheLog() throws {
        let plan = CallPlan()
        let store = try store(plan.calls)
        let held = try held(store)
        let entries = (0..<3).map { LogEntry(sequence: Int64($0), digest: "d", line: Array("line \($0)".utf8)) }
        for (entry, calls) in [(entries[0], ["syncFolder"]), (entries[1], [])] {
            plan.forget()
            try store.append(entry, held)
            #expect(plan.operations == ["create", "truncate", "write", "sync"] + calls)
        }
        try temporary.put("line 0\nline 1\nline", as: name.log)
        try store.append(entries[2], held)
        #expect(store.log().value == entries.map(\.line))
    }

    /// The marker of a removal goes when all else is gone for good.
    @Test func theMarkerOfARemovalGoesLast() throws {
        let plan = CallPlan()
        let store = try store(plan.calls)
        try put(.registered)
        try store.erase(held(store))
        #expect(plan.operations.suffix(4) == ["syncFolder", "syncFolder", "remove", "syncFolder"])
        #expect(plan.made.dropLast().last?.hasSuffix(".erase") == true)
        #expect(plan.made.dropLast(2).last == plan.made.last)
    }

    /// The record before is not used if this one may be whole.
    @Test func whatMayBeWholeIsNotReplaced() throws {
        let store = try store()
        try put(.registered, .registered)
        chmod(temporary[name.record], 0o640)
        #expect(store.read().code == .stateOwner)
        chmod(temporary[name.record], 0o600)
        if geteuid() == 0 {
            chown(temporary[name.record], 1, 1)
            #expect(store.read().code == .stateOwner)
        }
        unlink(temporary[name.record])
        symlink(name.record + ".prev", temporary[name.record])
        #expect(store.read().code == .stateKind)
        unlink(temporary[name.record])
        let line = Array("{\"version\":99}\n".utf8)
        try temporary.put(line + Array((try Digest(hashing: line).description + "\n").utf8), as: name.record)
        #expect(store.read().code == .recordVersion)
        for code in [store.read().code, try attemptedChange(store), try attemptedCreation(store)] {
            #expect(code == .recordVersion)
        }
    }

    private func attemptedChange(_ store: RecordStore) throws -> TenonError.Code? {
        let held = try held(store)
        return codeThrown { try store.change(held) { record throws(TenonError) in record.deviceID = "another" } }
    }

    private func attemptedCreation(_ store: RecordStore) throws -> TenonError.Code? {
        let held = try held(store)
        return codeThrown { try store.create(RecordShape.fresh.record(), held) }
    }

    // Decision: missing-state. A volume that is not mounted yet looks like a new device.
    @Test func absentIsAbsentOnlyWhereNothingIs() throws {
        let store = try store()
        for file in [name.file(.generation(1)), name.file(.generation(7)), name.file(.attestation)] {
            try temporary.put("a key", as: file)
            #expect(store.read().code == .stateMissing)
            #expect(try attemptedChange(store) == .stateMissing)
            #expect(try attemptedCreation(store) == .stateMissing)
            #expect(text(of: file, in: store.folder) == "a key")
            unlink(temporary[file])
        }
        // Keys of another identity or in the attic, and other files, are not keys of ours.
        let other = try RecordShape.name("app_next")
        try temporary.put("", as: other.file(.generation(1)))
        for file in [
            "\(name.id).g0.pem", "\(name.id).g01.pem", "\(name.id).g+1.pem", "\(name.id).gx.pem", "\(name.id)x.g1.pem",
        ] {
            try temporary.put("", as: file)
        }
        mkdir(temporary["attic"], 0o700)
        try temporary.put("", as: "attic/\(name.file(.generation(1)))")
        #expect(store.read().isAbsent)
        #expect(try attemptedChange(store) == .stateMissing)
        #expect(try attemptedCreation(store) == nil)
        #expect(try attemptedCreation(store) == .operationInFlight)
    }

    @Test func aRecordOfAnotherIdentityIsNone() throws {
        let other = try RecordShape.name("x")
        try temporary.put(RecordFile.encode(RecordShape.registered.record(other)), as: name.record)
        let store = try store()
        #expect(store.read().code == .recordForm)
        unlink(temporary[name.record])
        let held = try held(store)
        #expect(codeThrown { try store.create(RecordShape.fresh.record(other), held) } == .recordForm)
        #expect(store.read().isAbsent)
    }

    @Test func identitiesAreSideBySide() throws {
        let folder = try temporary.open()
        let stores = try ["x", "x_next", "../x", "x.g2"].map { RecordStore(try RecordShape.name($0), in: folder) }
        for store in stores {
            let held = try held(store)
            try store.create(RecordShape.fresh.record(store.name), held)
            try store.save(RecordShape.facts(1), as: .generation(1), held)
            try store.change(held) { record throws(TenonError) in
                try record.add(RecordShape.facts(1), as: .current, generation: 1, isHardware: true)
            }
        }
        let held = try held(stores[0])
        try stores[0].change(held) { record throws(TenonError) in
            try record.reset(deviceLocalID: RecordShape.otherLocal)
        }
        _ = try stores[0].recover(held)
        for store in stores.dropFirst() {
            #expect(store.read().value?.keys.count == 1)
            #expect(
                try text(of: store.name.file(.generation(1)), in: folder)
                    == String(decoding: RecordShape.facts(1).pem, as: UTF8.self))
        }
        #expect(folder.read(stores[0].name.file(.generation(1)), atMost: 999).isAbsent)
    }

    @Test func aRecordIsReadAgainWhenItIsAnother() throws {
        let (mine, theirs) = (try store(), try store())
        let held = try held(theirs)
        try theirs.create(RecordShape.fresh.record(), held)
        for number in 0..<20 {
            try theirs.change(held) { record throws(TenonError) in record.registeredAt = Int64(number) }
            #expect(mine.read().value?.registeredAt == Int64(number))
        }
        // Each reading uses the content of the disk.
        try temporary.put(damaged, as: name.record)
        #expect(mine.read().code == .stateUnresolved)
    }

    @Test func nothingIsWrittenWithoutTheLock() throws {
        let (store, another) = (try store(), RecordStore(try RecordShape.name("x"), in: try temporary.open()))
        let wrong = try held(another)
        let beside = try held(RecordStore(RecordShape.name("y"), in: store.folder))
        let released = try held(store)
        released.release()
        for held in [wrong, beside, released] {
            for body: (FileLock.Held) throws -> Void in [
                { try store.create(RecordShape.fresh.record(), $0) }, { try store.change($0) { $0.deviceID = "d" } },
                { try store.setAside($0) }, { _ = try store.recover($0) }, { _ = try store.nextGeneration($0) },
                { try store.save(RecordShape.facts(1), as: .generation(1), $0) }, { _ = try store.leftover($0) },
                { try store.saveCertificate([1], $0) },
            ] {
                #expect(throws: TenonError(.stateBusy, message: "")) { try body(held) }
            }
        }
        #expect(try store.folder.names().filter { $0.hasSuffix(".lock") == false } == [])
    }

    @Test func aChangeThatFailsChangesNothing() throws {
        try put(.registered, .fresh)
        let plan = CallPlan()
        let store = try store(plan.calls)
        let held = try held(store)
        plan.forget()
        #expect(
            codeThrown {
                try store.change(held) { record throws(TenonError) in
                    record.deviceID = "another"
                    try record.move(to: .keyReady)
                }
            } == .invalidStateTransition)
        try store.change(held) { _ throws(TenonError) in }
        // An invalid record is not written.
        #expect(
            codeThrown {
                try store.change(held) { record throws(TenonError) in record.deviceID = "two words" }
            } == .recordForm)
        #expect(plan.made == [])
        #expect(try store.read().value == RecordShape.registered.record())
    }

    static let shapes: [(RecordShape, RecordShape)] = [
        (.registerPrepared, .registerSent), (.rotateUnknown, .promoted), (.registered, .rotatePrepared),
        (.revokedWhileRotating, .reset), (.promoted, .retired), (.registered, .cleared),
    ]

    /// A crash before any system call of a write, and a disk that fails there, leave the old record or the new one.
    @Test(arguments: shapes)
    func theOldRecordOrTheNew(_ from: RecordShape, _ to: RecordShape) throws {
        let (old, new) = (try from.record(), try to.record())
        for number in 1...StateWritingTests.whole.count {
            for onward in [true, false] {
                try put(from, .fresh)
                let plan = CallPlan(.errno(ENOSPC), onward: onward)
                let store = try store(plan.calls)
                let held = try held(store)
                plan.forget(andFailAt: number)
                let code = codeThrown { try store.change(held) { record throws(TenonError) in record = new } }
                #expect(code == .stateFull && plan.made.count >= number)
                let read = try RecordStoreTests.read(temporary)
                #expect(read == (number == StateWritingTests.whole.count ? new : old))
                // The next write works as if nothing had failed.
                plan.forget()
                try store.change(held) { record throws(TenonError) in record = new }
                #expect(try RecordStoreTests.read(temporary) == new)
            }
        }
    }

    private static func read(_ temporary: TemporaryFolder) throws -> IdentityRecord? {
        try RecordStore(RecordShape.name(), in: temporary.open()).read().value
    }
}
