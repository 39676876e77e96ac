// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import FlowParts
import Tenon
import TenonTPM
import TestFolders
import Testing

/// Requests of version 2 by a key in a software TPM, which takes 35 ms for a signature; commands are counted.
@Suite(.timeLimit(.minutes(2))) struct SharedSigningTests {
    private struct World {
        let software: SoftwareTPM
        let service: ScriptedService
        let identity: DeviceIdentity

        /// An identity whose service takes version 2 for its own host.
        init(_ software: SoftwareTPM, _ tpm: TPM, _ folder: ScratchFolder, app: String = "app") async throws {
            self.software = software
            service = ScriptedService(FlowTime())
            service.change { $0.signing = ["versions": [1, 2], "hosts": ["service.example"]] }
            var profile = PlainProfile()
            profile.declaration.attestation = .none
            var limits = FlowLimits()
            // No deadline may pass, however slow the machine is.
            limits.line = .seconds(100)
            identity = try DeviceIdentity(
                appID: app, profile: profile, vault: TPMKeyVault(tpm), transport: service,
                folder: StateFolder(at: folder.path), limits: limits)
            try await identity.register()
            _ = try await identity.sign("GET", path: "/")
            support_transport_latency(software.wire, 35_000)
            support_transport_reset_counts(software.wire)
        }

        var signs: UInt32 { software.commands(SUPPORT_CC_SIGN) }

        var key: PublicKey {
            get throws {
                let text = try #require(service.devices.first?.value.key)
                return try PublicKey(derRepresentation: TextEncoding.base64.decode(text))
            }
        }

        func start(_ number: Int) -> Task<Result<SignedRequest, TenonError>, Never> {
            Task { [identity] in
                do throws(TenonError) {
                    return .success(try await identity.sign("POST", path: "/v1/x", body: Array("\(number)".utf8)))
                } catch {
                    return .failure(error)
                }
            }
        }

        /// The first request is in the TPM, and the others wait for it.
        func started(_ count: Int) async -> [Task<Result<SignedRequest, TenonError>, Never>] {
            support_hold(software.wire, support_next(SUPPORT_CC_SIGN))
            let first = start(0)
            while signs == 0 { await Task.yield() }
            let others = (1..<count).map(start)
            while identity.waitingRequests < count - 1 { await Task.yield() }
            return [first] + others
        }

        func expectSigned(_ task: Task<Result<SignedRequest, TenonError>, Never>) async throws {
            let signed = try await task.value.get()
            let isGood = try isSigned(signed)
            #expect(isGood)
        }

        func isSigned(_ signed: SignedRequest) throws -> Bool {
            let request = HTTPRequest(
                method: signed.method, url: "https://service.example" + signed.path, headers: signed.headers,
                body: signed.body ?? [])
            return try #require(Version2(request)).isSigned(by: key)
        }
    }

    private func withWorld(_ body: (World) async throws -> Void) async throws {
        let folder = try ScratchFolder()
        try await withTPM { software, tpm in try await body(World(software, tpm, folder)) }
    }

    @Test func aThousandAtOneMomentAreTwoCommands() async throws {
        try await withWorld { world in
            let tasks = await world.started(1000)
            support_release(world.software.wire)
            for task in tasks { try await world.expectSigned(task) }
            #expect(world.signs == 2)
            #expect(support_transport_overlaps(world.software.wire) == 0)
        }
    }

    /// Nothing goes ahead of requests that one caller has all at once.
    @Test func aThousandTogetherAreOneCommand() async throws {
        try await withWorld { world in
            let signed = await world.identity.sign(
                (0..<1000).map { (RequestParts("POST", path: "/v1/x"), Array("\($0)".utf8)) })
            for result in signed {
                let isGood = try world.isSigned(result.get())
                #expect(isGood)
            }
            #expect(world.signs == 1 && world.software.commands() == 1)
        }
    }

    @Test func oneIsOneCommand() async throws {
        try await withWorld { world in
            let signed = try await world.start(0).value.get()
            #expect(try world.isSigned(signed) && signed.form == .plain)
            #expect(world.signs == 1 && world.software.commands() == 1)
        }
    }

    /// The core tries a busy TPM again, and nobody notices.
    @Test func aBusyTPMIsWaitedFor() async throws {
        try await withWorld { world in
            let tasks = await world.started(20)
            support_fail_code(world.software.wire, support_times(SUPPORT_CC_SIGN, 1, 2), 0x922)
            support_release(world.software.wire)
            for task in tasks { try await world.expectSigned(task) }
            #expect(world.signs == 4)
            #expect(support_transport_pending(world.software.wire) == 0)
        }
    }

    /// All members of the batch are told, and the next requests are signed.
    @Test func aBatchThatFailsTellsAll() async throws {
        try await withWorld { world in
            let tasks = await world.started(20)
            support_fail_code(world.software.wire, support_next(SUPPORT_CC_SIGN), 0x101)
            support_release(world.software.wire)
            try await world.expectSigned(tasks[0])
            for task in tasks[1...] {
                let error = await errorAwaited { try await task.value.get() }
                #expect(error != nil && error?.code.category != .gone)
            }
            try await world.expectSigned(world.start(1))
        }
    }

    /// A TPM that is reset in the middle of a batch is opened again, and the batch is signed.
    @Test func aTPMThatDisappearsComesBack() async throws {
        try await withWorld { world in
            support_transport_revive(world.software.wire, true)
            let tasks = await world.started(20)
            support_kill(world.software.wire, support_next(SUPPORT_CC_SIGN), false)
            support_release(world.software.wire)
            for task in tasks { try await world.expectSigned(task) }
        }
    }

    /// Each key has one place in the TPM's queue: one with many requests does not keep another one waiting.
    @Test func twoKeysTakeTurns() async throws {
        let (folder, other) = (try ScratchFolder(), try ScratchFolder())
        try await withTPM { software, tpm in
            let busy = try await World(software, tpm, folder)
            let slow = try await World(software, tpm, other, app: "other")
            let tasks = await busy.started(500)
            let one = slow.start(0)
            support_release(software.wire)
            try await slow.expectSigned(one)
            #expect(software.commands(SUPPORT_CC_SIGN) <= 3)
            for task in tasks { try await busy.expectSigned(task) }
            #expect(software.commands(SUPPORT_CC_SIGN) == 3)
        }
    }
}
