// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonAuthority
import Testing

/// A start on a changed log, and one on a log after a crash.
@Suite struct AuditStartTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    static let log = AuditLog.fileName
    static let store = ["authority.db", "authority.db-wal"]

    /// Runs an authority, which revokes TPMs with these reasons.
    @discardableResult
    static func life(
        _ folder: TestFolder, _ reasons: [String] = [], accepts: Bool = false
    ) async throws -> [String] {
        let authority = try await AuthorityInstance(
            .open(), in: AuthorityFolder(folder.path), clock: FakeClock(), acceptsLog: accepts)
        for reason in reasons { try await revoke(authority, reason) }
        await authority.close()
        return authority.notices
    }

    static func revoke(_ authority: AuthorityInstance, _ reason: String) async throws {
        let ek = try Sample.digest(reason).description
        let body: JSON = ["ek_id": .string(ek), "reason": .string(reason)]
        #expect(try await authority.engine.post("/v1/revoke", body, at: .admin).status == 200)
    }

    static func lines(_ folder: TestFolder) throws -> [[UInt8]] {
        try folder.read(log).split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    static func reasons(_ folder: TestFolder) throws -> [String] {
        try AuditReader.lines(folder).compactMap { $0["reason"]?.string }
    }

    /// A start on a log that somebody changed reports it, and leaves the log unchanged.
    static func expectRefusal(_ folder: TestFolder, _ what: String) async throws {
        let before = try folder.read(log)
        let error = await errorThrown { try await life(folder, ["later"]) }
        #expect(error?.code == .auditChain, "\(what)")
        #expect(try folder.read(log) == before, "\(what)")
    }

    /// Every number of remaining lines below all of them, including 0.
    @Test func aLogThatIsShorterStopsTheStart() async throws {
        try await Self.life(folder, ["a", "b", "c"])
        let lines = try Self.lines(folder)
        // The last is the head.
        #expect(lines.count == 4)
        for count in 0..<lines.count {
            try folder.write(AuditChainTests.joined(Array(lines[..<count])), to: Self.log)
            try await Self.expectRefusal(folder, "\(count) lines")
        }
        try folder.write(AuditChainTests.joined(lines), to: Self.log)
        try await Self.life(folder, ["d"])
        #expect(try Self.reasons(folder) == ["a", "b", "c", "d"])
    }

    /// A cut within a line is a cut of that line, which the database knows of.
    @Test func eachByteOfAStoredLineCounts() async throws {
        try await Self.life(folder, ["a", "b"])
        let bytes = try folder.read(Self.log)
        let lines = try Self.lines(folder)
        let start = bytes.count - (lines.last?.count ?? 0) - 1
        for count in stride(from: start + 1, to: bytes.count, by: 16) {
            try folder.write(Array(bytes[..<count]), to: Self.log)
            let error = await errorThrown { try await Self.life(folder) }
            #expect(error?.code == .auditChain, "\(count)")
        }
    }

    /// The same database with another log.
    @Test func anotherLifesLogStopsTheStart() async throws {
        try await Self.life(folder, ["a"])
        let files = Self.store.filter(folder.names.contains) + [Self.log]
        let saved = try files.map { ($0, try folder.read($0)) }
        try await Self.life(folder, ["b", "c"])
        let other = try folder.read(Self.log)
        for (name, bytes) in saved { try folder.write(bytes, to: name) }
        try await Self.life(folder, ["d", "e"])
        try folder.write(other, to: Self.log)
        try await Self.expectRefusal(folder, "another log")
    }

    /// The lines that the store did not know of yet when it stored its last change: the chain says that they are those.
    @Test func aLineBehindTheKnownOneCounts() async throws {
        var saved: [(String, [UInt8])] = []
        try await Self.withStore(folder) { store in
            for reason in ["a", "b"] { try await Self.deny(reason, in: store) }
            saved = try Self.store.filter(folder.names.contains).map { ($0, try folder.read($0)) }
            for reason in ["c", "d", "e"] { try await Self.deny(reason, in: store) }
        }
        let lines = try Self.lines(folder)
        for line in 1..<4 {
            let (crashed, good) = (try TestFolder(), try TestFolder())
            for (name, bytes) in saved { for folder in [crashed, good] { try folder.write(bytes, to: name) } }
            var changed = lines
            let text = String(decoding: lines[line], as: UTF8.self)
            changed[line] = Array(text.replacing(#""reason":""#, with: #""reason":"x"#).utf8)
            try crashed.write(AuditChainTests.joined(changed), to: Self.log)
            let error = await errorThrown { try await Self.withStore(crashed) { _ in } }
            #expect(error?.code == .auditChain, "line \(line + 1)")
            try good.write(AuditChainTests.joined(lines), to: Self.log)
            try await Self.withStore(good) { _ in }
        }
    }

    /// A database older than the log lacks changes that are in the log.
    @Test func anOlderDatabaseStopsTheStart() async throws {
        try await Self.life(folder, ["a"])
        let saved = try folder.read(Self.store[0])
        try await Self.life(folder, ["b"])
        try folder.write(saved, to: Self.store[0])
        try await Self.expectRefusal(folder, "an older database")
    }

    /// Only zeros at the end of the file can be bytes that a disk had not written yet.
    @Test(arguments: ["first", "middle", "last", "a line of zeros"]) func aNULElsewhereStopsTheStart(
        _ place: String
    ) async throws {
        var bytes = AuditChainTests.joined(try await AuditChainTests.lines(3, in: folder))
        switch place {
        case "first": bytes[5] = 0
        case "middle": bytes[bytes.count / 2] = 0
        case "last": bytes[bytes.count - 5] = 0
        default: bytes += Array("\0\n\0\n".utf8)
        }
        try folder.write(bytes, to: Self.log)
        try await AuditChainTests.expectRefusal(folder)
    }

    @Test func theCaseOfAMacIsSeen() async throws {
        let lines = try await AuditChainTests.lines(3, in: folder)
        for line in lines.indices {
            var changed = lines
            let text = String(decoding: lines[line], as: UTF8.self)
            let mac = try #require(try JSON(parsing: lines[line])["mac"]?.string)
            changed[line] = Array(text.replacing(mac, with: mac.uppercased()).utf8)
            #expect(changed[line] != lines[line])
            let bytes = AuditChainTests.joined(changed)
            #expect(
                await errorThrown { try AuditReader.verify(bytes, key: AuditLogTests.key) }?.code == .auditChain)
        }
    }

    /// An operator continues: the log records its fault and is whole from there on, and the next start is normal. A log
    /// that cannot be continued is moved away, and not lost.
    @Test(arguments: ["shorter", "missing", "a NUL", "a line changed"]) func anOperatorGoesOn(
        _ what: String
    ) async throws {
        try await Self.life(folder, ["a", "b"])
        var bytes = try folder.read(Self.log)
        switch what {
        case "shorter": bytes = Array(bytes[...(bytes.firstIndex(of: UInt8(ascii: "\n")) ?? 0)])
        case "missing": bytes = []
        case "a NUL": bytes[20] = 0
        default: bytes[bytes.count - 20] ^= 1
        }
        try folder.write(bytes, to: Self.log)
        #expect(await errorThrown { try await Self.life(folder) }?.code == .auditChain)
        #expect(try await Self.life(folder, ["c"], accepts: true).count == 1)
        let lines = try AuditReader.lines(folder)
        let record = try #require(lines.first { $0["event"]?.string == "log_accepted" })
        #expect(record["expected_lines"]?.integer == 3 && record["fault"]?.string?.isEmpty == false)
        #expect(record["found_lines"]?.integer == (what == "shorter" ? 1 : 0))
        #expect(try Self.reasons(folder) == (what == "shorter" ? ["a", "c"] : ["c"]))
        #expect(folder.names.contains("audit.log.1") == ["a NUL", "a line changed"].contains(what))
        if folder.names.contains("audit.log.1") { #expect(try folder.read("audit.log.1") == bytes) }
        #expect(try await Self.life(folder, ["d"]).isEmpty)
        #expect(try await Self.life(folder, accepts: true).isEmpty)
        #expect(try AuditReader.verified(folder).acceptances == [what == "shorter" ? 2 : 1])
    }

    /// An operator goes on, and lines that waited for the log before cannot be written: the next start asks nobody
    /// again.
    @Test func anOperatorGoesOnOnce() async throws {
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            try await AuditStartTests.acceptWithoutRoom(path)
        }
        try await Self.withStore(folder) { try await Self.deny("later", in: $0) }
        #expect(try Self.reasons(folder).suffix(2) == [Self.waits, "later"])
    }

    /// The size of a line that is longer than the one that records that an operator continues.
    private static let waits = String(repeating: "w", count: 700)

    /// Cuts a log, goes on with it where there is room for the line that says so, and ends as a process that is killed.
    static func acceptWithoutRoom(_ path: String) async throws {
        let (first, log) = try await CrashTests.open(path)
        let filling = AuditEvent(.ekDenied, details: ["reason": .string(String(repeating: "x", count: 1_500))])
        _ = try await atOnce(16) { _ in for _ in 0..<25 { try await log.append(filling) } }
        let end = log.mark
        for number in 0..<2 { try await log.append(AuditLogTests.event(number)) }
        await log.close()
        _ = await errorThrown { try await deny(waits, in: first) }
        await first.close()
        guard truncate("\(path)/\(Self.log)", Int(end.bytes)) == 0 else { throw Surprise("not cut") }

        let folder = try AuthorityFolder(path)
        let store = try SQLiteStore(in: folder, clock: FakeClock())
        let accepted = try AuditLog(
            in: folder, clock: store.clock,
            options: .init(instance: "main", key: CrashTests.auditKey, accepts: true))
        signal(SIGXFSZ, SIG_IGN)
        CrashTests.limitFiles(to: rlim_t(end.bytes) + 600)
        guard try await store.audit(in: accepted) != nil, store.waitingLines == 1 else { throw Surprise("it had room") }
        _exit(0)
    }

    /// A process that ends between storing a change and writing its line, or in the middle of the line: each byte of
    /// it. The next start has the line once.
    @Test func aCrashIsNoChange() async throws {
        try await Self.withStore(folder) { try await Self.deny("a", in: $0) }
        let before = try folder.read(Self.log)
        var saved: [(String, [UInt8])] = []
        var written: [UInt8] = []
        try await Self.withStore(folder) { store in
            for reason in ["b", "c"] { try await Self.deny(reason, in: store) }
            saved = try Self.store.filter(folder.names.contains).map { ($0, try folder.read($0)) }
            written = Array(try folder.read(Self.log)[before.count...])
        }
        // Of the first line the store knew when it stored the second.
        let first = (written.firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 1
        for count in first...written.count {
            let crashed = try TestFolder()
            for (name, bytes) in saved { try crashed.write(bytes, to: name) }
            let zeros = [UInt8](repeating: 0, count: count % 3)
            try crashed.write(before + Array(written[..<count]) + zeros, to: Self.log)
            try await Self.withStore(crashed) { try await Self.deny("d", in: $0) }
            #expect(try Self.reasons(crashed) == ["a", "b", "c", "d"], "\(count)")
        }
    }

    static func withStore(_ folder: TestFolder, _ body: (SQLiteStore) async throws -> Void) async throws {
        let (store, log) = try await CrashTests.open(folder.path)
        try await body(store)
        await log.close()
        await store.close()
    }

    static func deny(_ reason: String, in store: SQLiteStore) async throws {
        _ = try await store.revoke(.ek(Sample.digest(reason)), reason: reason, at: FakeClock().now())
    }
}
