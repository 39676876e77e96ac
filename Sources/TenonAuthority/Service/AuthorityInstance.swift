// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// One instance of an authority, as a process has it: the service, its stores, its keys and its audit log.
package final class AuthorityInstance: Sendable {
    /// What instances share; without it there is one, on SQLite in its state folder.
    package struct Shared: Sendable {
        package var postgres: PostgresStore.Options
        package var redis: RedisStore.Options

        package init(postgres: PostgresStore.Options, redis: RedisStore.Options) {
            self.postgres = postgres
            self.redis = redis
        }
    }

    package let service: AuthorityService
    private let log: AuditLog
    /// Signs the log's head: a quiet log would sign nothing by itself (security.md F5).
    private let heads: Task<Void, Never>
    private let watch: StoreWatch
    /// The minute's look at the stores (security.md E4).
    private let looks: Task<Void, Never>
    private let closeStores: @Sendable () async -> Void

    /// Opens what is there and makes what is not. It blocks on disk and network: for a program's start.
    ///
    /// - Parameters:
    ///   - openKey: opens the CA's key where a TPM has it.
    ///   - headSigned: takes each head of the audit log elsewhere, so that a log that was cut short shows.
    ///   - refused: takes a line of why a device was refused, for operators.
    /// - Throws: ``TenonError/Code/configuration`` when there is no CA and it may not be made by itself, when it is not
    ///   the other instances' (security.md F2), or the EK roots cannot be read; what the stores throw.
    package init(
        _ configuration: Configuration, in folder: AuthorityFolder, shared: Shared? = nil,
        clock: any AuthorityClock = SystemClock(), headsEvery: Duration = .seconds(3600),
        looksEvery: Duration = .seconds(60), openKey: HeldKey.Opener = HeldKey.unopened,
        headSigned: @escaping @Sendable (AuditHead, [UInt8]) -> Void = { _, _ in },
        refused: (@Sendable (String) -> Void)? = nil
    ) async throws(TenonError) {
        let mayMake = configuration.isLocal && shared == nil
        let keys = try AuthorityInstance.keys(
            in: folder, mayMake: mayMake, at: clock.now().seconds, openKey)
        let roots = try AuthorityInstance.roots(configuration, in: folder)
        let revoked = try AuthorityInstance.revoked(configuration, in: folder)
        let lastHead = LastHead()
        let opened =
            if let shared {
                try await AuthorityInstance.open(shared, configuration, keys, clock)
            } else {
                try await AuthorityInstance.open(folder, configuration, clock)
            }
        do throws(TenonError) {
            log = try AuthorityInstance.log(configuration, keys, in: folder, opened.clock) { head, signature in
                lastHead.set(head)
                headSigned(head, signature)
            }
        } catch {
            await opened.close()
            throw error
        }
        do throws(TenonError) {
            try await opened.stores.devices.audit(in: log)
        } catch {
            await opened.close()
            await log.close()
            throw error
        }
        heads = Task { [log] in
            // What cannot be written now is refused with the next line.
            while (try? await Task.sleep(for: headsEvery)) != nil { try? await log.signHead() }
        }
        let watch = StoreWatch(
            opened.stores.devices, clock: opened.clock, redis: opened.redis, postgres: opened.postgres)
        self.watch = watch
        looks = watch.start(every: looksEvery)
        var stores = opened.stores
        stores.health = { watch.health }
        service = AuthorityService(
            configuration: configuration, stores: stores, keys: keys, clock: opened.clock, ekRoots: roots,
            revoked: revoked, auditHead: { lastHead.value }, refused: refused)
        closeStores = opened.close
    }

    /// Stores what is under way, signs the head of the audit log, and ends.
    package func close() async {
        await service.refusals.close()
        heads.cancel()
        looks.cancel()
        await looks.value
        // Lines that are in the log need not wait for the next start in the store.
        await watch.look()
        await closeStores()
        await log.close()
    }

    private struct Opened {
        let stores: AuthorityStores
        let clock: SteadyClock
        var redis: RedisStore?
        var postgres: PostgresStore?
        let close: @Sendable () async -> Void
    }

    private static func open(
        _ folder: AuthorityFolder, _ configuration: Configuration, _ clock: any AuthorityClock
    ) async throws(TenonError) -> Opened {
        let limits = configuration.limits
        let store = try SQLiteStore(in: folder, clock: clock, options: .init(maxChallenges: limits.challenges))
        do throws(TenonError) {
            let replays = try await MemoryReplayStore(
                clock: store.clock, horizon: store,
                limits: .init(perDevice: limits.requestsPerDevice, total: limits.requests))
            let stores = AuthorityStores(
                challenges: store, devices: store, replays: replays, answers: MemoryAnswerStore(clock: store.clock))
            return Opened(stores: stores, clock: store.clock) { await store.close() }
        } catch {
            await store.close()
            throw error
        }
    }

    private static func open(
        _ shared: Shared, _ configuration: Configuration, _ keys: AuthorityKeys, _ clock: any AuthorityClock
    ) async throws(TenonError) -> Opened {
        let postgres = try PostgresStore(options: shared.postgres)
        do throws(TenonError) {
            guard try await postgres.settle("keys", as: keys.digest, replacing: keys.replaced) else {
                throw TenonError(
                    .configuration, message: "The other instances have another CA: give this one their ca.json.")
            }
            var options = shared.redis
            options.maxChallenges = configuration.limits.challenges
            options.requestsPerDevice = configuration.limits.requestsPerDevice
            let redis = try RedisStore(options: options, clock: clock, horizon: postgres)
            let stores = AuthorityStores(challenges: redis, devices: postgres, replays: redis, answers: redis)
            return Opened(stores: stores, clock: redis.clock, redis: redis, postgres: postgres) {
                await redis.close()
                await postgres.close()
            }
        } catch {
            await postgres.close()
            throw error
        }
    }

    /// Made by itself only where nobody else can ask: two first starts would make two CAs.
    private static func keys(
        in folder: AuthorityFolder, mayMake: Bool, at now: Int64, _ openKey: HeldKey.Opener
    ) throws(TenonError) -> AuthorityKeys {
        if let keys = try AuthorityKeys(from: folder, open: openKey) {
            guard mayMake || !keys.isTest else {
                throw TenonError(
                    .configuration,
                    message:
                        "The CA was made by itself, for a demo: move ca.json away and run `tenon-authority ca init`.")
            }
            return keys
        }
        guard mayMake else {
            throw TenonError(.configuration, message: "There is no CA: make one with `tenon-authority ca init`.")
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

    /// A relative one is meant from the state folder.
    private static func path(_ path: String, in folder: AuthorityFolder) -> String {
        path.hasPrefix("/") ? path : "\(folder.path)/\(path)"
    }

    private static func log(
        _ configuration: Configuration, _ keys: AuthorityKeys, in folder: AuthorityFolder, _ clock: SteadyClock,
        _ headSigned: @escaping @Sendable (AuditHead, [UInt8]) -> Void
    ) throws(TenonError) -> AuditLog {
        let options = AuditLog.Options(
            instance: configuration.instance, key: keys.audit.withBytes { span in span.indices.map { span[$0] } },
            sign: { head throws(TenonError) in
                let signature = try keys.signature(of: head.message)
                headSigned(head, signature)
                return signature
            })
        return try AuditLog(in: folder, clock: clock, options: options)
    }
}

private final class LastHead: Sendable {
    private let head = Mutex<AuditHead?>(nil)

    var value: AuditHead? { head.withLock { $0 } }

    func set(_ head: AuditHead) { self.head.withLock { $0 = head } }
}
