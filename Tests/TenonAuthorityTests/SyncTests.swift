// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import TenonAuthoritySynheart
import Testing

@testable import TenonAuthority

/// Records our own code's syncs: it replaces the C library's fdatasync and fsync.
enum Syncs {
    private struct State {
        /// The length of each file at its last sync.
        var sizes: [ino_t: off_t] = [:]
        /// The names that were synced in each folder that is watched.
        var names: [String: [String]] = [:]
        /// Files on failing disks.
        var broken: Set<ino_t> = []
    }

    private static let state = Mutex(State())

    private static func facts(_ path: String) -> stat {
        var facts = stat()
        stat(path, &facts)
        return facts
    }

    /// Whether the present content of the file would survive a power cut.
    static func hold(_ path: String) -> Bool {
        let facts = facts(path)
        return facts.st_size > 0 && state.withLock { $0.sizes[facts.st_ino] } == facts.st_size
    }

    static func setBroken(_ path: String, _ isBroken: Bool) {
        let number = facts(path).st_ino
        state.withLock { state in
            if isBroken { state.broken.insert(number) } else { state.broken.remove(number) }
        }
    }

    /// The names that a body syncs in a folder, in order; the folder itself is a dot.
    static func names(in folder: String, _ body: () throws -> Void) rethrows -> [String] {
        state.withLock { $0.names[folder] = [] }
        try body()
        return state.withLock { $0.names.removeValue(forKey: folder) } ?? []
    }

    /// The C library's.
    private static let real = unsafeBitCast(
        dlsym(UnsafeMutableRawPointer(bitPattern: -1), "fsync"), to: (@convention(c) (Int32) -> Int32).self)

    fileprivate static func sync(_ file: Int32) -> Int32 {
        var facts = stat()
        guard fstat(file, &facts) == 0 else { return -1 }
        guard state.withLock({ !$0.broken.contains(facts.st_ino) }) else {
            errno = EIO
            return -1
        }
        guard real(file) == 0 else { return -1 }
        state.withLock { state in
            state.sizes[facts.st_ino] = facts.st_size
            if !state.names.isEmpty { note(path(of: file), in: &state) }
        }
        return 0
    }

    private static func path(of file: Int32) -> String {
        guard let path = realpath("/proc/self/fd/\(file)", nil) else { return "" }
        defer { free(path) }
        return String(cString: path)
    }

    private static func note(_ path: String, in state: inout State) {
        for folder in state.names.keys {
            if path == folder { state.names[folder]?.append(".") }
            if path.hasPrefix(folder + "/") { state.names[folder]?.append(String(path.dropFirst(folder.count + 1))) }
        }
    }
}

@_cdecl("fdatasync") func countedSync(_ file: Int32) -> Int32 { Syncs.sync(file) }
@_cdecl("fsync") func countedWholeSync(_ file: Int32) -> Int32 { Syncs.sync(file) }

/// Acknowledged data is on the disk, and not only on its way there.
@Suite struct SyncTests {
    @Test func aLineIsSyncedBeforeItIsAcknowledged() async throws {
        let folder = try TestFolder()
        let path = "\(folder.path)/\(AuditLog.fileName)"
        try await AuditLogTests.withLog(folder) { log in
            for number in 0..<4 {
                try await log.append(AuditLogTests.event(number))
                #expect(Syncs.hold(path), "\(number)")
            }
        }
    }

    /// A file that is made has its name on the disk; keys have their content there before they have their name.
    @Test func whatAFirstStartMakesIsSynced() throws {
        let folder = try TestFolder()
        let state = try AuthorityFolder(folder.path)
        let keys = try Syncs.names(in: state.path) {
            _ = try AuthorityKeys.create(in: state, name: "Example", at: 1_800_000_000)
        }
        #expect(keys == [".", ".", "ca.json.new", "."])
        let configuration = try Syncs.names(in: state.path) {
            _ = try Configuration.writeDefault(in: state, service: .synheart)
        }
        #expect(configuration == [".", Configuration.fileName])
    }

    /// In SQLite's words, 2 is FULL, which syncs each commit. With less, a power cut could undo acknowledged changes.
    @Test func aTransactionIsSyncedBeforeItIsAcknowledged() async throws {
        let folder = try TestFolder()
        let store = try SQLiteStore(in: AuthorityFolder(folder.path), clock: FakeClock())
        let setting = try await store.writer.write { connection throws(TenonError) in
            try connection.run("PRAGMA synchronous").first?.integer(0)
        }
        #expect(setting == 2)
        await store.close()
    }

    /// After a failed sync, the content of the disk is unknown, even if the next sync succeeds.
    @Test func aSyncThatFailsIsSaid() async throws {
        let folder = try TestFolder()
        let path = "\(folder.path)/\(AuditLog.fileName)"
        try await AuditLogTests.withLog(folder) { log in
            #expect(await AuditChainTests.append(log) == nil)
            Syncs.setBroken(path, true)
            #expect(await AuditChainTests.append(log)?.code == .storeFailed)
            Syncs.setBroken(path, false)
            #expect(await AuditChainTests.append(log)?.code == .storeFailed)
        }
        // A new start finds the lines that are there.
        try await AuditLogTests.withLog(folder) { #expect(await AuditChainTests.append($0) == nil) }
        #expect(try AuditReader.verify(folder.read(AuditLog.fileName), key: AuditLogTests.key).lines == 3)
    }
}
