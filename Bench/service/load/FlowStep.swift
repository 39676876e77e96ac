// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonBench

/// One step of a device's life, each round once: what it sends, and how long it takes.
struct FlowStep {
    let name: String
    /// As people say it.
    let what: String
    private(set) var commands: [String] = []
    private(set) var exchanges: [String] = []
    private var times: [Double] = []
    private var cpu: [Double] = []

    /// - Parameter latency: the milliseconds that each TPM command takes longer.
    init(_ name: String, _ what: String, latency: UInt32) {
        (self.name, self.what) = ("flow-" + name + (latency == 0 ? "" : "@\(latency)ms"), what)
    }

    mutating func run(_ device: FlowDevice, _ body: () async throws -> Void) async throws {
        _ = device.transport.takeExchanges()
        device.wire.note()
        let (began, used) = (BenchClock.wall.now, BenchClock.processor.now)
        try await body()
        times.append(BenchClock.wall.now - began)
        cpu.append(BenchClock.processor.now - used)
        let (commands, exchanges) = (device.wire.noted(), device.transport.takeExchanges())
        // A round that sends something else would make the list a lie.
        guard times.count == 1 || commands == self.commands && exchanges == self.exchanges else {
            throw TenonError(.options, message: "\(name) is not the same each round: \(commands), \(exchanges).")
        }
        (self.commands, self.exchanges) = (commands, exchanges)
    }

    var line: MeasuredLine {
        var line = MeasuredLine(name, times, processor: cpu.median, commands: Double(commands.count))
        line.more["exchanges"] = .integer(Int64(exchanges.count))
        return line
    }
}
