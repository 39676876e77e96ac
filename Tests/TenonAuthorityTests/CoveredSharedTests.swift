// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// Requests of signature version 2 at two instances over one Redis and one PostgreSQL.
@Suite struct CoveredSharedTests {
    private static func rigs(_ instances: [SharedInstance]) throws -> [ServiceRig] {
        let configuration = try ServiceRig.configuration(
            CoveredRig.apps, limits: "{}", origins: ServiceRig.origins, backends: CoveredRig.backends)
        return try instances.map { try ServiceRig.rig(on: $0.stores, configuration) }
    }

    /// A request is good once over both; a device that one revokes is refused by the other at once, although the other
    /// knows the root.
    @Test(arguments: SharedStoreTests.kinds)
    func twoInstances(_: StoreKind) async throws {
        let (name, clock) = (SharedServers.name(), FakeClock())
        let instances = try (0..<2).map { _ in try SharedInstance(name, clock: clock) }
        let rigs = try Self.rigs(instances)
        clock.advance(600_000)
        let rig = CoveredRig(rig: rigs[0], device: try await rigs[0].device(versions: [2]))
        let batch = try rig.batch(8)
        for (index, other) in rigs.enumerated() {
            #expect(try await rig.ask(batch[index * 2], on: other.service) == "200")
            #expect(try await rig.ask(batch[index * 2 + 1], on: other.service) == "200")
            for rigs in rigs {
                #expect(try await rig.ask(batch[index * 2], on: rigs.service) == "NONCE_REPLAY nonce_replay")
            }
        }
        #expect(try await rigs[0].revoke(rig.device).verdict == "200")
        for other in rigs.reversed() {
            #expect(try await rig.ask(batch[6], on: other.service) == "DEVICE_REVOKED device_revoked")
        }
        for instance in instances { await instance.close() }
    }
}
