// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonAuthority
import Testing

/// Changed logs, torn logs, full disks.
@Suite struct AuditChainTests {
    static let key = AuditLogTests.key

    static func lines(_ count: Int, in folder: TestFolder) async throws -> [[UInt8]] {
        try await AuditLogTests.withLog(folder) { log in
            for number in 0..<count { try await log.append(AuditLogTests.event(number)) }
        }
        return try AuditStartTests.lines(folder)
    }

    static func joined(_ lines: [[UInt8]]) -> [UInt8] { lines.flatMap { $0 + [UInt8(ascii: "\n")] } }

    @Test func everyChangeIsNoticedWithItsLine() async throws {
        let lines = try await Self.lines(5, in: TestFolder())
        var changes: [(what: String, line: Int, lines: [[UInt8]])] = []
        for line in lines.indices {
            var copy = lines
            copy.swapAt(line, (line + 1) % 5)
            changes.append(("swapped", min(line, (line + 1) % 5) + 1, copy))
            copy = lines
            copy.insert(lines[line], at: line)
            changes.append(("doubled", line + 2, copy))
            if line < 4 {
                copy = lines
                copy.remove(at: line)
                changes.append(("removed", line + 1, copy))
            }
        }
        for change in changes {
            let error = await errorThrown { try AuditReader.verify(Self.joined(change.lines), key: Self.key) }
            #expect(error?.code == .auditChain, "\(change.what)")
            #expect(error?.message.hasPrefix("Line \(change.line) ") == true, "\(change.what)")
        }
    }

    @Test func everyByteCounts() async throws {
        let bytes = Self.joined(try await Self.lines(2, in: TestFolder()))
        for offset in bytes.indices {
            var changed = bytes
            changed[offset] ^= 1
            #expect(
                await errorThrown { try AuditReader.verify(changed, key: Self.key) }?.code == .auditChain, "\(offset)")
        }
        for end in 1..<bytes.count where bytes[end - 1] != UInt8(ascii: "\n") {
            #expect(await errorThrown { try AuditReader.verify(Array(bytes[..<end]), key: Self.key) } != nil, "\(end)")
        }
    }

    /// Every line that the database knows must be there, up to the last.
    @Test func whatTheDatabaseKnowsIsThere() async throws {
        let folder = try TestFolder()
        var marks: [AuditMark] = []
        try await AuditLogTests.withLog(folder) { log in
            for number in 0..<3 {
                try await log.append(AuditLogTests.event(number))
                marks.append(log.mark)
            }
        }
        let bytes = try folder.read(AuditLog.fileName)
        var other = marks[1]
        other.mac = marks[0].mac
        for (kept, count, isGood) in [
            (marks[2], 3, true), (marks[1], 3, true), (marks[2], 2, false), (marks[2], 0, false), (other, 3, false),
        ] {
            var verifier = try AuditVerifier(instance: "main", key: Self.key, kept: kept) { _, _ in }
            let error = await errorThrown {
                try verifier.update(Array(bytes.prefix(count == 0 ? 0 : Int(marks[count - 1].bytes))))
                _ = try verifier.finish()
            }
            #expect(error?.code == (isGood ? nil : .auditChain), "\(kept.sequence) of \(count)")
        }
    }

    /// Only the canonical form is accepted: other texts with the same meaning are refused.
    @Test func aLineHasOneForm() async throws {
        let lines = try await Self.lines(1, in: TestFolder())
        let text = String(decoding: lines[0], as: UTF8.self)
        for changed in [text + " ", " " + text, "{ " + text.dropFirst(), text + "\r"] {
            let error = await errorThrown { try AuditReader.verify(Array((changed + "\n").utf8), key: Self.key) }
            #expect(error?.code == .auditChain)
        }
    }

    @Test func anotherKeyOrInstanceIsAnotherChain() async throws {
        let folder = try TestFolder()
        let bytes = Self.joined(try await Self.lines(2, in: folder))
        #expect(await errorThrown { try AuditReader.verify(bytes, key: [1]) }?.code == .auditChain)
        let instance = await errorThrown { try AuditReader.verify(bytes, key: Self.key, instance: "b") }
        #expect(instance?.code == .auditChain)
        for (instance, key) in [("main", [1]), ("b", Self.key)] {
            try await Self.expectRefusal(folder, instance: instance, key: key)
        }
    }

    /// Bytes that a crash leaves behind the last line were never acknowledged.
    @Test(arguments: ["{\"app\":\"de", "\0\0\0\0", "{\"app\":\"d\0\0\0", "{\0\0"])
    func aTornEndIsCutOff(_ torn: String) async throws {
        for count in 0..<4 {
            let folder = try TestFolder()
            let whole = Self.joined(try await Self.lines(count, in: folder))
            try folder.write(whole + Array(torn.utf8), to: AuditLog.fileName)
            try await AuditLogTests.withLog(folder) { #expect(await Self.append($0) == nil) }
            let bytes = try folder.read(AuditLog.fileName)
            #expect(bytes.starts(with: whole))
            #expect(try AuditReader.verify(bytes, key: Self.key).lines == Int64(count + 1))
        }
    }

    /// A start on a log that is not whole reports it, and leaves it unchanged.
    static func expectRefusal(
        _ folder: TestFolder, instance: String = "main", key: [UInt8] = key, _ what: String = ""
    ) async throws {
        let before = try folder.read(AuditLog.fileName)
        let error = await errorThrown { try await AuditLogTests.withLog(folder, instance: instance, key: key) { _ in } }
        #expect(error?.code == .auditChain, "\(what)")
        #expect(try folder.read(AuditLog.fileName) == before, "\(what)")
    }

    static func append(_ log: AuditLog) async -> TenonError? {
        await errorThrown { try await log.append(AuditLogTests.event(0)) }
    }

    /// A last line that somebody changed is no torn end.
    @Test func whatIsNoLogStopsTheStart() async throws {
        var changed: [[UInt8]] = []
        for count in 1..<4 {
            changed.append(Self.joined(try await Self.lines(count, in: TestFolder())))
            changed[count - 1][changed[count - 1].count - 10] ^= 1
        }
        let others = [Array("\n".utf8), Array("text\n".utf8), [UInt8](repeating: UInt8(ascii: "x"), count: 2_000_000)]
        for (number, bytes) in (changed + others).enumerated() {
            let folder = try TestFolder()
            try folder.write(bytes, to: AuditLog.fileName)
            try await Self.expectRefusal(folder, "\(number)")
        }
    }

    /// On a full disk, lines are refused and no partial line stays; with room again, it works again.
    @Test func aFullDiskIsSaidAndOver() async throws {
        let folder = try TestFolder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            try await AuditChainTests.fill(path)
        }
        let lines = try AuditReader.verify(folder.read(AuditLog.fileName), key: Self.key).lines
        #expect(try lines == CrashTests.Acknowledgements.read(folder).count)
    }

    /// Some lines fit, then none, four times.
    static func fill(_ path: String) async throws {
        let log = try AuditLog(
            in: AuthorityFolder(path), clock: FakeClock(), options: .init(instance: "main", key: key))
        let acknowledged = try CrashTests.Acknowledgements(path)
        signal(SIGXFSZ, SIG_IGN)
        var facts = stat()
        for _ in 0..<4 {
            stat("\(path)/\(AuditLog.fileName)", &facts)
            CrashTests.limitFiles(to: rlim_t(facts.st_size) + 2_500)
            var error = await append(log)
            #expect(error == nil)
            while error == nil {
                try acknowledged.add("a line")
                error = await append(log)
            }
            #expect(error?.code == .storeFailed)
            stat("\(path)/\(AuditLog.fileName)", &facts)
            #expect(Int64(facts.st_size) == log.mark.bytes)
            CrashTests.limitFiles(to: .max)
        }
        await log.close()
    }
}
