// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// Looks at the stores each minute (security.md E4): whether they may be believed, how far their clocks are apart, and
/// what is waiting or over in them.
final class StoreWatch: Sendable {
    private let devices: any DeviceStore
    private let clock: SteadyClock
    private let redis: RedisStore?
    private let postgres: PostgresStore?
    private let found = Mutex(StoreHealth())

    init(_ devices: any DeviceStore, clock: SteadyClock, redis: RedisStore?, postgres: PostgresStore?) {
        self.devices = devices
        self.clock = clock
        self.redis = redis
        self.postgres = postgres
    }

    /// What the last look found, and what is known without one.
    var health: StoreHealth {
        var health = found.withLock { $0 }
        health.stepBack = max(health.stepBack, clock.stepBack)
        health.losses = redis?.losses ?? 0
        health.waitingLines = devices.waitingLines
        return health
    }

    /// One store's fault does not keep from looking at the others.
    func look() async {
        var health = StoreHealth()
        do throws(TenonError) {
            if let look = try await redis?.look() {
                (health.redisClockDifference, health.stepBack) = (look.clockDifference, look.stepBack)
            }
        } catch {
            health.fault = error
        }
        do throws(TenonError) {
            if let postgres {
                let before = clock.now().wall
                health.postgresClockDifference = try await postgres.look().map { before - $0 }
            }
            try await devices.tidy(at: clock.now())
        } catch {
            health.fault = health.fault ?? error
        }
        found.withLock { [health] in $0 = health }
    }

    /// Looks at once, and then again and again; the task ends when it is cancelled.
    func start(every interval: Duration) -> Task<Void, Never> {
        Task {
            repeat { await look() } while (try? await Task.sleep(for: interval)) != nil
        }
    }
}
