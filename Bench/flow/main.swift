// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonBench
import TenonSynheart

// Figure P12: what a device's life costs in TPM commands and HTTP exchanges. Bench/run starts the authority, and reads what is written.

func flows(_ place: Place) async throws -> [Step] {
    var steps = [
        Step("register", "a registration"), Step("request", "a signed request"), Step("rotate", "a rotation"),
        Step("maintain", "a maintenance"), Step("reset", "a reset"),
    ]
    var docs = Step("register-docs", "a first registration, dialect docs")
    for _ in 0..<(place.isSmoke ? 1 : 9) {
        let device = try FlowDevice(place, .tenon)
        try await steps[0].run(device) { try await device.identity.register() }
        try await steps[1].run(device) { try await device.request() }
        try await steps[2].run(device) { try await device.identity.rotate() }
        try await steps[3].run(device) { try await device.identity.maintain() }
        try await steps[4].run(device) { try await device.identity.reset() }
        let other = try FlowDevice(place, .docs)
        try await docs.run(other) { try await other.identity.register() }
    }
    return [steps[0], docs] + steps[1...]
}

/// What is sent does not depend on the machine's load.
func figures(_ steps: [Step]) -> [BenchFigure] {
    steps.flatMap { step in
        let most: Double? = ["flow-register": 2, "flow-register-docs": 4][step.name]
        return [
            BenchFigure(
                "P12", "HTTP exchanges of \(step.what)", most.map { .atMost($0) }, Double(step.exchanges.count),
                isGate: most != nil),
            BenchFigure("P12", "  its TPM commands", nil, Double(step.commands.count)),
        ]
    }
}

do {
    let place = try Place(Array(CommandLine.arguments.dropFirst()))
    let steps = try await flows(place)
    var records = BenchRecords()
    for step in steps {
        if !place.isSmoke { records.add(step.line) }
        records.add(commands: step.commands, exchanges: step.exchanges, of: step.name)
    }
    records.add(figures(steps))
    try records.write(to: "/dev/stdout")
} catch {
    let message = "FlowBench: \(error)\n"
    _ = write(2, message, message.utf8.count)
    exit(1)
}
