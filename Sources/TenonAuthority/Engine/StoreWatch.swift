// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
package import Tenon

/// Looks at each store once a second, independently, so that a store that hangs does not hide the state of another. The
/// result is kept until the next look: asking for health does not query a store.
final class StoreWatch: Sendable {
    /// What is looked at: its name, and a look, which gives the store's time where it has one.
    struct Watched: Sendable {
        let name: String
        /// How long a fault lasts before it is reported.
        var patience: Duration = .zero
        /// How long a look may last; nil where it may be long. A store ends its own earlier.
        var limit: Duration? = .seconds(3)
        let look: @Sendable () async throws(TenonError) -> Int64?
    }

    fileprivate struct Found {
        var fault: TenonError?
        var faultySince: ContinuousClock.Instant?
        /// Since when the present look lasts.
        var lookingSince: ContinuousClock.Instant?
        /// By how many milliseconds this machine's clock is ahead of the store's.
        var clockDifference: Int64?
        /// The store's time by the boot clock, which no step moves.
        var ahead: Int64?
        var toldFault: String?
        var toldAt: ContinuousClock.Instant?
        var faults = 0
    }

    private let watched: [Watched]
    private let devices: any DeviceStore
    private let clock: SteadyClock
    private let redis: RedisStore?
    private let told: @Sendable (String) -> Void
    private let found = Mutex<[String: Found]>([:])
    private let tidied = Mutex<ContinuousClock.Instant?>(nil)

    /// Between two removals of what is over in the stores.
    private static let tidySeconds: Duration = .seconds(60)

    /// - Parameter told: takes each fault and each recovery, in the store's words.
    init(
        _ watched: [Watched], devices: any DeviceStore, clock: SteadyClock, redis: RedisStore?,
        told: @escaping @Sendable (String) -> Void
    ) {
        self.devices = devices
        self.clock = clock
        self.redis = redis
        self.told = told
        self.watched = watched
    }

    /// What the last looks found, and what is known without one.
    var health: StoreHealth {
        let (found, now) = (found.withLock { $0 }, ContinuousClock.now)
        var health = StoreHealth()
        health.parts = watched.map { watched in
            let part = found[watched.name] ?? Found()
            return StoreHealth.Part(
                name: watched.name, fault: part.fault(at: now, watched), faults: part.faults)
        }
        health.redisClockDifference = found["redis"]?.clockDifference
        health.postgresClockDifference = found["postgres"]?.clockDifference
        health.stepBack = max(clock.stepBack, redis?.stepBack ?? 0)
        health.stepAhead = clock.stepAhead
        health.losses = redis?.losses ?? 0
        health.waitingLines = devices.waitingLines
        return health
    }

    /// Looks at all of them once.
    func look() async {
        await withTaskGroup(of: Void.self) { group in
            for watched in watched { group.addTask { [self] in await look(at: watched) } }
        }
    }

    /// Looks again and again, until the task is cancelled.
    func start(every interval: Duration) -> Task<Void, Never> {
        Task {
            await withTaskGroup(of: Void.self) { group in
                for watched in watched {
                    group.addTask { [self] in
                        while (try? await Sleep.lasting(interval)) != nil { await look(at: watched) }
                    }
                }
                group.addTask { [self] in
                    while (try? await Sleep.lasting(interval / 2)) != nil { tell() }
                }
            }
        }
    }

    /// Removes what is over, once a minute, and writes the audit lines that could not be written when it was their turn.
    func tidy() async throws(TenonError) {
        let now = ContinuousClock.now
        if let last = tidied.withLock({ $0 }), now - last < StoreWatch.tidySeconds { return }
        try await devices.tidy(at: clock.now())
        tidied.withLock { $0 = now }
    }

    private func look(at watched: Watched) async {
        let before = clock.sourceNow
        found.withLock { $0[watched.name, default: Found()].lookingSince = .now }
        do throws(TenonError) {
            let time = try await watched.look()
            let after = clock.sourceNow
            found.withLock { $0[watched.name, default: Found()].found(time, from: before, to: after) }
            compareClocks()
        } catch {
            found.withLock { $0[watched.name, default: Found()].found(error) }
        }
    }

    /// All clocks of others say whether a step of this machine's is right.
    private func compareClocks() {
        let aheads = found.withLock { [$0["redis"]?.ahead, $0["postgres"]?.ahead] }
        let said = clock.sourceNow
        guard let redis = aheads[0], let postgres = aheads[1] else { return }
        clock.compare(with: [redis, postgres].map { said.wall - said.boot - $0 })
    }

    /// A line for each fault that has come, changed or gone.
    private func tell() {
        let health = health
        let clock = StoreHealth.Part(name: "clock", fault: health.clockFault)
        for part in [clock] + health.parts {
            let line = found.withLock { $0[part.name, default: Found()].line(part) }
            if let line { told(line) }
        }
    }
}

extension StoreWatch.Found {
    fileprivate mutating func found(_ fault: TenonError) {
        (self.fault, lookingSince, clockDifference, ahead) = (fault, nil, nil, nil)
        faultySince = faultySince ?? .now
    }

    /// - Parameter time: what the store said between two moments; nil when it has no clock.
    fileprivate mutating func found(_ time: Int64?, from before: AuthorityInstant, to after: AuthorityInstant) {
        (fault, lookingSince, faultySince) = (nil, nil, nil)
        // However long the way there and back was.
        clockDifference = time.map { $0 < before.wall ? before.wall - $0 : $0 > after.wall ? after.wall - $0 : 0 }
        ahead = time.map { $0 - after.boot }
    }

    fileprivate func fault(at now: ContinuousClock.Instant, _ watched: StoreWatch.Watched) -> TenonError? {
        if let lookingSince, let limit = watched.limit, now - lookingSince > limit {
            let seconds = (now - lookingSince).components.seconds
            return fault ?? TenonError(.storeFailed, message: "It has not answered for \(seconds) s.")
        }
        guard let fault, let faultySince, now - faultySince >= watched.patience else { return nil }
        return fault
    }

    /// What is new of a part, if anything is.
    fileprivate mutating func line(_ part: StoreHealth.Part) -> String? {
        let now = ContinuousClock.now
        if let fault = part.fault {
            // A look that still takes longer is no news.
            guard toldFault == nil || self.fault != nil && toldFault != fault.message else { return nil }
            if toldFault == nil { (toldAt, faults) = (now, faults + 1) }
            toldFault = fault.message
            return "\(part.name) has a fault: \(fault.message)"
        }
        guard toldFault != nil else { return nil }
        toldFault = nil
        let seconds = toldAt.map { (now - $0).components.seconds } ?? 0
        return "\(part.name) works again, after \(seconds) s"
    }
}

/// Whether the state folder has room: the audit log is there, and where nothing is shared the database. Both may have
/// room of their own for a while when the disk has none, so that what they can write says too little.
package final class FolderLook: WatchedStore {
    package let watchedName = "folder"

    /// More than a registration writes.
    private static let room: off_t = 65_536
    private static let fileName = "look"

    /// Has no name: it is gone with the process.
    private let file: Int32
    private let thread = WorkThread()

    /// - Throws: ``TenonError/Code/storePermission`` when no file can be made there.
    package init(in folder: AuthorityFolder) throws(TenonError) {
        file = try folder.open(FolderLook.fileName)
        unlink("\(folder.path)/\(FolderLook.fileName)")
    }

    deinit { close(file) }

    /// Takes room, and gives it back.
    package func look() async throws(TenonError) -> Int64? {
        try await thread.run { [file] () throws(TenonError) in
            let error = posix_fallocate(file, 0, FolderLook.room)
            ftruncate(file, 0)
            guard error == 0 else {
                throw TenonError(
                    .storeFull,
                    message:
                        "The state folder's disk is not writable (\(String(cString: strerror(error)))). Free space, or "
                        + "check the disk.")
            }
        }
        return nil
    }
}
