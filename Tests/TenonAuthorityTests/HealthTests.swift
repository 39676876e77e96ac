// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import Testing

@testable import TenonAuthority

/// An instance's health, metrics and logs.
@Suite struct HealthTests {
    private var rig: ServiceRig { .current }

    private func ask(
        _ service: AuthorityEngine, _ path: String, _ door: AuthorityRequest.Door
    ) async -> AuthorityAnswer { await service.ask("GET", path, at: door) }

    @Test(.service) func well() async throws {
        for door in [AuthorityRequest.Door.public, .internal] {
            let answer = await ask(rig.service, "/health", door)
            #expect(answer.status == 200 && answer.body == Array("ok".utf8))
        }
        let answer = await ask(rig.service, "/v1/health", .admin)
        #expect(answer.json["status"]?.string == "ok" && answer.json["fault"] == nil)
        #expect(await rig.metrics().contains("tenon_authority_healthy 1\n"))
    }

    /// Refusals are counted by cause; labels never come from a request.
    @Test(.service) func refusalsAreCountedByCause() async throws {
        let key = try SoftwareKey().publicKey
        #expect(try await rig.register(key, app: "strict").verdict == "403 INVALID_ATTESTATION")
        for _ in 0..<2 {
            var message = try await rig.registration(key)
            message["proof"] = .string(TextEncoding.base64url.encode([0xa0]))
            #expect(
                try await rig.post("/v1/device/register", .members(message)).verdict == "400 INVALID_ATTESTATION")
        }
        let text = await rig.metrics()
        let name = "tenon_authority_refusals_total"
        #expect(text.contains("\n# HELP \(name) ") && text.contains("\n# TYPE \(name) counter\n"))
        #expect(text.contains("\n\(name){endpoint=\"register\",cause=\"attestation_required\"} 1\n"))
        #expect(text.contains("\n\(name){endpoint=\"register\",cause=\"rule_2\"} 2\n"))
        for part in ["192.0.2.1", "strict", "open"] { #expect(!text.contains(part)) }
    }

    /// Requests for health take no line from a device.
    @Test(.service) func aHealthCheckHasNoLine() async throws {
        let lines = Lines()
        var broken = rig.stores
        let said = Self.health([.init(name: "redis", fault: TenonError(.storeFailed, message: "a fault"))])
        broken.health = { said }
        let service = rig.service(on: broken, refused: lines.add)
        #expect(await ask(service, "/health", .public).status == 503)
        #expect(await ask(service, "/v1/device/self", .public).status != 200)
        await service.refusals.close()
        #expect(lines.all.map { $0.hasPrefix("refused: self, ") } == [true], "\(lines.all)")
    }

    /// One cause gets three lines in a second; then a line says how many refusals had none.
    @Test(.service) func aFloodHasFewLines() async throws {
        let lines = Lines()
        let service = rig.service(on: rig.stores, refused: lines.add)
        for count in [5, 1] {
            for _ in 0..<count { #expect(await ask(service, "/v1/device/self", .public).status == 400) }
            rig.clock.advance(1_000)
        }
        await service.refusals.close()
        let told = lines.all
        #expect(told.map { $0.hasPrefix("refused: self, ") } == [true, true, true, false, true], "\(told)")
        #expect(told.count > 3 && told[3].hasPrefix("2 more refusals have no line"), "\(told)")
    }

    /// Strangers learn only that there is a fault; operators learn which one.
    @Test(.service) func notWell() async throws {
        var health = Self.health([
            .init(name: "redis"),
            .init(name: "folder", fault: TenonError(.storeFailed, message: "a fault"), faults: 4),
        ])
        health.redisClockDifference = -7
        (health.stepBack, health.losses, health.waitingLines) = (5, 3, 2)
        let (said, stores) = (health, rig.stores)
        var broken = stores
        broken.health = { said }
        let service = rig.service(on: broken)
        let answer = await ask(service, "/health", .public)
        #expect(answer.verdict == "503 UNAVAILABLE" && answer.header("Retry-After") == "10")
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("fault"))
        let state = await ask(service, "/v1/health", .admin)
        #expect(state.status == 200 && state.json["status"]?.string == "unhealthy")
        #expect(state.json["fault"]?.string == "a fault" && state.json["redis_clock_difference_ms"]?.integer == -7)
        #expect(state.json["redis"]?.string == "ok" && state.json["folder"]?.string == "a fault")
        #expect(state.json["clock"]?.string == "ok")
        #expect(state.json["replay_losses"]?.integer == 3 && state.json["audit_waiting_lines"]?.integer == 2)
        let text = await service.metrics()
        for line in [
            "healthy 0", "redis_clock_difference_milliseconds -7", "clock_step_back_milliseconds 5",
            "audit_waiting_lines 2", "replay_losses_total 3", "activations 0", "activations_limit 64",
            #"part_healthy{part="redis"} 1"#, #"part_healthy{part="folder"} 0"#, #"part_healthy{part="clock"} 1"#,
            #"part_faults_total{part="folder"} 4"#,
        ] { #expect(text.contains("\ntenon_authority_\(line)\n"), "\(line)") }
        #expect(!text.contains("postgres"))
    }

    private static func health(_ parts: [StoreHealth.Part]) -> StoreHealth {
        var health = StoreHealth()
        health.parts = parts
        return health
    }

    /// A request that the instance signs itself is handled, and refused, like a device's.
    @Test(.service) func aRequestOfItsOwn() async throws {
        let test = try SelfTest()
        for _ in 0..<3 { try await test.run(rig.service, at: rig.seconds) }
        for (ahead, code) in [(Int64(-301), "CLOCK_SKEW"), (301, "CLOCK_SKEW")] {
            let error = await errorThrown { try await test.run(rig.service, at: rig.seconds + ahead) }
            #expect(error?.message.contains(code) == true)
        }
        // With a horizon in the future, every request is refused.
        #expect(await rig.metrics().contains("answers_total{") == false)
        // It looks its device up, and so notices a store that cannot.
        let store = try #require(rig.stores.devices as? any SQLDeviceStore)
        try await store.write { connection throws(TenonError) in
            _ = try connection.run("ALTER TABLE devices RENAME TO others")
        }
        await expectError("UNAVAILABLE") { try await test.run(rig.service, at: rig.seconds) }
    }

    /// Operators and monitors see the signed head of the audit log.
    @Test func theHeadOfTheLog() async throws {
        let folder = try TestFolder()
        let told = Mutex<[(AuditHead, [UInt8])]>([])
        let authority = try await AuthorityInstance(
            .open(), in: AuthorityFolder(folder.path),
            headSigned: { head, signature in told.withLock { $0.append((head, signature)) } })
        #expect(await ask(authority.engine, "/v1/health", .admin).json["audit_signed_lines"] == nil)
        try await AuditStartTests.revoke(authority, "a reason")
        await authority.close()
        let state = await ask(authority.engine, "/v1/health", .admin).json
        let heads = told.withLock { $0 }
        let (head, signature) = try #require(heads.first)
        #expect(heads.count == 1 && head.sequence == 1 && head.instance == "main")
        #expect(state["audit_signed_lines"]?.integer == 1 && state["audit_signed_mac"]?.string == head.mac.description)
        try authority.engine.keys.verify(signature, of: head.message)
    }
}
