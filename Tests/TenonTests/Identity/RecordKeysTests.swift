// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import Testing

@Suite struct RecordKeysTests {
    let temporary: TemporaryFolder
    let name: IdentityName
    let plan = CallPlan()
    let store: RecordStore
    let held: FileLock.Held

    init() throws {
        temporary = try TemporaryFolder()
        name = try RecordShape.name()
        store = RecordStore(name, in: try temporary.open(plan.calls))
        held = try #require(try store.lock.attempt())
    }

    /// Writes a record with the files of its keys.
    private func put(_ shape: RecordShape) throws {
        let record = try shape.record()
        try temporary.put(RecordFile.encode(record), as: name.record)
        for key in record.keys { try temporary.put(key.facts.pem, as: name.file(.generation(key.generation))) }
        if let key = record.attestationKey { try temporary.put(key.facts.pem, as: name.file(.attestation)) }
    }

    /// Another process, whose disk fails from the call with this number until the body has ended.
    private func crash(
        at number: Int, _ errno: Int32, _ body: (RecordStore, FileLock.Held) throws -> Void
    ) throws -> (RecordStore, FileLock.Held) {
        let plan = CallPlan(.errno(errno), onward: true)
        held.release()
        let crashed = RecordStore(name, in: try temporary.open(plan.calls))
        let theirs = try #require(try crashed.lock.attempt())
        plan.forget(andFailAt: number)
        _ = codeThrown { try body(crashed, theirs) }
        plan.forget()
        return (crashed, theirs)
    }

    private var names: [String] {
        get throws {
            try store.folder.names().filter { $0.hasSuffix(".pem") }.map { String($0.dropFirst(33)) }.sorted()
        }
    }

    private var attic: [String] {
        get throws { try store.folder.attic().names().map { String($0.dropFirst(33)) }.sorted() }
    }

    private func pem(_ key: KeyFile) -> [UInt8]? { store.folder.read(name.file(key), atMost: 4096).value?.bytes }

    @Test func aKeyIsOnDiskBeforeItIsNamed() throws {
        #expect(codeThrown { try save(1, as: 1) } == .stateMissing)
        try put(.challenged)
        plan.forget()
        try save(1, as: 1)
        #expect(
            plan.made.map { $0.split(separator: " ")[0] } == [
                "remove", "create", "write", "sync", "rename", "syncFolder",
            ])
        // Repeating it changes nothing; another key with this number replaces the first, which is kept.
        plan.forget()
        try save(1, as: 1)
        #expect(plan.made == [])
        try save(2, as: 1)
        #expect(try pem(.generation(1)) == RecordShape.facts(2).pem)
        #expect(try attic == ["g1-000b17.pem"])
    }

    private func save(_ number: UInt8, as generation: Int) throws(TenonError) {
        try store.save(RecordShape.facts(number), as: .generation(generation), held)
    }

    @Test func noNumberIsGivenTwice() throws {
        try put(.wiped)
        #expect(try store.nextGeneration(held) == 2)
        try temporary.put("", as: name.file(.generation(6)))
        #expect(try store.nextGeneration(held) == 7)
    }

    @Test func theSweepMovesWhatTheRecordDoesNotName() throws {
        try put(.promoted)
        try temporary.put(RecordShape.facts(3).pem, as: name.file(.generation(3)))
        try temporary.put("no fact of ours", as: name.file(.generation(4)))
        try temporary.put("half", as: name.file(.generation(5)) + ".tmp")
        let recovery = try store.recover(held)
        #expect(recovery.retired == [.generation(3), .generation(4)] && recovery.restored == [])
        #expect(try names == ["ak.pem", "g1.pem", "g2.pem"])
        #expect(try attic == ["g3-000b37.pem", "g4-unknown.pem"])
        // An unused key is removed once the record no longer names it.
        try store.change(held) { record throws(TenonError) in record.retirePrevious() }
        #expect(try store.recover(held).retired == [.generation(1)])
        #expect(try names == ["ak.pem", "g2.pem"] && attic.contains("g1-000b17.pem"))
        plan.forget()
        _ = try store.recover(held)
        #expect(plan.made == [])
    }

    // Decision: attic. With an absent or unreadable record nothing is moved.
    @Test func theSweepNeedsARecord() throws {
        try put(.promoted)
        for damage in ["unlink", "cut", "mode", "later"] {
            try put(.promoted)
            switch damage {
            case "unlink": unlink(temporary[name.record])
            case "cut": try temporary.put("{", as: name.record)
            case "mode": chmod(temporary[name.record], 0o644)
            default: try temporary.put(Array("{\"version\":2}\n".utf8), as: name.record)
            }
            try temporary.put("an orphan", as: name.file(.generation(9)))
            plan.forget()
            #expect(codeThrown { try store.recover(held) } != nil)
            #expect(plan.made == [], "\(damage)")
        }
    }

    // Decision: key-digest
    @Test(arguments: ["absent", "cut", "other", "empty", "long", "mode", "link", "folder"])
    func aDamagedFileIsRestoredFromTheRecord(_ damage: String) throws {
        try put(.registered)
        let file = temporary[name.file(.generation(1))]
        switch damage {
        case "absent": unlink(file)
        case "cut": truncate(file, 5)
        case "other": try temporary.put(RecordShape.facts(2).pem, as: name.file(.generation(1)))
        case "empty": truncate(file, 0)
        case "long": truncate(file, 5000)
        case "mode": chmod(file, 0o666)
        case "link":
            unlink(file)
            symlink("/etc/passwd", file)
        default:
            unlink(file)
            mkdir(file, 0o700)
        }
        let recovery = try store.recover(held)
        #expect(recovery.restored == [.generation(1)] && recovery.retired == [])
        #expect(try pem(.generation(1)) == RecordShape.facts(1).pem)
        // The former file is kept, and never read.
        #expect(try attic == (damage == "absent" ? [] : ["g1-000baa01.pem"]))
    }

    @Test func aKeyThatIsInTheAtticComesBack() throws {
        try put(.registered)
        try store.folder.moveToAttic(name.file(.generation(1)), as: "\(name.id).g1-somewhere.pem")
        try store.folder.moveToAttic(name.file(.attestation), as: "\(name.id).ak-x.pem")
        plan.forget()
        #expect(try store.recover(held).restored == [.generation(1), .attestation])
        #expect(try names == ["ak.pem", "g1.pem"] && attic == [])
        #expect(!plan.made.contains { $0.hasPrefix("write") })
    }

    @Test func recoveryWritesTheRecordBeforeItMovesAFile() throws {
        try put(.rotatePrepared)
        try temporary.put("", as: name.file(.generation(3)))
        unlink(temporary[name.file(.generation(1))])
        plan.forget()
        let recovery = try store.recover(held)
        #expect(recovery.record.state == .registered && recovery.record.journal == nil)
        #expect(store.read().value == recovery.record)
        let order = plan.made.filter { $0.hasPrefix("rename") }.map { $0.split(separator: ".", maxSplits: 1)[1] }
        #expect(order == ["record.prev", "record", "g1.pem", "g3-unknown.pem"])
        // If the disk is full at any call, the next operation repairs the rest.
        for number in 1...plan.made.count {
            try put(.rotatePrepared)
            try temporary.put("", as: name.file(.generation(3)))
            unlink(temporary[name.file(.generation(1))])
            let (crashed, theirs) = try crash(at: number, ENOSPC) { _ = try $0.recover($1) }
            let mended = try crashed.recover(theirs)
            #expect(mended.record == recovery.record, "\(number)")
            #expect(try names == ["ak.pem", "g1.pem", "g2.pem"], "\(number)")
        }
    }

    @Test func aCertificateIsTheOneOfTheRecord() throws {
        try put(.registered)
        #expect(try store.certificate(of: RecordShape.registered.record()) == nil)
        try store.saveCertificate([7, 7], held)
        #expect(try store.certificate(of: RecordShape.registered.record()) == nil)
        let record = try store.change(held) { record throws(TenonError) in
            record.attestationKey?.certificate?.digest = try Digest(hashing: [7, 7])
        }
        #expect(try store.certificate(of: record) == [7, 7])
        #expect(try store.certificate(of: RecordShape.fresh.record()) == nil)
        #expect(codeThrown { try store.saveCertificate(Array(repeating: 0, count: 65_536), held) } == .tooLarge)
    }

    // Decision: state-folder
    @Test(arguments: ["readable", "cut", "absent", "mode", "later", "only before"])
    func whatIsSetAsideIsInTheAttic(_ damage: String) throws {
        try put(.promoted)
        try temporary.put("before", as: name.record + ".prev")
        try temporary.put("certificate", as: name.attestationCertificate)
        switch damage {
        case "cut": try temporary.put("{", as: name.record)
        case "absent": unlink(temporary[name.record])
        case "mode": chmod(temporary[name.record], 0o644)
        case "later": try temporary.put(Array("{\"version\":2}\n".utf8), as: name.record)
        case "only before":
            unlink(temporary[name.record])
            try temporary.put(RecordFile.encode(RecordShape.registered.record()), as: name.record + ".prev")
        default: break
        }
        // Another identity's files stay.
        let other = try RecordShape.name("app_next")
        try temporary.put("", as: other.record)
        try temporary.put("", as: other.file(.generation(1)))
        let isThere = damage != "absent" && damage != "only before"
        try store.setAside(held)
        #expect(store.read().isAbsent)
        #expect(try store.folder.names().count == 4)
        let kept = ["ak.crt", "ak-000b1007.pem", "g1-000b17.pem", "g2-000b27.pem", "record.prev"]
        #expect(try attic == (kept + (isThere ? ["record"] : [])).sorted())
        try store.create(RecordShape.fresh.record(), held)
    }

    @Test func aCrashWhileAllIsSetAsideIsSetAsideAgain() throws {
        try put(.promoted)
        plan.forget()
        try store.setAside(held)
        for number in 1...plan.made.count {
            try put(.promoted)
            let (crashed, theirs) = try crash(at: number, EIO) { try $0.setAside($1) }
            // It is there, or known not to be, or absent: never absent with a key.
            if case .found = crashed.read() { _ = try crashed.recover(theirs) }
            try crashed.setAside(theirs)
            #expect(try crashed.read().isAbsent && names == [])
        }
    }

    // Decision: other-machine
    @Test func whatIsLeftOfALostRecord() throws {
        #expect(codeThrown { try store.leftover(held) } == .stateMissing)
        try put(.registered)
        #expect(codeThrown { try store.leftover(held) } == .operationInFlight)
        try temporary.put("{", as: name.record)
        #expect(codeThrown { try store.leftover(held) } == .recordForm)
        try temporary.put(RecordFile.encode(RecordShape.registered.record()), as: name.record + ".prev")
        try temporary.put("younger", as: name.file(.generation(3)))
        unlink(temporary[name.file(.generation(1))])
        let leftover = try store.leftover(held)
        #expect(try leftover.record == RecordShape.registered.record())
        #expect(leftover.candidates.map(\.generation) == [3, 1])
        #expect(try leftover.candidates.map(\.pem) == [Array("younger".utf8), RecordShape.facts(1).pem])
        #expect(leftover.candidates.map { $0.known?.generation } == [nil, 1])
    }

    /// The service may hold the key of a file that cannot be read.
    @Test func aKeyThatCannotBeReadIsNotLeftOut() throws {
        try temporary.put("{", as: name.record)
        try temporary.put(RecordFile.encode(RecordShape.registered.record()), as: name.record + ".prev")
        symlink("elsewhere", temporary[name.file(.generation(3))])
        #expect(codeThrown { try store.leftover(held) } == .stateKind)
    }

    @Test(arguments: [1, 3], RecordShape.allCases)
    func theServiceSaysWhichKeyItHolds(_ held: Int, _ shape: RecordShape) throws {
        try temporary.put("{", as: name.record)
        try temporary.put(RecordFile.encode(shape.record()), as: name.record + ".prev")
        try temporary.put(RecordShape.facts(3).pem, as: name.file(.generation(3)))
        let leftover = try store.leftover(self.held)
        var keys = leftover.candidates.compactMap(\.known)
        keys.append(
            IdentityKey(
                generation: 3, role: .next, facts: try RecordShape.facts(3), isHardware: true, isOffered: false))
        var record = leftover.record
        let code = codeThrown { try record.resolve(to: held, among: keys) }
        guard code == nil else {
            // A missing key, a state that only a reset leaves, and messages of which the last is unknown.
            #expect(
                leftover.record.isRevoked || leftover.record.lastSlot != nil
                    || !keys.contains { $0.generation == held })
            return
        }
        #expect(record.lastSlot == nil)
        try store.resolve(record, self.held)
        #expect(store.read().value == record && record.state == .registered)
        #expect(record.key(.current)?.generation == held && record.lastGeneration == 3)
        // The newest may have been offered, so it is offered again.
        #expect(record.key(.next)?.generation == (held == 3 ? nil : 3))
        #expect(record.keys.allSatisfy { $0.isOffered })
        #expect(try attic == ["record"])
        _ = try store.recover(self.held)
    }
}
