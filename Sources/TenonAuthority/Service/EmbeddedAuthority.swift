// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// An authority of one process: the service on SQLite, in a state folder, with its audit log.
package final class EmbeddedAuthority: Sendable {
    package let service: AuthorityService
    private let store: SQLiteStore
    private let log: AuditLog

    /// Opens what is there and makes what is not. It blocks on the disk: for a program's start.
    ///
    /// - Throws: ``TenonError/Code/configuration`` when there is no CA where others can ask (security.md F2), or the EK
    ///   roots cannot be read; what the stores throw.
    package init(
        _ configuration: Configuration, in folder: StateFolder, clock: any AuthorityClock = SystemClock()
    ) async throws(TenonError) {
        let keys = try EmbeddedAuthority.keys(configuration, in: folder, at: clock.now().seconds)
        let roots = try EmbeddedAuthority.roots(configuration, in: folder)
        let store = try SQLiteStore(
            in: folder, clock: clock, options: .init(maxChallenges: configuration.limits.challenges))
        do throws(TenonError) {
            let log = try EmbeddedAuthority.log(configuration, keys, in: folder, store.clock)
            let limits = configuration.limits
            let replays = try await MemoryReplayStore(
                clock: store.clock, horizon: store,
                limits: .init(perDevice: limits.requestsPerDevice, total: limits.requests))
            let stores = AuthorityStores(
                challenges: store, devices: AuditedDeviceStore(store, log: log), replays: replays,
                answers: MemoryAnswerStore(clock: store.clock))
            service = AuthorityService(
                configuration: configuration, stores: stores, keys: keys, clock: store.clock, ekRoots: roots)
            self.log = log
            self.store = store
        } catch {
            await store.close()
            throw error
        }
    }

    /// Stores what is under way, signs the head of the audit log, and ends.
    package func close() async {
        await store.close()
        await log.close()
    }

    /// Made by itself only where nobody else can ask: two first starts would make two CAs.
    private static func keys(
        _ configuration: Configuration, in folder: StateFolder, at now: Int64
    ) throws(TenonError) -> AuthorityKeys {
        if let keys = try AuthorityKeys(from: folder) { return keys }
        guard configuration.publicListener.isLocal else {
            throw TenonError(.configuration, message: "There is no CA: make one with `tenon-authority ca init`.")
        }
        return try AuthorityKeys.create(in: folder, name: "TEST", at: now)
    }

    private static func roots(
        _ configuration: Configuration, in folder: StateFolder
    ) throws(TenonError) -> [String: [EndorsementRoots]] {
        var roots: [String: [EndorsementRoots]] = [:]
        for app in configuration.apps {
            for named in app.ekRoots {
                let path = named.path.hasPrefix("/") ? named.path : "\(folder.path)/\(named.path)"
                roots[app.id, default: []].append(
                    try EndorsementRoots(reading: path, requiresUsage: named.requiresEKU))
            }
        }
        return roots
    }

    private static func log(
        _ configuration: Configuration, _ keys: AuthorityKeys, in folder: StateFolder, _ clock: SteadyClock
    ) throws(TenonError) -> AuditLog {
        let options = AuditLog.Options(
            instance: configuration.instance, key: keys.audit.withBytes { span in span.indices.map { span[$0] } },
            sign: { head throws(TenonError) in try keys.signature(of: head.message) })
        return try AuditLog(in: folder, clock: clock, options: options)
    }
}
