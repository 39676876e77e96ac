// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// The instance of an authority that a process runs: the engine, its stores, its keys and its audit log.
package final class AuthorityInstance: Sendable {
    /// The stores that instances share. Without them, there is one instance, over SQLite in its state folder.
    package struct Shared: Sendable {
        package var postgres: PostgresStore.Options
        package var redis: RedisStore.Options
        /// Whether other instances may have a different policy for now.
        package var isRolling = false

        package init(postgres: PostgresStore.Options, redis: RedisStore.Options) {
            self.postgres = postgres
            self.redis = redis
        }
    }

    package let engine: AuthorityEngine
    /// Sentences that an operator must see at this start.
    package let notices: [String]
    private let log: AuditLog
    /// Signs the log's head regularly, because only new lines make the log sign by itself (decision: audit-log).
    private let heads: Task<Void, Never>
    private let watch: StoreWatch
    /// Looks at the stores every second.
    private let looks: Task<Void, Never>
    private let closeStores: @Sendable () async -> Void

    /// Opens the stores, the keys and the log, and makes those that are missing. It blocks on disk and network; call it
    /// at a program's start.
    ///
    /// - Parameters:
    ///   - acceptsLog: whether to continue with an audit log that differs from the one that was written; the log
    ///     records it.
    ///   - openKey: opens the CA's key if a TPM holds it.
    ///   - headSigned: copies each head of the audit log to another place, so that a log that was cut short is
    ///     detected.
    ///   - told: takes a line for each fault of a store, and for the end of each.
    ///   - refused: takes a line for operators that says why a device was refused.
    /// - Throws: ``TenonError/Code/configuration`` when there is no CA and none may be made automatically, when the CA
    ///   differs from that of the other instances (decision: authority-keys), or when the EK roots cannot be read; and
    ///   the errors of the stores.
    package init(
        _ configuration: Configuration, in folder: AuthorityFolder, shared: Shared? = nil,
        clock: any AuthorityClock = SystemClock(), headsEvery: Duration = .seconds(3600),
        looksEvery: Duration = .seconds(1), acceptsLog: Bool = false, openKey: HeldKey.Opener = HeldKey.unopened,
        headSigned: @escaping @Sendable (AuditHead, [UInt8]) -> Void = { _, _ in },
        told: @escaping @Sendable (String) -> Void = { _ in }, refused: (@Sendable (String) -> Void)? = nil
    ) async throws(TenonError) {
        let mayMake = configuration.isLocal && shared == nil
        let keys = try AuthorityInstance.keys(
            in: folder, mayMake: mayMake, at: clock.now().seconds, openKey)
        let roots = try AuthorityInstance.roots(configuration, in: folder)
        let revoked = try AuthorityInstance.revoked(configuration, in: folder)
        let lastHead = LastHead()
        let (folderLook, selfTest) = (try FolderLook(in: folder), try SelfTest())
        let opened =
            if let shared {
                try await AuthorityInstance.open(shared, configuration, keys, roots, clock, told)
            } else {
                try await AuthorityInstance.open(folder, configuration, clock)
            }
        do throws(TenonError) {
            log = try AuthorityInstance.log(configuration, keys, in: folder, opened.clock, acceptsLog) {
                head, signature in
                lastHead.set(head)
                headSigned(head, signature)
            }
        } catch {
            await opened.close()
            throw error
        }
        do throws(TenonError) {
            let accepted = try await opened.stores.devices.audit(in: log)
            let log = accepted.map { ["\($0.message) This start continued, and the log records that."] } ?? []
            notices = opened.notices + log
        } catch {
            await opened.close()
            await log.close()
            throw error
        }
        heads = Task { [log] in
            // If the head cannot be written, the next line fails and its change is refused.
            while (try? await Sleep.lasting(headsEvery)) != nil { try? await log.signHead() }
        }
        let running = Running()
        let watch = StoreWatch(
            AuthorityInstance.watched(opened, folderLook, running, selfTest), devices: opened.stores.devices,
            clock: opened.clock, redis: opened.redis, told: told)
        self.watch = watch
        var stores = opened.stores
        stores.health = { watch.health }
        engine = AuthorityEngine(
            configuration: configuration, stores: stores, keys: keys, clock: opened.clock, ekRoots: roots,
            revoked: revoked, auditHead: { lastHead.value }, refused: refused)
        running.set(engine, watch)
        // The first request for health must already get a true answer.
        await watch.look()
        looks = watch.start(every: looksEvery)
        closeStores = opened.close
    }

    /// The parts of the health.
    private static func watched(
        _ opened: Opened, _ folder: FolderLook, _ running: Running, _ selfTest: SelfTest
    ) -> [StoreWatch.Watched] {
        let stores = (opened.watched + [folder]).map { store in
            StoreWatch.Watched(name: store.watchedName) { () async throws(TenonError) in try await store.look() }
        }
        // For two seconds, a start refuses requests that the process before it may have accepted.
        let requests = StoreWatch.Watched(name: "requests", patience: .seconds(3)) { () async throws(TenonError) in
            guard let engine = running.engine else { return nil }
            try await selfTest.run(engine, at: opened.clock.sourceNow.seconds)
            return nil
        }
        let tidying = StoreWatch.Watched(name: "tidying", limit: nil) { () async throws(TenonError) in
            try await running.watch?.tidy()
            return nil
        }
        return stores + [requests, tidying]
    }

    /// Stores the changes under way, signs the head of the audit log, and ends.
    package func close() async {
        await engine.refusals.close()
        heads.cancel()
        looks.cancel()
        await looks.value
        // Removes the lines that are in the log from the store now, so that they need not wait for the next start, and
        // stores the last of them.
        try? await log.signHead()
        if watch.health.fault == nil { try? await engine.stores.devices.tidy(at: engine.clock.now()) }
        await closeStores()
        await log.close()
    }

    private struct Opened {
        let stores: AuthorityStores
        let clock: SteadyClock
        let watched: [any WatchedStore]
        var redis: RedisStore?
        var notices: [String] = []
        let close: @Sendable () async -> Void
    }

    private static func open(
        _ folder: AuthorityFolder, _ configuration: Configuration, _ clock: any AuthorityClock
    ) async throws(TenonError) -> Opened {
        let limits = configuration.limits
        var options = SQLiteStore.Options(
            maxChallenges: limits.challenges, challengesPerAddress: limits.challengesPerAddress)
        options.services = configuration.services
        let store = try SQLiteStore(in: folder, clock: clock, options: options)
        do throws(TenonError) {
            let replays = try await MemoryReplayStore(
                clock: store.clock, horizon: store,
                limits: .init(
                    perDevice: limits.requestsPerDevice, rootsPerDevice: limits.rootsPerDevice, total: limits.requests))
            let stores = AuthorityStores(
                challenges: store, devices: store, replays: replays, answers: MemoryAnswerStore(clock: store.clock))
            return Opened(stores: stores, clock: store.clock, watched: [store], notices: store.timeNotices) {
                await store.close()
            }
        } catch {
            await store.close()
            throw error
        }
    }

    private static func open(
        _ shared: Shared, _ configuration: Configuration, _ keys: AuthorityKeys, _ roots: [String: [EndorsementRoots]],
        _ clock: any AuthorityClock, _ told: @Sendable (String) -> Void
    ) async throws(TenonError) -> Opened {
        var tables = shared.postgres
        tables.services = configuration.services
        let postgres = try PostgresStore(options: tables)
        do throws(TenonError) {
            guard try await postgres.settle("keys", as: keys.digest, replacing: keys.replaced) else {
                throw TenonError(
                    .configuration, message: "The other instances have another CA. Give this one their ca.json.")
            }
            var policies: [String: Digest] = [:]
            for app in configuration.apps {
                policies[app.id] = try PolicyDigest.of(app, roots: roots[app.id] ?? [], denials: configuration.ekDeny)
            }
            let others = try await postgres.enter(
                as: configuration.instance, policies: policies, isRolling: shared.isRolling)
            for sentence in others { told(sentence) }
            var options = shared.redis
            options.maxChallenges = configuration.limits.challenges
            options.challengesPerAddress = configuration.limits.challengesPerAddress
            options.requestsPerDevice = configuration.limits.requestsPerDevice
            options.rootsPerDevice = configuration.limits.rootsPerDevice
            let redis = try RedisStore(options: options, clock: clock, horizon: postgres)
            let stores = AuthorityStores(challenges: redis, devices: postgres, replays: redis, answers: redis)
            return Opened(stores: stores, clock: redis.clock, watched: [redis, postgres], redis: redis) {
                await redis.close()
                await postgres.close()
            }
        } catch {
            await postgres.close()
            throw error
        }
    }

    /// Makes keys automatically only if no other machine can connect: two first starts would make two CAs.
    private static func keys(
        in folder: AuthorityFolder, mayMake: Bool, at now: Int64, _ openKey: HeldKey.Opener
    ) throws(TenonError) -> AuthorityKeys {
        if let keys = try AuthorityKeys(from: folder, open: openKey) {
            guard mayMake || !keys.isTest else {
                throw TenonError(
                    .configuration, message: "Other machines may not rely on this CA. \(AuthorityKeys.afterTest)")
            }
            return keys
        }
        guard mayMake else {
            throw TenonError(.configuration, message: "There is no CA. Make one with `tenon-authority ca init`.")
        }
        return try AuthorityKeys.create(in: folder, name: nil, at: now)
    }

    private static func roots(
        _ configuration: Configuration, in folder: AuthorityFolder
    ) throws(TenonError) -> [String: [EndorsementRoots]] {
        var roots: [String: [EndorsementRoots]] = [:]
        for app in configuration.apps {
            for named in app.ekRoots {
                roots[app.id, default: []].append(
                    try EndorsementRoots(
                        reading: path(named.path, in: folder), requiresUsage: named.requiresEKU))
            }
        }
        return roots
    }

    private static func revoked(
        _ configuration: Configuration, in folder: AuthorityFolder
    ) throws(TenonError) -> RevokedCertificates {
        var revoked = RevokedCertificates()
        for path in configuration.ekDeny.lists { try revoked.read(AuthorityInstance.path(path, in: folder)) }
        return revoked
    }

    /// A relative path starts at the state folder.
    private static func path(_ path: String, in folder: AuthorityFolder) -> String {
        path.hasPrefix("/") ? path : "\(folder.path)/\(path)"
    }

    private static func log(
        _ configuration: Configuration, _ keys: AuthorityKeys, in folder: AuthorityFolder, _ clock: SteadyClock,
        _ accepts: Bool, _ headSigned: @escaping @Sendable (AuditHead, [UInt8]) -> Void
    ) throws(TenonError) -> AuditLog {
        let options = AuditLog.Options(
            instance: configuration.instance, key: keys.audit.withBytes { span in span.indices.map { span[$0] } },
            accepts: accepts,
            sign: { head throws(TenonError) in
                let signature = try keys.signature(of: head.message)
                headSigned(head, signature)
                return signature
            })
        return try AuditLog(in: folder, clock: clock, options: options)
    }
}

/// The values that looks need and that are made after them.
private final class Running: Sendable {
    private let state = Mutex<(engine: AuthorityEngine, watch: StoreWatch)?>(nil)

    var engine: AuthorityEngine? { state.withLock { $0?.engine } }
    var watch: StoreWatch? { state.withLock { $0?.watch } }

    func set(_ engine: AuthorityEngine, _ watch: StoreWatch) { state.withLock { $0 = (engine, watch) } }
}

private final class LastHead: Sendable {
    private let head = Mutex<AuditHead?>(nil)

    var value: AuditHead? { head.withLock { $0 } }

    func set(_ head: AuditHead) { self.head.withLock { $0 = head } }
}
