// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import TenonAuthority
import TenonHTTP
import TestFolders
import Testing

@testable import TenonAuthorityServer

/// Where an authority keeps what it has to remember: SQLite in its folder, or the Redis and the PostgreSQL of
/// Tests/Scripts/stores.sh, which `make check-swift` runs the tests with.
enum Stores: CaseIterable, Sendable {
    case sqlite
    case shared

    private static let count = Atomic(0)

    /// A unique place on the shared servers.
    func place() throws -> AuthorityInstance.Shared? {
        guard self == .shared else { return nil }
        let folder = try #require(getenv("TENON_TEST_STORES").map { String(cString: $0) }, "run make check-swift")
        let name = "served\(getpid())_\(Stores.count.add(1, ordering: .relaxed).newValue)"
        return AuthorityInstance.Shared(
            postgres: .init(address: "host=\(folder) user=tenon dbname=postgres", schema: name, connections: 2),
            redis: .init(address: .unix(path: "\(folder)/redis.sock"), prefix: "\(name):"))
    }
}

/// The machine's time plus this many seconds.
final class ShiftedClock: AuthorityClock {
    private let shift: Atomic<Int64>

    init(_ seconds: Int64 = 0) { shift = Atomic(seconds) }

    func shift(by seconds: Int64) { shift.add(seconds, ordering: .relaxed) }

    func now() -> AuthorityInstant {
        SystemClock().now().advanced(byMilliseconds: shift.load(ordering: .relaxed) * 1_000)
    }
}

/// An instance whose listeners take connections. Its apps: `demo`; `few`, of one device a TPM; `marked`, which lets
/// rotations go without a proof; `approved`, whose devices an operator lets in; `owned`, which asks for the hierarchy
/// of a key; `wallet`, of IT-Wallet.
struct ServedAuthority: Sendable {
    let url: String
    let folder: String
    let name: String
    let instance: AuthorityInstance
    private let doors: Listeners

    /// Several instances, in folders of their own below one, with the CA of the first.
    ///
    /// - Parameter roots: of the EKs, PEM.
    static func start(
        _ stores: Stores, _ count: Int = 1, in folder: String, _ clock: ShiftedClock,
        roots: String = Endorsed.rootFile
    ) async throws -> [ServedAuthority] {
        let ports = try freePorts(count)
        let folders = ports.indices.map { "\(folder)/authority\($0)" }
        try makeKeys(in: folders, at: clock.now().seconds)
        var shared = try stores.place()
        shared?.redis.serverTime = { clock.now().wall }
        var authorities: [ServedAuthority] = []
        for (index, port) in ports.enumerated() {
            let configuration = try configuration("number\(index)", port, origin: ports[0], roots)
            authorities.append(try await start(configuration, port, in: folders[index], shared, clock))
        }
        return authorities
    }

    /// The origin is in the configuration, so that the ports are chosen before.
    private static func freePorts(_ count: Int) throws -> [Int] {
        let sockets = try (0..<count).map { _ in try ListeningSocket(address: "127.0.0.1", port: 0) }
        return sockets.map(\.port)
    }

    private static func makeKeys(in folders: [String], at now: Int64) throws {
        _ = try AuthorityKeys.create(in: AuthorityFolder(folders[0]), name: "Test", at: now)
        for other in folders.dropFirst() {
            _ = try AuthorityFolder(other)
            try #require(link(folders[0] + "/ca.json", other + "/ca.json") == 0)
        }
    }

    private static func start(
        _ configuration: Configuration, _ port: Int, in folder: String, _ shared: AuthorityInstance.Shared?,
        _ clock: ShiftedClock
    ) async throws -> ServedAuthority {
        let instance = try await AuthorityInstance(
            configuration, in: AuthorityFolder(folder), shared: shared, clock: clock)
        do {
            let doors = try Listeners(instance.engine, folder: folder)
            return ServedAuthority(
                url: "http://127.0.0.1:\(port)", folder: folder, name: configuration.instance, instance: instance,
                doors: doors)
        } catch {
            await instance.close()
            throw error
        }
    }

    private static func configuration(
        _ name: String, _ port: Int, origin: Int, _ roots: String
    ) throws -> Configuration {
        let roots = "\"ek_roots\": [{\"path\": \"\(roots)\"}]"
        let text = """
            {"instance": "\(name)", "origins": ["http://127.0.0.1:\(origin)"],
             "public": {"address": "127.0.0.1", "port": \(port)}, "limits": {"per_address_per_minute": 1000000},
             "apps": [{"id": "demo", \(roots)},
              {"id": "wallet", "service": "it-wallet", "max_devices_per_ek": 100, \(roots)}, {"id": "few", "max_devices_per_ek": 1, \(roots)},
              {"id": "approved", "registration": "approve", \(roots)},
              {"id": "owned", "dialects": ["tenon"], "require_owner_hierarchy": true, \(roots)},
              {"id": "marked", "require_attestation": false, "unproven_rotation": "mark_unattested", \(roots)}]}
            """
        return try Configuration(parsing: Array(text.utf8), services: HostedService.all)
    }

    func stop() async {
        await doors.stop()
        await instance.close()
    }

    /// A request of an operator over the admin socket.
    func admin(_ method: String, _ target: String, _ body: [String: JSON] = [:]) async throws -> JSON {
        let transport = try HTTPTransport(.init(unixSocket: folder + "/admin.sock"))
        let request = HTTPRequest(
            method: method, url: "http://localhost" + target,
            body: body.isEmpty ? [] : try JSON.members(body).encoded())
        let answer = try await transport.exchange(request, deadline: .now + .seconds(20))
        #expect(answer.status == 200)
        return try JSON(parsing: answer.body)
    }

    /// The lines of the audit log of a stopped authority, after verifying it.
    func audit() throws -> [JSON] {
        let keys = try #require(try AuthorityKeys(from: AuthorityFolder(folder)))
        let key = keys.audit.withBytes { span in span.indices.map { span[$0] } }
        var verifier = try AuditVerifier(instance: name, key: key) { head, signature throws(TenonError) in
            let message = head.message
            try keys.publicKey.verify(Signature(derRepresentation: signature.span), for: Digest(hashing: message.span))
        }
        let text = try readFile(folder + "/" + AuditLog.fileName)
        try verifier.update(text)
        _ = try verifier.finish()
        return try text.split(separator: UInt8(ascii: "\n")).map { try JSON(parsing: Array($0)) }
    }
}
