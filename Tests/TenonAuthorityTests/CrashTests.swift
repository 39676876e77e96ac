// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import TenonAuthority
import Testing

/// A process that is killed while many write, and one whose disk is full: nothing that was acknowledged is missing.
@Suite struct CrashTests {
    static let auditKey = [UInt8](repeating: 7, count: 32)
    static let workers = 16

    /// What was acknowledged, in a file that a kill cannot take back.
    final class Acknowledgements: Sendable {
        private let file: Int32
        private let count = Atomic(0)
        private let lethal: Int

        /// - Parameter lethal: the process is killed at this one, while the others go on.
        init(_ folder: String, lethal: Int = .max) throws {
            file = Glibc.open("\(folder)/acknowledged", O_WRONLY | O_CREAT | O_APPEND, 0o600)
            guard file >= 0 else { throw Surprise("no file") }
            self.lethal = lethal
        }

        func add(_ text: String) throws {
            let bytes = Array("\(text)\n".utf8)
            guard write(file, bytes, bytes.count) == bytes.count else { throw Surprise("not written") }
            if count.add(1, ordering: .relaxed).newValue == lethal { kill(getpid(), SIGKILL) }
        }

        static func read(_ folder: TestFolder) throws -> [String] {
            try String(decoding: folder.read("acknowledged"), as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    static func challenge(_ number: Int) throws -> Digest { try Sample.digest("challenge \(number)") }

    static func entry() -> ChallengeEntry {
        ChallengeEntry(
            purpose: .registration, app: "demo", origin: "https://a.example", dialect: "tenon",
            deadline: FakeClock().now().advanced(byMilliseconds: 90_000))
    }

    static func open(_ path: String) throws -> (store: SQLiteStore, log: AuditLog, audited: AuditedDeviceStore) {
        let folder = try AuthorityFolder(path)
        let store = try SQLiteStore(in: folder, clock: FakeClock())
        let log = try AuditLog(in: folder, clock: store.clock, options: .init(instance: "main", key: auditKey))
        return (store, log, AuditedDeviceStore(store, log: log))
    }

    /// Registers devices, rotates each, and takes challenges, until the process dies.
    static func work(_ path: String, lethal: Int) async throws {
        let (store, log, audited) = try open(path)
        let acknowledged = try Acknowledgements(path, lethal: lethal)
        _ = try await atOnce(workers) { worker in
            let now = store.clock.now()
            for round in 0..<1_000 {
                let registration = try Sample().registration(id: "\(worker).\(round)")
                _ = try await audited.register(registration, at: now)
                try acknowledged.add("registered \(worker).\(round)")
                let next = try Sample()
                _ = try await audited.rotate(next.rotation(of: registration.device), at: now)
                try acknowledged.add("rotated \(worker).\(round) \(next.key.thumbprint)")
                guard try await store.take(.registration, under: challenge(worker * 1_000 + round)) != nil else {
                    continue
                }
                try acknowledged.add("taken \(worker * 1_000 + round)")
            }
        }
        withExtendedLifetime(log) {}
    }

    @Test(arguments: [1, 10, 33, 100, 333, 700])
    func killedWhileWriting(_ lethal: Int) async throws {
        let folder = try TestFolder()
        let before = try Self.open(folder.path)
        for worker in 0..<Self.workers {
            for round in 0..<20 {
                try await before.store.put(Self.entry(), under: Self.challenge(worker * 1_000 + round))
            }
        }
        await before.log.close()
        await before.store.close()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String, lethal = lethal as Int] in
            try await CrashTests.work(path, lethal: lethal)
        }
        let acknowledged = try Acknowledgements.read(folder)
        #expect(acknowledged.count >= lethal)
        let after = try Self.open(folder.path)
        let events = Set(try AuditReader.events(folder, key: Self.auditKey))
        for line in acknowledged { try await Self.check(line, after.store, events) }
        // It goes on where it was.
        _ = try await after.audited.register(Sample().registration(id: "after"), at: FakeClock().now())
        #expect(try AuditReader.events(folder, key: Self.auditKey).last == "registered after")
        await after.log.close()
        await after.store.close()
    }

    private static func check(_ line: String, _ store: SQLiteStore, _ events: Set<String>) async throws {
        let words = line.split(separator: " ").map(String.init)
        if words[0] == "taken", let number = Int(words[1]) {
            #expect(try await store.take(.registration, under: challenge(number)) == nil, "\(line)")
            return
        }
        let device = try await store.device(app: "demo", id: words[1])
        #expect(device != nil, "\(line)")
        if words[0] == "rotated" { #expect(device?.thumbprint == words[2], "\(line)") }
        #expect(events.contains("\(words[0]) \(words[1])"), "\(line)")
    }

    /// A disk that is full for a while.
    @Test func aFullDiskIsSaidAndOver() async throws {
        let folder = try TestFolder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            try await CrashTests.fill(path)
        }
        let after = try Self.open(folder.path)
        let events = Set(try AuditReader.events(folder, key: Self.auditKey))
        for line in try Acknowledgements.read(folder) { try await Self.check(line, after.store, events) }
        await after.log.close()
        await after.store.close()
    }

    /// Registers until no file may grow any more, and again when it may.
    static func fill(_ path: String) async throws {
        let (store, log, audited) = try open(path)
        let acknowledged = try Acknowledgements(path)
        signal(SIGXFSZ, SIG_IGN)
        for limit in [rlim_t(300_000), 600_000] {
            limitFiles(to: limit)
            let failures = try await atOnce(workers) { worker -> TenonError.Code? in
                for round in 0..<1_000 {
                    let id = "\(limit).\(worker).\(round)"
                    let registration = try Sample().registration(id: id)
                    if let error = await errorThrown({
                        try await audited.register(registration, at: FakeClock().now())
                    }) {
                        return error.code
                    }
                    try acknowledged.add("registered \(id)")
                }
                return nil
            }
            #expect(failures.allSatisfy { $0 == .storeFailed })
        }
        limitFiles(to: .max)
        let registration = try Sample().registration(id: "last")
        #expect(try await audited.register(registration, at: FakeClock().now()) == .registered(registration.device))
        try acknowledged.add("registered last")
        await log.close()
        await store.close()
    }

    /// Of the process: what is written behind this fails, as on a full disk.
    static func limitFiles(to bytes: rlim_t) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        limit.rlim_cur = min(bytes, limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    }
}
