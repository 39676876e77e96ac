// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension AuthorityEngine {
    /// Answers a load balancer: `ok`, or a refusal without a reason.
    func health() throws(Refusal) -> AuthorityAnswer {
        guard stores.health().isHealthy else {
            throw Refusal(.unavailable, "The service is unhealthy.", retryAfter: 10)
        }
        return AuthorityAnswer(status: 200, body: Array("ok".utf8))
    }

    /// Answers an operator, with all that is known.
    func state() throws(Refusal) -> AuthorityAnswer {
        let (health, head) = (stores.health(), auditHead())
        var object = JSONObject()
        object["status"] = .string(health.isHealthy ? "ok" : "unhealthy")
        object["fault"] = health.fault.map { .string($0.message) }
        object["clock"] = .string(health.clockFault?.message ?? "ok")
        for part in health.parts { object[part.name] = .string(part.fault?.message ?? "ok") }
        let numbers: KeyValuePairs<String, JSON?> = [
            "redis_clock_difference_ms": health.redisClockDifference.map(JSON.integer),
            "postgres_clock_difference_ms": health.postgresClockDifference.map(JSON.integer),
            "clock_step_back_ms": .integer(health.stepBack), "clock_step_ahead_ms": .integer(health.stepAhead),
            "replay_losses": .integer(Int64(health.losses)),
            "audit_waiting_lines": .integer(Int64(health.waitingLines)),
            "audit_signed_lines": head.map { .integer($0.sequence) },
            "audit_signed_mac": head.map { .string($0.mac.description) },
            "activations": .integer(Int64(gate.occupancy)),
        ]
        for (name, value) in numbers { object[name] = value }
        return try AuthorityAnswer(object)
    }

    /// The text exposition format, version 0.0.4.
    var metricsText: String {
        let health = stores.health()
        let values: KeyValuePairs<Metric, Int64?> = [
            .healthy: health.isHealthy ? 1 : 0, .redisClockDifference: health.redisClockDifference,
            .postgresClockDifference: health.postgresClockDifference, .clockStepBack: health.stepBack,
            .clockStepAhead: health.stepAhead, .auditWaitingLines: Int64(health.waitingLines),
            .auditSignedLines: auditHead()?.sequence, .activations: Int64(gate.occupancy),
            .activationsLimit: Int64(configuration.limits.activations), .replayLosses: Int64(health.losses),
        ]
        var lines: [String] = []
        for case (let metric, let value?) in values { lines += metric.lines(value) }
        lines += partLines(health)
        return metrics.text + lines.joined(separator: "\n") + "\n"
    }

    /// The lines about each part: whether it is healthy, and how many faults it has had.
    private func partLines(_ health: StoreHealth) -> [String] {
        let clock = StoreHealth.Part(name: "clock", fault: health.clockFault)
        let (well, faults) = (Metric.partHealthy, Metric.partFaults)
        return well.head
            + ([clock] + health.parts).map { "\(well.name){part=\"\($0.name)\"} \($0.fault == nil ? 1 : 0)" }
            + faults.head + health.parts.map { "\(faults.name){part=\"\($0.name)\"} \($0.faults)" }
    }
}

/// Requests that an instance signs itself and handles like a device's, so that health knows when all requests are
/// refused. Their devices are not stored, and each sends one request, so the limits of other devices are not affected.
struct SelfTest: Sendable {
    private let key: SoftwareKey
    private let thumbprint: String

    init() throws(TenonError) {
        key = try SoftwareKey(signsDigests: true)
        thumbprint = try key.publicKey.thumbprint
    }

    /// - Parameter seconds: the timestamp of the request, from the machine's own clock, as a device would send it.
    /// - Throws: the refusal that a device would get.
    func run(_ engine: AuthorityEngine, at seconds: Int64) async throws(TenonError) {
        let app = engine.configuration.apps[0]
        var message = try RequestMessage(method: "GET", path: "/self-test", timestamp: String(seconds))
        let digest = try message.finish()
        let nonce = try RequestHeaders.makeNonce()
        let device = Device(
            id: "self-test-\(nonce)", app: app.id, level: .unattested, publicKey: key.publicKey,
            thumbprint: thumbprint, registeredAt: seconds)
        let request = DeviceRequest(
            app: app.id, device: device.id, signature: try key.signature(for: digest), version: 1,
            timestamp: seconds, nonce: nonce
        ) { () throws(Refusal) in digest }
        do throws(Refusal) {
            try await engine.verify(request, of: device)
        } catch {
            throw TenonError(
                .storeFailed,
                message: "A request that this instance signed was refused with \(error.code.rawValue): \(error.message)"
            )
        }
    }
}

extension AuthorityEngine {
    fileprivate func verify(_ request: DeviceRequest, of device: Device) async throws(Refusal) {
        // The device is not stored, but the lookup tests the store.
        _ = try await waiting { () throws(TenonError) in
            try await stores.devices.device(app: device.app, id: device.id)
        }
        _ = try await verify(request, of: device, configuration.apps[0], accepting: .present)
    }
}
