// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import TenonAuthority
import Testing

/// The timer's tasks in the stores, and their health.
@Suite(.serialized) struct StoreHealthTests {
    private var stores: TestStores { .current }

    private static let day: Int64 = 86_400_000

    /// Certificates and spent challenges are kept for a day after they expire, and no longer, however many there are.
    @Test(.stores) func whatHasExpiredIsRemoved() async throws {
        let (devices, now) = (stores.devices, stores.clock.now().seconds)
        func certificate(_ number: Int, notAfter: Int64) throws -> AKCertificate {
            var certificate = try RegistrationTests.certificate(0, ek: "ek", notAfter: notAfter)
            certificate.serial = try Array(Sample.digest("\(number)").rawRepresentation.prefix(16))
            return certificate
        }
        let old = try (0..<1_010).map { try certificate($0, notAfter: now + 10) }
        let new = try certificate(-1, notAfter: now + 86_410)
        _ = try await atOnce(16) { worker in
            for index in stride(from: worker, to: old.count, by: 16) { _ = try await devices.record(old[index]) }
        }
        _ = try await devices.record(new)
        let device = try await stores.registered(Sample())
        _ = try await stores.register(Sample().registration(challenge: "spent"))

        stores.clock.advance(Self.day + 9_000)
        try await devices.tidy(at: stores.clock.now())
        for certificate in [old[0], old[1_009], new] {
            #expect(try await devices.certificate(serial: certificate.serial) == certificate)
        }
        stores.clock.advance(1_000)
        try await devices.tidy(at: stores.clock.now())
        for certificate in old {
            #expect(try await devices.certificate(serial: certificate.serial) == nil)
        }
        #expect(try await devices.certificate(serial: new.serial) == new)
        #expect(try await devices.device(app: "demo", id: device.id) == device)
        // Spent a day ago, and gone ten seconds ago.
        guard case .registered = try await stores.register(Sample().registration(challenge: "spent")) else {
            throw Surprise("it is spent still")
        }
    }

    @Test(.stores) func aSpentChallengeIsKeptForADay() async throws {
        _ = try await stores.register(Sample().registration(challenge: "spent"))
        stores.clock.advance(Self.day - 1_000)
        try await stores.devices.tidy(at: stores.clock.now())
        #expect(try await stores.register(Sample().registration(challenge: "spent")) == .refused(.challengeSpent))
    }

    @Test(arguments: [
        (Int64?.none, Int64?.none, Int64(0), true), (2_000, -2_000, 2_000, true), (2_001, 0, 0, false),
        (0, -2_001, 0, false), (0, 0, 2_001, false), (.min, 0, 0, false),
    ])
    func clocksMayDifferByTwoSeconds(_ redis: Int64?, _ postgres: Int64?, _ back: Int64, _ isHealthy: Bool) {
        var health = StoreHealth()
        (health.redisClockDifference, health.postgresClockDifference, health.stepBack) = (redis, postgres, back)
        #expect(health.isHealthy == isHealthy)
        health.parts = [StoreHealth.Part(name: "redis", fault: TenonError(.storeFailed, message: ""))]
        #expect(!health.isHealthy)
    }

    /// An instance on SQLite, whose clock is set back.
    @Test func aClockThatIsSetBackIsSeen() async throws {
        let (folder, clock) = (try TestFolder(), FakeClock())
        let instance = try await AuthorityInstance(.open(), in: AuthorityFolder(folder.path), clock: clock)
        let health = instance.engine.stores.health
        #expect(health().isHealthy && health().redisClockDifference == nil && health().waitingLines == 0)
        clock.step(-2_001)
        #expect(health().stepBack == 2_001 && !health().isHealthy)
        clock.step(2_001 + 3_600_000)
        #expect(health().stepAhead == 3_600_000 && !health().isHealthy)
        clock.step(-3_600_000)
        #expect(health().clockFault == nil)
        await instance.close()
    }

    /// Repeated looks notice a Redis that evicts entries, and clocks that differ, without a request.
    @Test(.timeLimit(.minutes(1)), arguments: SharedStoreTests.kinds)
    func sharedStoresAreLookedAt(_: StoreKind) async throws {
        let folder = try TestFolder()
        let state = try AuthorityFolder(folder.path)
        _ = try AuthorityKeys.create(in: state, name: "Example", at: 1_800_000_000)
        let (clock, lines) = (SteppedClock(), Lines())
        let instance = try await AuthorityInstance(
            .open(), in: state, shared: SharedServers.shared(in: SharedStoreTests.fragile), clock: clock,
            looksEvery: .milliseconds(1), told: lines.add)
        let health = instance.engine.stores.health
        func wait(_ condition: (StoreHealth) -> Bool) async {
            while !condition(health()) { await Task.yield() }
        }
        func fault(_ name: String, _ health: StoreHealth) -> String? {
            health.parts.first { $0.name == name }?.fault?.message
        }
        await wait { $0.redisClockDifference != nil && $0.postgresClockDifference != nil }
        #expect(health().fault == nil && health().losses == 0)
        clock.step(3_600_000)
        await wait {
            $0.redisClockDifference ?? 0 > 1_800_000 && $0.postgresClockDifference ?? 0 > 1_800_000 && !$0.isHealthy
        }
        clock.step(-3_600_000)
        await wait { $0.isHealthy }
        try SharedServers.command("redis set maxmemory-policy allkeys-lru")
        await wait { fault("redis", $0)?.contains("noeviction") == true }
        try SharedServers.command("redis set maxmemory-policy noeviction")
        await wait { fault("redis", $0) == nil }
        // Reads still work; writes do not.
        try SharedServers.command("redis set maxmemory 1")
        await wait { fault("redis", $0)?.contains("OOM") == true && !$0.isHealthy }
        try SharedServers.command("redis set maxmemory 0")
        await wait { fault("redis", $0) == nil }
        try SharedServers.command("postgres stop")
        await wait { fault("postgres", $0)?.contains("PostgreSQL") == true && $0.redisClockDifference != nil }
        try SharedServers.command("postgres start")
        await wait { $0.isHealthy }
        for line in [
            "The part clock has a fault", "The part redis has a fault: Redis has no memory left (OOM",
            "The part redis works again",
        ] {
            while !lines.all.contains(where: { $0.contains(line) }) { await Task.yield() }
        }
        await instance.close()
    }
}

/// The machine's clock, with a settable error.
private final class SteppedClock: AuthorityClock {
    private let ahead = Mutex<Int64>(0)

    func now() -> AuthorityInstant {
        var now = SystemClock().now()
        now.wall += ahead.withLock { $0 }
        return now
    }

    func step(_ milliseconds: Int64) { ahead.withLock { $0 += milliseconds } }
}

/// The lines of a log.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    @Sendable func add(_ line: String) { lines.withLock { $0.append(line) } }
}
