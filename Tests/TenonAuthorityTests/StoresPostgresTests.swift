// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import Testing

@testable import TenonAuthority

/// A PostgreSQL that hangs, has no room for connections, or contains damaged rows.
@Suite(.serialized, .timeLimit(.minutes(2))) struct StoresPostgresTests {
    private var stores: TestStores { .current }

    /// The deadline of an authority whose configuration does not set one.
    static let deadline = PostgresStore.Options(address: "").deadline

    /// The tables that a registration writes to; the servers have the tables of other tests, too.
    static let analyze = "ANALYZE devices, keys, spent_challenges, certificates, denied_eks"

    /// The error of a call, which has to end within this many seconds.
    static func thrown<Value: Sendable>(
        within seconds: Int = 30, _ body: @escaping @Sendable () async throws -> Value
    ) async -> TenonError? {
        let (results, end) = AsyncStream.makeStream(of: TenonError?.self)
        Task { end.yield(await errorThrown(body)) }
        let timer = Task {
            try await Task.sleep(for: .seconds(seconds))
            Issue.record("no answer in \(seconds) s")
            end.yield(nil)
        }
        defer { timer.cancel() }
        for await result in results { return result }
        return nil
    }

    static func paused(_ body: () async throws -> Void) async throws {
        try SharedServers.command("postgres pause")
        defer { #expect(throws: Never.self) { try SharedServers.command("postgres resume") } }
        try await body()
    }

    /// The server does not answer: each call ends in time, health reports it, and an instance can stop. Then everything
    /// works again.
    @Test(arguments: SharedStoreTests.kinds)
    func aServerThatHangs(_: StoreKind) async throws {
        let instance = try SharedInstance(in: SharedStoreTests.fragile, deadline: Self.deadline)
        let (stores, postgres) = (instance.stores, instance.postgres)
        let device = try await stores.registered(Sample())
        let second = try SharedServers.postgres(
            SharedServers.name(), in: SharedStoreTests.fragile, deadline: Self.deadline)
        try await Self.paused {
            let registration = await Self.thrown { try await stores.register(Sample().registration()) }
            #expect(registration?.retryAfter != nil, "\(registration as Any)")
            let reading = await Self.thrown { try await stores.devices.device(app: "demo", id: device.id) }
            let look = await Self.thrown { try await postgres.look() }
            for error in [reading, look] { #expect(error?.code == .storeFailed, "\(error as Any)") }
            #expect(await Self.thrown { await second.close() } == nil)
        }
        #expect(try await stores.devices.device(app: "demo", id: device.id) == device)
        _ = try await stores.registered(Sample())
        _ = try await postgres.look()
        await instance.close()
    }

    /// Somebody holds a lock on a table: writes are refused in time, in PostgreSQL's words, and health notices.
    @Test(arguments: SharedStoreTests.kinds)
    func aLockOnDevices(_: StoreKind) async throws {
        let name = SharedServers.name()
        let instance = try SharedInstance(name, deadline: Self.deadline)
        let (stores, postgres) = (instance.stores, instance.postgres)
        let locker = try SharedServers.connection(name)
        try locker.runScript("SET idle_in_transaction_session_timeout=0; BEGIN; LOCK TABLE devices")
        let registration = await Self.thrown { try await stores.register(Sample().registration()) }
        let look = await Self.thrown { try await postgres.look() }
        for error in [registration, look] {
            #expect(error?.message.contains("lock timeout") == true, "\(error as Any)")
        }
        try locker.runScript("ROLLBACK")
        _ = try await stores.registered(Sample())
        #expect(try await stores.devices.devices(app: nil, from: nil, limit: 10).devices.count == 1)
        locker.close()
        await instance.close()
    }

    /// PostgreSQL's own words are reported: having no room for a connection is not "cannot be reached".
    @Test(arguments: SharedStoreTests.kinds)
    func theWordsArePostgresOwn(_: StoreKind) async throws {
        let name = SharedServers.name()
        let owner = try SharedServers.owner(ofRole: name)
        let options = PostgresStore.Options(
            address: try SharedServers.address(user: name), schema: name, connections: 1)
        let store = try PostgresStore(options: options)
        _ = try await store.look()
        try owner.runScript("ALTER ROLE \(name) CONNECTION LIMIT 0")
        let full = await errorThrown { try await store.device(app: "a", id: "b") }
        #expect(full?.code == .storeFailed && full?.message.contains("too many connections") == true, "\(full as Any)")
        // The look has its connection, and still reports the fault that requests met.
        await expectError("too many connections") { try await store.look() }
        try owner.runScript("ALTER ROLE \(name) CONNECTION LIMIT -1 NOLOGIN")
        await expectError("not permitted to log in") { try await store.device(app: "a", id: "b") }
        await expectError("No such file or directory") {
            try PostgresStore(options: .init(address: "host=/nowhere user=tenon"))
        }
        try owner.runScript("ALTER ROLE \(name) LOGIN")
        #expect(try await store.device(app: "a", id: "b") == nil)
        _ = try await store.look()
        await store.close()
        owner.close()
    }

    /// An abandoned statement is cancelled on the server before the server's own timeout.
    @Test(arguments: SharedStoreTests.kinds)
    func whatNobodyWaitsForIsCancelled(_: StoreKind) async throws {
        let name = SharedServers.name()
        var words = ""
        // On a slow machine, the time may be over before the statement begins: then the call gets more.
        for seconds in [2, 8, 32] where words.isEmpty {
            let store = try SharedServers.postgres(name, connections: 1, deadline: .seconds(seconds))
            let error = await Self.thrown(within: 30 + seconds) {
                try await store.read { connection throws(TenonError) in
                    try connection.run("SELECT CAST(count(pg_sleep(0.75 * \(seconds))) AS BIGINT)")
                    try connection.run("SELECT CAST(count(pg_sleep(60)) AS BIGINT) AS \(name)_\(seconds)")
                }
            }
            #expect(error?.message.contains("did not answer") == true, "\(error as Any)")
            let end = ContinuousClock.now + .seconds(10)
            repeat {
                await Task.yield()
                let log = try SharedServers.log()
                // The log has the error in the line before its statement.
                let place = log.firstIndex { $0.contains("AS \(name)_\(seconds)") }
                if let place, place > 0 { words = log[place - 1] }
            } while words.isEmpty && ContinuousClock.now < end
            await store.close()
        }
        #expect(words.contains("due to user request"), "\(words)")
    }

    /// A few calls wait for a connection that hangs; the others are told at once to try again.
    @Test(arguments: SharedStoreTests.kinds)
    func theQueueIsBounded(_: StoreKind) async throws {
        let address = try SharedServers.address(in: SharedStoreTests.fragile)
        let store = try PostgresStore(
            options: .init(address: address, schema: SharedServers.name(), connections: 1, waiting: 4))
        _ = try await store.device(app: "a", id: "b")
        try await Self.paused {
            let begin = ContinuousClock.now
            let errors = try await atOnce(32) { _ in
                let error = await errorThrown { try await store.device(app: "a", id: "b") }
                return (error, ContinuousClock.now - begin)
            }
            let refused = errors.filter { $0.0?.message.contains("Too many requests wait") == true }
            #expect(refused.count >= 27 && errors.allSatisfy { $0.0?.retryAfter != nil }, "\(refused.count)")
        }
        #expect(try await store.device(app: "a", id: "b") == nil)
        await store.close()
    }

    /// If the server hangs before a commit, nothing is stored. If it hangs after it, the outcome is unknown, and
    /// repeating the call tells.
    @Test(arguments: SharedStoreTests.kinds)
    func anOutcomeIsTrue(_: StoreKind) async throws {
        // One connection, whose statements are prepared. The work before a pause must fit in the deadline.
        let store = try SharedServers.postgres(
            SharedServers.name(), in: SharedStoreTests.fragile, connections: 1, deadline: .seconds(5))
        #expect(try await store.settle("one", as: Sample.digest("one")))
        @Sendable func insert(_ name: String, _ connection: any SQLConnection) throws(TenonError) {
            try connection.run("INSERT INTO settled VALUES (?, ?)", .text(name), .blob([1]))
        }
        @Sendable func pause() { try? SharedServers.command("postgres pause") }
        let before = await Self.thrown {
            try await store.write { connection throws(TenonError) in
                pause()
                try insert("before", connection)
            }
        }
        try SharedServers.command("postgres resume")
        #expect(before?.code == .storeFailed, "\(before as Any)")
        #expect(before?.message.hasSuffix("Nothing was stored.") == true, "\(before as Any)")
        #expect(try await store.settle("one", as: Sample.digest("one")))
        let behind = await Self.thrown {
            try await store.write { connection throws(TenonError) in
                try insert("behind", connection)
                pause()
            }
        }
        try SharedServers.command("postgres resume")
        #expect(behind?.code == .outcomeUnknown, "\(behind as Any)")
        let stored = try await store.read { connection throws(TenonError) in
            try connection.run("SELECT name FROM settled WHERE name IN ('before')")
        }
        #expect(stored.isEmpty)
        await store.close()
    }

    /// An instance has the connections of its options, and one for its look.
    @Test(arguments: SharedStoreTests.kinds)
    func connectionsAreCounted(_: StoreKind) async throws {
        let name = SharedServers.name()
        let owner = try SharedServers.owner(ofRole: name)
        let options = PostgresStore.Options(
            address: try SharedServers.address(user: name), schema: name, deadline: SharedServers.patience)
        let store = try PostgresStore(options: options)
        _ = try await atOnce(64) { _ in
            try await store.read { connection throws(TenonError) in
                try connection.run("SELECT CAST(count(pg_sleep(0.05)) AS BIGINT)")
            }
        }
        _ = try await store.look()
        let rows = try owner.run("SELECT count(*) FROM pg_stat_activity WHERE usename=?", .text(name))
        #expect(try rows.first?.integer(0) == 9 && PostgresStore.connections(options) == 9)
        await store.close()
        owner.close()
    }

    @Test(arguments: SharedStoreTests.kinds)
    func plansDoNotDependOnStatistics(_: StoreKind) async throws {
        let instance = try SharedInstance()
        for _ in 0..<5 { _ = try await instance.stores.registered(Sample()) }
        let queries = [
            "SELECT id FROM devices WHERE id='a'", "SELECT device FROM keys WHERE hash='a'",
            "SELECT 1 FROM spent_challenges WHERE hash='a'", "SELECT id FROM devices WHERE ek='a' AND app='b'",
            "SELECT id FROM devices WHERE app='a' AND place>=1 ORDER BY place LIMIT 100",
            "SELECT id FROM devices WHERE place>=1 ORDER BY place LIMIT 100",
            // An unavoidable scan, which looks extremely expensive by our settings; compiling it would take more than a
            // second.
            "SELECT device FROM replay_horizons WHERE timestamp <= 5",
        ]
        let plans = try await instance.postgres.maintain { connection throws(TenonError) in
            try connection.runScript(Self.analyze)
            return try queries.map { query throws(TenonError) in
                let rows = try connection.run("EXPLAIN \(query)")
                return try rows.map { row throws(TenonError) in try row.text(0) }.joined(separator: "\n")
            }
        }
        for plan in plans.dropLast() { #expect(!plan.contains("Seq Scan"), "\(plan)") }
        #expect(plans.last?.contains("JIT") == false, "\(plans.last ?? "")")
        await instance.close()
    }

    /// After a server's restart, the instance still has its name; another process that took it meanwhile keeps it, and
    /// the first stores nothing more.
    @Test(arguments: SharedStoreTests.kinds)
    func aNameOutlivesItsConnection(_: StoreKind) async throws {
        let name = SharedServers.name()
        let instance = try SharedInstance(name, in: SharedStoreTests.fragile)
        let (store, folder) = (instance.postgres, try TestFolder())
        let log = try AuditedStoreTests.log(folder)
        try await store.audit(in: log)
        #expect(try await store.enter(as: "one", policies: [:]).isEmpty)
        try SharedServers.command("postgres stop", "postgres start")
        _ = try await store.look()
        _ = try await instance.stores.registered(Sample())

        try SharedServers.command("postgres stop", "postgres start")
        let other = try SharedServers.postgres(name, in: SharedStoreTests.fragile)
        #expect(try await other.enter(as: "one", policies: [:]).isEmpty)
        await expectError("Another process has") { try await instance.stores.registered(Sample()) }
        await expectError("Another process has") { try await store.look() }
        _ = try await other.look()
        await other.close()
        await instance.close()
        await log.close()
    }

    /// Instances with different policies for an app do not run beside each other, unless told to.
    @Test(arguments: SharedStoreTests.kinds)
    func anotherPolicyIsSaid(_: StoreKind) async throws {
        let world = try SharedWorld(3)
        let other = #"{"id": "open", "require_attestation": false, "max_key_age_days": 9}"#
        let first = try await world.start("one", in: 0)
        let refused = await errorThrown { try await world.start("two", in: 1, app: other) }
        #expect(refused?.code == .configuration, "\(refused as Any)")
        for words in ["\"one\"", "\"open\"", "--rolling"] {
            #expect(refused?.message.contains(words) == true, "\(refused?.message ?? "")")
        }
        let told = Lines()
        let second = try await world.start("two", in: 1, app: other, isRolling: true, told: told.add)
        #expect(told.all == ["The instance \"one\" has another policy for the app \"open\"."])
        await first.close()
        // The last instance with the former policy has ended, so the new policy needs no permission.
        let third = try await world.start("three", in: 2, app: other)
        for instance in [second, third] { await instance.close() }
    }

    /// Every member of an app's record counts, and nothing else does.
    @Test func whatAPolicyIs() throws {
        func digest(_ app: String, _ more: String = "", roots: [EndorsementRoots] = []) throws -> Digest {
            let text = #"{"origins": ["http://127.0.0.1:8420"], "apps": [{"id": "a"\#(app)}]\#(more)}"#
            let configuration = try Configuration(parsing: Array(text.utf8))
            return try PolicyDigest.of(configuration.apps[0], roots: roots, denials: configuration.ekDeny)
        }
        let ids = ["ab", "cd"].map { String(repeating: $0, count: 32) }
        let usual = try digest("")
        #expect(try digest(#", "dialects": ["tenon", "docs"], "max_devices_per_ek": 8"#) == usual)
        #expect(try digest("", #", "instance": "x", "limits": {"requests": 5}"#) == usual)
        let lists = try [ids, ids.reversed()].map { ids in
            try digest("", #", "ek_deny": {"ek_ids": ["\#(ids[0])", "\#(ids[1])"]}"#)
        }
        #expect(lists[0] == lists[1])
        let others = try [
            digest(#", "dialects": ["docs"]"#), digest(#", "require_attestation": false"#),
            digest(#", "max_devices_per_ek": 9"#), digest(#", "allow_development": true"#),
            digest(#", "require_attestation": false, "max_key_age_days": 3"#), digest(#", "v1_query": "allow""#),
            lists[0], digest("", #", "ek_deny": {"models": [{"maker": "x"}]}"#),
            digest("", roots: [.init(certificates: [[1]], requiresUsage: false)]),
            digest("", roots: [.init(certificates: [[2]], requiresUsage: false)]),
            digest("", roots: [.init(certificates: [[1]], requiresUsage: true)]),
        ]
        #expect(Set(others + [usual]).count == others.count + 1)
    }

    /// Two instances of one name would write into one audit log: the second does not start.
    @Test(arguments: SharedStoreTests.kinds)
    func anInstanceHasItsNameAlone(_: StoreKind) async throws {
        let world = try SharedWorld()
        let first = try await world.start("one", in: 0)
        let second = await errorThrown { try await world.start("one", in: 1) }
        #expect(second?.code == .configuration && second?.message.contains("one") == true, "\(second as Any)")
        let other = try await world.start("two", in: 1)
        await first.close()
        // The name is released at once.
        let again = try await world.start("one", in: 0)
        for instance in [other, again] { await instance.close() }
    }

    /// A caller that asks twice at the same time, at one instance or at two, gets one answer, and the request is used
    /// once.
    @Test(.stores) func concurrentVerifyIsOneUse() async throws {
        stores.clock.advance(600_000)
        let rig = try ServiceRig.rig(on: stores)
        let other = try ServiceRig.rig(on: stores)
        for round in 0..<8 {
            let device = try await rig.device()
            let question = try VerifyStepTests.question(
                device, at: rig.seconds, ["request_id": .string("\(round)")])
            let answers = try await atOnce(16) { index in
                try await VerifyStepTests.ask(index % 2 == 0 ? rig : other, question)
            }
            #expect(Set(answers.map(\.verdict)) == ["200"], "\(answers.map(\.verdict))")
            #expect(Set(answers.map(\.body)).count == 1)
        }
    }

    @Test(.stores) func aDamagedRowStopsNoListing() async throws {
        var devices: [Device] = []
        for _ in 0..<3 { devices.append(try await stores.registered(Sample())) }
        let store = try #require(stores.devices as? any SQLDeviceStore)
        let damaged = devices[1].id
        try await store.write { connection throws(TenonError) in
            _ = try connection.run("UPDATE devices SET state='gone' WHERE id=?", .text(damaged))
        }
        let page = try? await stores.devices.devices(app: nil, from: nil, limit: 10)
        #expect(page?.devices.map(\.id) == [devices[0].id, devices[2].id])
        #expect(page?.damaged == [damaged] && page?.next == nil)
    }

    /// Plans do not depend on statistics: after ANALYZE of tables with a few rows no registration reads a whole table.
    @Test(arguments: SharedStoreTests.kinds)
    func noRegistrationReadsAWholeTable(_: StoreKind) async throws {
        let name = SharedServers.name()
        func maintain<Value: Sendable>(
            _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
        ) async throws -> Value {
            let store = try SharedServers.postgres(name, connections: 1)
            let value = try await store.maintain(body)
            // Its counters are reported when its connections end.
            await store.close()
            return value
        }
        func register(_ count: Int) async throws -> Int64 {
            let instance = try SharedInstance(name)
            for _ in 0..<count { _ = try await instance.stores.registered(Sample()) }
            await instance.close()
            return try await maintain { connection throws(TenonError) in
                let rows = try connection.run(
                    """
                    SELECT CAST(sum(seq_scan) AS BIGINT) FROM pg_stat_user_tables WHERE schemaname=?
                    AND relname IN ('devices', 'keys', 'spent_challenges', 'certificates', 'denied_eks')
                    """, .text(name))
                return try rows.first?.integer(0) ?? -1
            }
        }
        _ = try await register(5)
        try await maintain { connection throws(TenonError) in try connection.runScript(Self.analyze) }
        let first = try await register(0)
        let second = try await register(30)
        #expect(second - first < 10, "\(second - first) scans of whole tables by 30 registrations")
    }
}

/// Folders of instances that share a CA, over the servers that keep running.
struct SharedWorld {
    let folders: [TestFolder]
    let shared: AuthorityInstance.Shared

    init(_ count: Int = 2) throws {
        shared = try SharedServers.shared()
        folders = try (0..<count).map { _ in try TestFolder() }
        _ = try AuthorityKeys.create(in: AuthorityFolder(folders[0].path), name: "Example", at: 1_800_000_000)
        for folder in folders.dropFirst() { try folder.write(folders[0].read("ca.json"), to: "ca.json") }
    }

    func start(
        _ name: String, in folder: Int, app: String = #"{"id": "open", "require_attestation": false}"#,
        isRolling: Bool = false, told: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> AuthorityInstance {
        var shared = shared
        shared.isRolling = isRolling
        return try await AuthorityInstance(
            .open(#", "instance": "\#(name)""#, app: app), in: AuthorityFolder(folders[folder].path), shared: shared,
            told: told)
    }
}
