// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension AuthorityService {
    /// For whoever sends requests to one of several: `ok`, or a refusal, and not why.
    func health() throws(Refusal) -> AuthorityAnswer {
        guard stores.health().isHealthy else {
            throw Refusal(.unavailable, "The service is not well.", retryAfter: 10)
        }
        return AuthorityAnswer(status: 200, body: Array("ok".utf8))
    }

    /// The same for operators, with all that is known.
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

    /// Of each store and the like: how it is, and how often it was not.
    private func partLines(_ health: StoreHealth) -> [String] {
        let clock = StoreHealth.Part(name: "clock", fault: health.clockFault)
        let (well, faults) = (Metric.partHealthy, Metric.partFaults)
        return well.head
            + ([clock] + health.parts).map { "\(well.name){part=\"\($0.name)\"} \($0.fault == nil ? 1 : 0)" }
            + faults.head + health.parts.map { "\(faults.name){part=\"\($0.name)\"} \($0.faults)" }
    }
}
