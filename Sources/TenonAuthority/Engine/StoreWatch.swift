// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
package import Tenon

/// Looks at each store once a second, independently, so that a store that hangs does not hide the state of another. The
/// result is kept until the next look: asking for health does not query a store.
final class StoreWatch: Sendable {
    /// A part that is looked at: its name, and its look, which returns the store's time if it has a clock.
    struct Watched: Sendable {
        let name: String
        /// How long a fault lasts before it is reported.
        var patience: Duration = .zero
        /// The longest time that a look may take; nil if it may take long. A store's own look ends earlier.
        var limit: Duration? = .seconds(3)
        let look: @Sendable () async throws(TenonError) -> Int64?
    }

    fileprivate struct Found {
        var fault: TenonError?
        var faultySince: ContinuousClock.Instant?
        /// The start of the present look.
        var lookingSince: ContinuousClock.Instant?
        /// The milliseconds by which this machine's clock is ahead of the store's.
        var clockDifference: Int64?
        /// The store's time minus the boot clock, which no step changes.
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

    /// The time between two removals of expired rows.
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

    /// The findings of the last looks, and the facts that need no look.
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

    /// Looks at every part once.
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

    /// Once a minute, removes expired rows and writes the audit lines that could not be written in their turn.
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

    /// Lets the stores' clocks decide whether a step of this machine's clock was right.
    private func compareClocks() {
        let aheads = found.withLock { [$0["redis"]?.ahead, $0["postgres"]?.ahead] }
        let said = clock.sourceNow
        guard let redis = aheads[0], let postgres = aheads[1] else { return }
        clock.compare(with: [redis, postgres].map { said.wall - said.boot - $0 })
    }

    /// Writes a line for each fault that has appeared, changed or ended.
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

    /// - Parameter time: the store's time, read between two moments; nil if it has no clock.
    fileprivate mutating func found(_ time: Int64?, from before: AuthorityInstant, to after: AuthorityInstant) {
        (fault, lookingSince, faultySince) = (nil, nil, nil)
        // The difference does not depend on how long the exchange took.
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

    /// A line about a part whose state has changed; nil if it has not.
    fileprivate mutating func line(_ part: StoreHealth.Part) -> String? {
        let now = ContinuousClock.now
        if let fault = part.fault {
            // A look that only lasts longer does not get another line.
            guard toldFault == nil || self.fault != nil && toldFault != fault.message else { return nil }
            if toldFault == nil { (toldAt, faults) = (now, faults + 1) }
            toldFault = fault.message
            return "The part \(part.name) has a fault: \(fault.message)"
        }
        guard toldFault != nil else { return nil }
        toldFault = nil
        let seconds = toldAt.map { (now - $0).components.seconds } ?? 0
        return "The part \(part.name) works again, after \(seconds) s"
    }
}

/// Checks whether the state folder has room. It holds the audit log and, if nothing is shared, the database. Their
/// files may have free room for a while when the disk is full, so a successful write there proves too little.
package final class FolderLook: WatchedStore {
    package let watchedName = "folder"

    /// More bytes than a registration writes.
    private static let room: off_t = 65_536
    private static let fileName = "look"

    /// A file without a name, which is gone with the process.
    private let file: Int32
    private let thread = WorkThread()

    /// - Throws: ``TenonError/Code/storePermission`` when no file can be made there.
    package init(in folder: AuthorityFolder) throws(TenonError) {
        file = try folder.open(FolderLook.fileName)
        unlink("\(folder.path)/\(FolderLook.fileName)")
    }

    deinit { close(file) }

    /// Takes room on the disk and gives it back.
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
