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
        let gauges: KeyValuePairs<String, Int64?> = [
            "healthy": health.isHealthy ? 1 : 0, "redis_clock_difference_milliseconds": health.redisClockDifference,
            "postgres_clock_difference_milliseconds": health.postgresClockDifference,
            "clock_step_back_milliseconds": health.stepBack,
            "clock_step_ahead_milliseconds": health.stepAhead, "audit_waiting_lines": Int64(health.waitingLines),
            "audit_signed_lines": auditHead()?.sequence, "activations": Int64(gate.occupancy),
            "activations_limit": Int64(configuration.limits.activations),
        ]
        var lines: [String] = []
        for case (let name, let value?) in gauges {
            lines += ["# TYPE tenon_authority_\(name) gauge", "tenon_authority_\(name) \(value)"]
        }
        lines += partLines(health)
        lines += [
            "# TYPE tenon_authority_replay_losses_total counter",
            "tenon_authority_replay_losses_total \(health.losses)", "",
        ]
        return metrics.text + lines.joined(separator: "\n")
    }

    /// Of each store and the like: how it is, and how often it was not.
    private func partLines(_ health: StoreHealth) -> [String] {
        let clock = StoreHealth.Part(name: "clock", fault: health.clockFault)
        let well = "tenon_authority_part_healthy"
        let faults = "tenon_authority_part_faults_total"
        return ["# HELP \(well) Whether what requests need does its work.", "# TYPE \(well) gauge"]
            + ([clock] + health.parts).map { "\(well){part=\"\($0.name)\"} \($0.fault == nil ? 1 : 0)" }
            + ["# HELP \(faults) How often it began not to.", "# TYPE \(faults) counter"]
            + health.parts.map { "\(faults){part=\"\($0.name)\"} \($0.faults)" }
    }
}
