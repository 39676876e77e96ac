// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import Testing

@Suite struct StateWritingTests {
    let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    /// The calls of a write over an existing file.
    static let whole = [
        "remove x.tmp", "create x.tmp", "write x.tmp", "sync x.tmp", "remove x.prev.tmp", "link x", "rename x.prev",
        "remove x.prev.tmp", "rename x", "syncFolder",
    ]

    @Test func dataComesBeforeNamesAndNamesBeforeTheReturn() throws {
        let plan = CallPlan()
        let folder = try temporary.open(plan.calls)
        try folder.write([1], to: "x", keepingPrevious: true)
        #expect(text(of: "x.prev", in: folder) == nil)
        plan.forget()
        try folder.write([2], to: "x", keepingPrevious: true)
        #expect(plan.made.dropLast() == Self.whole.dropLast())
        #expect(plan.made.last?.hasPrefix("syncFolder") == true)
        #expect(folder.read("x", atMost: 9).value?.bytes == [2])
        #expect(folder.read("x.prev", atMost: 9).value?.bytes == [1])
        #expect(try folder.names().sorted() == ["x", "x.prev"])
        plan.forget()
        try folder.write([], to: "y")
        #expect(plan.made.dropLast() == ["remove y.tmp", "create y.tmp", "sync y.tmp", "rename y"])
        var status = stat()
        #expect(stat(temporary["y"], &status) == 0 && status.st_mode & 0o7777 == 0o600)
    }

    static let errors: [(errno: Int32, code: TenonError.Code)] = [
        (ENOSPC, .stateFull), (EDQUOT, .stateFull), (EROFS, .stateReadOnly), (EACCES, .statePermission),
        (EPERM, .statePermission), (EIO, .stateIO), (EMFILE, .stateBusy), (ENOMEM, .memory), (ELOOP, .stateKind),
    ]

    /// Once, or for good from there on.
    @Test(arguments: errors, [false, true])
    func eachCallMayFail(_ error: (errno: Int32, code: TenonError.Code), _ isForGood: Bool) throws {
        for number in 1...Self.whole.count {
            let temporary = try TemporaryFolder()
            let clean = try temporary.open()
            try clean.write([0], to: "x", keepingPrevious: true)
            try clean.write([1], to: "x", keepingPrevious: true)
            let folder = try temporary.open(CallPlan(.errno(error.errno), at: number, onward: isForGood).calls)
            #expect(
                codeThrown { try folder.write([2], to: "x", keepingPrevious: true) } == error.code,
                "\(Self.whole[number - 1])")
            // Only at the last call is the new file there already; the previous record is the one before it, or the
            // same.
            let (now, before) = (clean.read("x", atMost: 9).value?.bytes, clean.read("x.prev", atMost: 9).value?.bytes)
            #expect(now == (number == Self.whole.count ? [2] : [1]))
            #expect(before == [0] || before == [1])
            // A disk that is writable again accepts the next record, whatever is left over.
            try clean.write([3], to: "x", keepingPrevious: true)
            #expect(try clean.names().sorted() == ["x", "x.prev"])
        }
    }

    @Test func nothingIsLeftOfAWriteThatFails() throws {
        for number in 2...6 {
            let folder = try temporary.open(CallPlan(.errno(ENOSPC), at: number).calls)
            #expect(codeThrown { try folder.write([2], to: "x") } == .stateFull)
            #expect(try folder.names() == (number == 6 ? ["x"] : []))
        }
    }

    @Test func signalsAndShortWritesAreNoErrors() throws {
        let bytes = (0..<200).map { UInt8($0) }
        for number in 1...12 {
            let interrupted = try temporary.open(CallPlan(.errno(EINTR), at: number).calls)
            try interrupted.write(bytes, to: "x", keepingPrevious: true)
            #expect(interrupted.read("x", atMost: 999).value?.bytes == bytes)
        }
        let plan = CallPlan(.short, at: 1, onward: true)
        let slow = try temporary.open(plan.calls)
        try slow.write(bytes, to: "slow")
        #expect(slow.read("slow", atMost: 999).value?.bytes == bytes)
        #expect(plan.made.count { $0 == "write slow.tmp" } == 200)
    }

    @Test func leftoversOfOneIdentityAreSwept() throws {
        let folder = try temporary.open()
        for name in ["a.record.tmp", "a.record", "a.g1.pem.tmp", "b.record.tmp", "a.record.prev.tmp"] {
            try temporary.put("", as: name)
        }
        try folder.sweepUnfinished(of: "a.")
        #expect(try folder.names().sorted() == ["a.record", "b.record.tmp"])
    }

    @Test func theAtticTakesAndGivesBack() throws {
        let plan = CallPlan()
        let folder = try temporary.open(plan.calls)
        #expect(try folder.moveToAttic("x", as: "1") == nil)
        #expect(plan.made == [])
        for (number, name) in ["1", "1.2", "1.3"].enumerated() {
            try temporary.put("\(number)", as: "x")
            #expect(try folder.moveToAttic("x", as: "1") == name)
            // The attic is durable before anything is put in it.
            if number == 0 {
                #expect(
                    plan.made.prefix(3).map { $0.split(separator: " ")[0] } == ["makeFolder", "syncFolder", "rename"])
            }
        }
        let attic = try folder.attic()
        #expect(text(of: "1.3", in: attic) == "2")
        #expect(folder.read("x", atMost: 9).isAbsent)
        #expect(plan.made.suffix(3).map { $0.split(separator: " ")[0] } == ["rename", "syncFolder", "syncFolder"])
        #expect(plan.made.suffix(2).first == "syncFolder attic")
        plan.forget()
        try folder.restore("1.2", from: attic, to: "x")
        #expect(plan.made.map { $0.split(separator: " ")[0] } == ["rename", "syncFolder", "syncFolder"])
        #expect(plan.made.last == "syncFolder attic")
        #expect(text(of: "x", in: folder) == "1")
        #expect(codeThrown { try folder.restore("1", from: attic, to: "x") } == .keyGeneration)
        #expect(text(of: "1", in: attic) == "0")
    }

    @Test func thePurgeKeepsSixteenAndNinetyDays() throws {
        let folder = try temporary.open()
        for number in 10..<30 {
            try temporary.put("", as: "x")
            // The age of a key does not count: its time in the attic begins when it is moved.
            var long = [timeval(), timeval()]
            try #require(utimes(temporary["x"], &long) == 0)
            try folder.moveToAttic("x", as: "a.g\(number)")
        }
        try temporary.put("", as: "x")
        try folder.moveToAttic("x", as: "b.g1")
        let day = 24 * 60 * 60
        let now = time(nil)
        #expect(try folder.purgeAttic(of: "a.", now: now + 89 * day) == [])
        #expect(try folder.attic().names().count == 21)
        // Those that were moved first are removed first, although several may have the same time.
        #expect(try Set(folder.purgeAttic(of: "a.", now: now + 91 * day)) == Set((10..<14).map { "a.g\($0)" }))
        #expect(try folder.purgeAttic(of: "a.", now: now + 91 * day) == [])
        #expect(try folder.attic().names().count == 17)
    }
}
