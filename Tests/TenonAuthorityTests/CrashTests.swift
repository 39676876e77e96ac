// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import TenonAuthority
import Testing

/// A process that is killed during many writes, and one whose disk is full: no acknowledged change is missing.
@Suite struct CrashTests {
    static let auditKey = [UInt8](repeating: 7, count: 32)
    static let workers = 16

    /// Records the acknowledged changes in a file that survives a kill.
    final class Acknowledgements: Sendable {
        private let file: Int32
        private let count = Atomic(0)
        private let lethal: Int

        /// - Parameter lethal: the process is killed at this one, while the others continue.
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

    static func open(_ path: String) async throws -> (store: SQLiteStore, log: AuditLog) {
        let folder = try AuthorityFolder(path)
        let store = try SQLiteStore(in: folder, clock: FakeClock())
        let log = try AuditLog(in: folder, clock: store.clock, options: .init(instance: "main", key: auditKey))
        try await store.audit(in: log)
        return (store, log)
    }

    /// Some devices' clocks are ahead.
    static func use(_ worker: Int, _ round: Int, at now: AuthorityInstant) throws -> SignedUse {
        let number = worker * 1_000 + round
        return try ReplayStoreTests.use(
            at: now.seconds + (round % 3 == 0 ? 100 : 0), device: "\(number)", nonce: ReplayStoreTests.nonce(number),
            r: number)
    }

    /// Registers devices, rotates each, revokes some, accepts requests and takes challenges, until the process dies.
    static func work(_ path: String, lethal: Int) async throws {
        let (store, log) = try await open(path)
        let acknowledged = try Acknowledgements(path, lethal: lethal)
        let replays = try await MemoryReplayStore(clock: store.clock, horizon: store)
        _ = try await atOnce(workers) { worker in
            let now = store.clock.now()
            for round in 0..<1_000 {
                let registration = try Sample().registration(id: "\(worker).\(round)")
                _ = try await store.register(registration, at: now)
                try acknowledged.add("registered \(worker).\(round)")
                let next = try Sample()
                _ = try await store.rotate(next.rotation(of: registration.device), at: now)
                try acknowledged.add("rotated \(worker).\(round) \(next.key.thumbprint)")
                if round % 2 == 0 {
                    let revocation = Revocation.device(app: "demo", id: "\(worker).\(round)", compromised: false)
                    _ = try await store.revoke(revocation, reason: "", at: now)
                    try acknowledged.add("device_revoked \(worker).\(round)")
                }
                if try await replays.remember(use(worker, round, at: now)) == .fresh {
                    try acknowledged.add("accepted \(worker) \(round)")
                }
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
        let before = try await Self.open(folder.path)
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
        let after = try await Self.open(folder.path)
        let events = try AuditReader.events(folder, key: Self.auditKey)
        let replays = try await MemoryReplayStore(clock: after.store.clock, horizon: after.store)
        for line in acknowledged { try await Self.check(line, after.store, replays, events) }
        try await Self.checkLines(of: after.store, events)
        // The clock continues from the same time.
        _ = try await after.store.register(Sample().registration(id: "after"), at: FakeClock().now())
        #expect(try AuditReader.events(folder, key: Self.auditKey).last == "registered after")
        await after.log.close()
        await after.store.close()
    }

    private static func check(
        _ line: String, _ store: SQLiteStore, _ replays: MemoryReplayStore, _ events: [String]
    ) async throws {
        let words = line.split(separator: " ").map(String.init)
        if words[0] == "accepted", let worker = Int(words[1]), let round = Int(words[2]) {
            let use = try use(worker, round, at: FakeClock().now())
            #expect(try await replays.remember(use) != .fresh, "\(line)")
            return
        }
        if words[0] == "taken", let number = Int(words[1]) {
            #expect(try await store.take(.registration, under: challenge(number)) == nil, "\(line)")
            return
        }
        let device = try await store.device(app: "demo", id: words[1])
        #expect(device != nil, "\(line)")
        if words[0] == "device_revoked" { #expect(device?.state == .revoked, "\(line)") }
        if words[0] == "rotated" { #expect(device?.thumbprint == words[2], "\(line)") }
        #expect(events.contains("\(words[0]) \(words[1])"), "\(line)")
    }

    /// Each stored change has exactly one line, whether it was acknowledged or not, and nothing else has a line.
    private static func checkLines(of store: SQLiteStore, _ events: [String]) async throws {
        var changes: [String] = []
        var place: Int64?
        repeat {
            let page = try await store.devices(app: nil, from: place, limit: 1_000)
            for device in page.devices {
                changes.append("registered \(device.id)")
                if device.keyRotatedAt != nil { changes.append("rotated \(device.id)") }
                if device.state == .revoked { changes.append("device_revoked \(device.id)") }
            }
            place = page.next
        } while place != nil
        #expect(events.sorted() == changes.sorted())
    }

    /// A disk that is full for some time.
    @Test func aFullDiskIsSaidAndOver() async throws {
        let folder = try TestFolder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            try await CrashTests.fill(path)
        }
        let after = try await Self.open(folder.path)
        let events = try AuditReader.events(folder, key: Self.auditKey)
        let replays = try await MemoryReplayStore(clock: after.store.clock, horizon: after.store)
        for line in try Acknowledgements.read(folder) {
            try await Self.check(line, after.store, replays, events)
        }
        try await Self.checkLines(of: after.store, events)
        await after.log.close()
        await after.store.close()
    }

    /// Registers devices until no file can grow any more, and again when files can.
    static func fill(_ path: String) async throws {
        let (store, log) = try await open(path)
        let acknowledged = try Acknowledgements(path)
        signal(SIGXFSZ, SIG_IGN)
        for limit in [rlim_t(300_000), 600_000] {
            limitFiles(to: limit)
            let failures = try await atOnce(workers) { worker -> TenonError.Code? in
                for round in 0..<1_000 {
                    let id = "\(limit).\(worker).\(round)"
                    let registration = try Sample().registration(id: id)
                    if let error = await errorThrown({
                        try await store.register(registration, at: FakeClock().now())
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
        #expect(try await store.register(registration, at: FakeClock().now()) == .registered(registration.device))
        try acknowledged.add("registered last")
        await log.close()
        await store.close()
    }

    /// The log's disk is full, and the store's is not: the lines are written when there is room, without a new start.
    @Test func linesThatWaitAreWrittenWhenThereIsRoom() async throws {
        let folder = try TestFolder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            try await CrashTests.fillLog(path)
        }
        let after = try await Self.open(folder.path)
        let devices = try await after.store.devices(app: nil, from: nil, limit: 100).devices.map {
            "registered \($0.id)"
        }
        let events = try AuditReader.events(folder, key: Self.auditKey).filter { $0.hasPrefix("registered") }
        #expect(devices.count > 1 && events.sorted() == devices.sorted())
        await after.log.close()
        await after.store.close()
    }

    static func fillLog(_ path: String) async throws {
        let (store, log) = try await open(path)
        let filling = AuditEvent(.ekDenied, details: ["reason": .string(String(repeating: "x", count: 1_500))])
        _ = try await atOnce(workers) { _ in for _ in 0..<100 { try await log.append(filling) } }
        var facts = stat()
        stat("\(path)/\(AuditLog.fileName)", &facts)
        signal(SIGXFSZ, SIG_IGN)
        limitFiles(to: rlim_t(facts.st_size + 1_000))
        let failures = try await atOnce(workers) { worker -> TenonError.Code? in
            let registration = try Sample().registration(id: "\(worker)")
            return await errorThrown { try await store.register(registration, at: FakeClock().now()) }?.code
        }
        guard failures.contains(.storeFailed), store.waitingLines > 0 else { throw Surprise("there was room") }
        limitFiles(to: .max)
        try await store.tidy(at: FakeClock().now())
        guard store.waitingLines == 0 else { throw Surprise("lines wait") }
        // Like a killed process.
        _exit(0)
    }

    /// The process's limit of file sizes: writes beyond it fail, as on a full disk.
    static func limitFiles(to bytes: rlim_t) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        limit.rlim_cur = min(bytes, limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    }
}
