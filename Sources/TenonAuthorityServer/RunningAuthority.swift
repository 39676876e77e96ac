// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuthority

/// An authority with its stores open and its listeners taking connections.
final class RunningAuthority: Sendable {
    let configuration: Configuration
    private let store: SQLiteStore
    private let log: AuditLog
    private let doors: Doors
    private let heads: Task<Void, Never>

    /// Starts it. Blocks on the disk for a moment.
    init(_ configuration: Configuration, in folder: StateFolder) async throws(TenonError) {
        self.configuration = configuration
        let options = SQLiteStore.Options(maxChallenges: configuration.limits.challenges)
        let store = try SQLiteStore(in: folder, options: options)
        let clock = store.clock
        let keys = try RunningAuthority.keys(configuration, folder, clock)
        let log = try AuditLog(
            in: folder, clock: clock, options: RunningAuthority.audit(keys, instance: configuration.instance))
        let stores = AuthorityStores(
            challenges: store, devices: AuditedDeviceStore(store, log: log),
            replays: try await MemoryReplayStore(
                clock: clock, horizon: store,
                limits: .init(
                    perDevice: configuration.limits.requestsPerDevice, total: configuration.limits.requests)),
            answers: MemoryAnswerStore(clock: clock))
        let service = AuthorityService(
            configuration: configuration, stores: stores, keys: keys, clock: clock,
            ekRoots: try RunningAuthority.roots(configuration, folder.path))
        (self.store, self.log) = (store, log)
        doors = try Doors(service, Metrics(), clock: clock, folder: folder.path)
        // Each hour (security.md F5); a busy log does it by itself.
        heads = Task {
            while (try? await Task.sleep(for: .seconds(3_600))) != nil { try? await log.signHead() }
        }
    }

    /// Where devices find it.
    var url: String {
        switch configuration.publicListener {
        case .tcp(let address, _, let tls):
            "\(tls == nil ? "http" : "https")://\(address.contains(":") ? "[\(address)]" : address):\(doors.publicPort)"
        case .unix(let path): path
        }
    }

    /// Answers what was asked, stores it, and ends.
    func stop() async {
        heads.cancel()
        await doors.stop()
        await store.close()
        await log.close()
    }

    /// A CA is made by itself only where nobody else can come to (security.md F2).
    private static func keys(
        _ configuration: Configuration, _ folder: StateFolder, _ clock: SteadyClock
    ) throws(TenonError) -> AuthorityKeys {
        if let keys = try AuthorityKeys(from: folder) { return keys }
        guard configuration.publicListener.isLocal else {
            throw TenonError(
                .configuration,
                message: "There is no CA yet: make it with `tenon-authority ca init`, and keep a backup.")
        }
        return try AuthorityKeys.create(in: folder, name: "TEST", at: clock.now().seconds)
    }

    /// Heads go to the standard output, which is the journal's.
    private static func audit(_ keys: AuthorityKeys, instance: String) -> AuditLog.Options {
        AuditLog.Options(instance: instance, key: keys.audit.withBytes { bytes in bytes.indices.map { bytes[$0] } }) {
            head throws(TenonError) in
            let signature = try keys.signature(of: head.message)
            Output.line("audit \(head.instance) \(head.sequence) \(head.mac) \(TextEncoding.base64.encode(signature))")
            return signature
        }
    }

    private static func roots(
        _ configuration: Configuration, _ folder: String
    ) throws(TenonError) -> [String: [EndorsementRoots]] {
        var roots: [String: [EndorsementRoots]] = [:]
        for app in configuration.apps {
            for record in app.ekRoots {
                let path = FolderChoice.path(record.path, in: folder)
                roots[app.id, default: []].append(
                    try EndorsementRoots(reading: path, requiresUsage: record.requiresEKU))
            }
        }
        return roots
    }
}
