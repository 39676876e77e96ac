// SPDX-License-Identifier: Apache-2.0
import BenchRecords
import Glibc
import Tenon

/// One step of a device's life, each round once: what it sends, and how long it takes.
struct Step {
    let name: String
    /// As people say it.
    let what: String
    private(set) var commands: [String] = []
    private(set) var exchanges: [String] = []
    private var times: [Double] = []
    private var cpu: [Double] = []

    init(_ name: String, _ what: String) { (self.name, self.what) = ("flow-" + name, what) }

    mutating func run(_ device: FlowDevice, _ body: () async throws -> Void) async throws {
        _ = (device.tpm.takeCommands(), device.transport.takeExchanges())
        let (began, used) = (Step.clock(CLOCK_MONOTONIC), Step.clock(CLOCK_PROCESS_CPUTIME_ID))
        try await body()
        times.append(Step.clock(CLOCK_MONOTONIC) - began)
        cpu.append(Step.clock(CLOCK_PROCESS_CPUTIME_ID) - used)
        let (commands, exchanges) = (device.tpm.takeCommands(), device.transport.takeExchanges())
        // A round that sends something else would make the list a lie.
        guard times.count == 1 || commands == self.commands && exchanges == self.exchanges else {
            throw TenonError(.options, message: "\(name) is not the same each round: \(commands), \(exchanges).")
        }
        (self.commands, self.exchanges) = (commands, exchanges)
    }

    var line: Line {
        var line = Line(name, times, cpu: Line.median(cpu))
        line.more["commands"] = .integer(Int64(commands.count))
        line.more["exchanges"] = .integer(Int64(exchanges.count))
        return line
    }

    /// For people; nothing of a smoke run is a time.
    func text(isSmoke: Bool) -> String {
        let time = isSmoke ? "" : ", \(Int(Line.median(times) / 1e4).formatted()) ms"
        let sent = commands.isEmpty ? "no TPM command" : commands.joined(separator: " ")
        return "\(name): \(commands.count) TPM commands, \(exchanges.count) HTTP exchanges\(time)\n"
            + "    \(sent)\n" + exchanges.map { "    \($0)\n" }.joined()
    }

    private static func clock(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}

extension Int {
    /// Hundredths.
    fileprivate func formatted() -> String { "\(self / 100).\(self % 100 < 10 ? "0" : "")\(self % 100)" }
}
