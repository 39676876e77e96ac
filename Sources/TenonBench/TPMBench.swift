// SPDX-License-Identifier: Apache-2.0
package import Tenon
package import TenonTPM

/// What a TPM does in a second, and what Tenon adds to it: with a key that lives nowhere but in the TPM's memory. It
/// blocks its thread.
package struct TPMBench: Sendable {
    package struct Plan: Sendable {
        /// nil: as many as take about a minute.
        package var rounds: Int?
        /// Each line once, and the commands that it sends.
        package var isSmoke = false
        /// Writes a copy of the key into the TPM's NV memory, and takes it away in the end.
        package var isPersisting = false

        package init() {}
    }

    private let wire: BenchWire
    private let options: TPM.Options
    private let plan: Plan
    private let progress: @Sendable (String) -> Void

    /// - Parameter progress: told what is measured next.
    package init(
        over way: any TPMTransport, options: TPM.Options = TPM.Options(), plan: Plan,
        progress: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        wire = BenchWire(over: way)
        self.options = options
        self.plan = plan
        self.progress = progress
    }

    /// Has the bench end with the command that is under way, with ``TenonError/Code/cancelled``, and leave nothing behind.
    package func cancel() { wire.end() }

    package func run() throws(TenonError) -> TPMBenchResult {
        var copy: TPMBenchCopy?
        let result = Result { () throws(TenonError) in try work(&copy) }
        try copy?.evict()
        guard case .failure(let error) = result, wire.isEnding, [.cancelled, .tpmTransport].contains(error.code) else {
            return try result.get()
        }
        throw TenonError(
            .cancelled, message: "The bench was ended early; nothing of it is left in the TPM.\nType it again.")
    }

    private func work(_ copy: inout TPMBenchCopy?) throws(TenonError) -> TPMBenchResult {
        let tpm = try TPM(wire, options: options)
        let info: TPM.Info = try tpm.info()
        let key = try TPMBenchKey(in: tpm, wire)
        if plan.isPersisting {
            let made = try TPMBenchCopy(of: key)
            copy = made
            progress("keeps a copy of its key at \(made.name) until the end")
        }
        return try run(key, info, copy)
    }

    private func run(
        _ key: TPMBenchKey, _ info: TPM.Info, _ copy: TPMBenchCopy?
    ) throws(TenonError) -> TPMBenchResult {
        let lines = try TPMBenchLine.all(of: key, options, wire, copy?.file)
        if !plan.isSmoke { progress("each line once, to see how long it takes") }
        var (names, needed) = ([(line: String, commands: [String])](), 0.0)
        for line in lines {
            let (sent, took) = try once(line, key)
            if let sent { names.append((line.name, sent)) }
            needed += took
        }
        if plan.isSmoke { return TPMBenchResult(info, names, [], rounds: 0) }
        let rounds = plan.rounds ?? Self.rounds(of: needed)
        let measured = try measure(lines, key, rounds, needed)
        return TPMBenchResult(info, names, measured, rounds: rounds)
    }

    private static func rounds(of needed: Double) -> Int {
        let (minute, least, most) = (60e9, 10.0, 400.0)
        return Int(min(most, max(least, minute / needed)))
    }

    /// The commands of one operation, nil where there is no TPM in it, and how long a round of the line takes.
    private func once(
        _ line: TPMBenchLine, _ key: TPMBenchKey
    ) throws(TenonError) -> (commands: [String]?, nanoseconds: Double) {
        let contender = try line.open()
        // The first makes what the next ones use.
        if line.isWarm { try contender.operation() }
        let begin = BenchClock.wall.now
        let names = try wire.names(of: contender.operation)
        let took = BenchClock.wall.now - begin
        let floor = line.hasTPM ? key.time : 0
        return (line.hasTPM ? names : nil, max(took, Rounds.least) + max(floor, Rounds.least))
    }

    private func measure(
        _ lines: [TPMBenchLine], _ key: TPMBenchKey, _ rounds: Int, _ needed: Double
    ) throws(TenonError) -> [MeasuredLine] {
        var measured: [MeasuredLine] = []
        let begin = BenchClock.wall.now
        for (index, line) in lines.enumerated() {
            let left = needed * Double(rounds) - (BenchClock.wall.now - begin)
            let time = left > 1e9 ? ", about \(Decimal.text(left / 1e9, 0)) s left" : ""
            progress("\(line.name), \(index + 1) of \(lines.count)\(time)")
            var contenders = [try line.open()]
            if line.hasTPM { contenders.append(key.floor) }
            let tallies = try Rounds(rounds, check: wire.check).measure(contenders)
            measured += tallies.map { MeasuredLine(line.name, $0) }
        }
        return measured
    }
}
