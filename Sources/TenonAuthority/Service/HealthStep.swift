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
        return try AuthorityAnswer([
            "status": .string(health.isHealthy ? "ok" : "unhealthy"), "fault": health.fault.map { .string($0.message) },
            "redis_clock_difference_ms": health.redisClockDifference.map(JSON.integer),
            "postgres_clock_difference_ms": health.postgresClockDifference.map(JSON.integer),
            "clock_step_back_ms": .integer(health.stepBack), "replay_losses": .integer(Int64(health.losses)),
            "audit_waiting_lines": .integer(Int64(health.waitingLines)),
            "audit_signed_lines": head.map { .integer($0.sequence) },
            "audit_signed_mac": head.map { .string($0.mac.description) },
            "activations": .integer(Int64(gate.occupancy)),
        ])
    }

    /// The text exposition format, version 0.0.4.
    var metricsText: String {
        let health = stores.health()
        let values: KeyValuePairs<Metric, Int64?> = [
            .healthy: health.isHealthy ? 1 : 0, .redisClockDifference: health.redisClockDifference,
            .postgresClockDifference: health.postgresClockDifference, .clockStepBack: health.stepBack,
            .auditWaitingLines: Int64(health.waitingLines), .auditSignedLines: auditHead()?.sequence,
            .activations: Int64(gate.occupancy), .activationsLimit: Int64(configuration.limits.activations),
            .replayLosses: Int64(health.losses),
        ]
        var lines: [String] = []
        for case (let metric, let value?) in values { lines += metric.lines(value) }
        return metrics.text + lines.joined(separator: "\n") + "\n"
    }
}
