// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TestFolders
import Testing

@testable import AuthorityBench

/// Two instances on one Redis and one PostgreSQL, under a load that sends everything twice.
@Suite(.timeLimit(.minutes(5))) struct DoubledLoadTests {
    private static let devices = 200

    /// The result of a load.
    private struct Outcome {
        let samples: Samples
        let counts: [String: Int]
        let ids: [String]
        /// Of each instance.
        let logs: [[JSON]]
    }

    @Test func nothingIsAcceptedTwice() async throws {
        let outcome = try await load()
        #expect(
            outcome.counts == [
                "register: 200, 400 INVALID_CHALLENGE": Self.devices, "sign: 200, 409 NONCE_REPLAY": 2 * Self.devices,
                "rotate: 200, 409 NONCE_REPLAY": Self.devices / 2,
                "rotate: 200, 409 ROTATION_FAILED": Self.devices / 2,
            ])
        // Only answers in pairs were refusals.
        #expect(outcome.samples.errors.values.reduce(0, +) == 4 * Self.devices, "\(outcome.samples.errors)")
        let ids = Set(outcome.ids)
        #expect(ids.count == Self.devices)
        for event in ["registered", "rotated"] {
            let devices = outcome.logs.joined().filter { $0["event"]?.string == event }.compactMap {
                $0["device"]?.string
            }
            #expect(devices.count == Self.devices && Set(devices) == ids, "\(event)")
        }
        let repeats = outcome.logs.joined().filter { $0["event"]?.string?.hasSuffix("_again") == true }
        #expect(repeats.isEmpty)
        // Both had a part in it.
        #expect(outcome.logs.allSatisfy { $0.count > Self.devices / 4 })
    }

    private func load() async throws -> Outcome {
        let scratch = try ScratchFolder()
        defer { withExtendedLifetime(scratch) {} }
        let folder = scratch.path
        let (maker, roots) = (try Maker(count: Self.devices), folder + "/root.pem")
        try maker.root.write(to: roots)
        let clock = ShiftedClock(-5)
        let authorities = try await ServedAuthority.start(.shared, 2, in: folder, clock, roots: roots)
        clock.shift(by: 5)
        let target = Target(origin: authorities[0].url, app: "demo")
        let devices = try (0..<Self.devices).map { try LoadDevice(target, maker.tpm($0)) }
        let crew = Crew(instances: try authorities.map { try Instance($0.url) }, connections: 16)
        let doubled = Doubled(crew: crew, devices: devices, requests: 2)
        let (samples, counts) = try await WorkThread().run { () throws(TenonError) in doubled.run() }
        for authority in authorities { await authority.stop() }
        return Outcome(
            samples: samples, counts: counts, ids: devices.map(\.id), logs: try authorities.map { try $0.audit() })
    }
}
