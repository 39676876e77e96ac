// SPDX-License-Identifier: Apache-2.0
package import Tenon
package import TenonTPM

/// Measures a TPM, and what Tenon adds to it, with a key that exists only in the TPM's memory. It blocks its thread.
package struct TPMBench: Sendable {
    package struct Plan: Sendable {
        /// nil is as many as take about a minute.
        package var rounds: Int?
        /// Runs each line once, and lists its commands.
        package var isSmoke = false
        /// Writes a copy of the key into the TPM's NV memory, and evicts it in the end.
        package var isPersisting = false
        /// Also signs batches of requests; a line's figures are those of one request.
        package var isBatching = false

        package init() {}
    }

    private let wire: BenchWire
    private let options: TPM.Options
    private let plan: Plan
    private let progress: @Sendable (String) -> Void

    /// - Parameter progress: called with the name of each line before it is measured.
    package init(
        over transport: any TPMTransport, options: TPM.Options = TPM.Options(), plan: Plan,
        progress: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        wire = BenchWire(over: transport)
        self.options = options
        self.plan = plan
        self.progress = progress
    }

    /// Ends the bench after the current command with ``TenonError/Code/cancelled``. Nothing is left in the TPM.
    package func cancel() { wire.end() }

    /// Runs all lines, and cleans up.
    package func run() throws(TenonError) -> TPMBenchResult {
        var copy: TPMBenchCopy?
        let result = Result { () throws(TenonError) in try work(&copy) }
        try copy?.evict()
        guard case .failure(let error) = result, wire.isEnding, [.cancelled, .tpmTransport].contains(error.code) else {
            return try result.get()
        }
        throw TenonError(
            .cancelled, message: "The bench was stopped early. Nothing is left in the TPM.", mend: "Run it again.")
    }

    private func work(_ copy: inout TPMBenchCopy?) throws(TenonError) -> TPMBenchResult {
        let tpm = try TPM(wire, options: options)
        let info: TPM.Info = try tpm.info()
        let key = try TPMBenchKey(in: tpm, wire)
        if plan.isPersisting {
            let made = try TPMBenchCopy(of: key)
            copy = made
            progress("keeping a copy of the key at \(made.name) until the end")
        }
        return try run(key, info, copy)
    }

    private func run(
        _ key: TPMBenchKey, _ info: TPM.Info, _ copy: TPMBenchCopy?
    ) throws(TenonError) -> TPMBenchResult {
        let lines =
            try TPMBenchLine.all(of: key, options, wire, copy?.file)
            + (plan.isBatching ? TPMBenchLine.batches(of: key, options, wire) : [])
        if !plan.isSmoke { progress("running each line once, to see how long it takes") }
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

    /// The commands of one operation (nil when no TPM is involved), and the time that a round of the line takes.
    private func once(
        _ line: TPMBenchLine, _ key: TPMBenchKey
    ) throws(TenonError) -> (commands: [String]?, nanoseconds: Double) {
        let side = try line.open()
        // The first call makes objects that the next ones use.
        if line.isWarm { try side.operation() }
        let begin = BenchClock.wall.now
        let names = try wire.names(of: side.operation)
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
            var sides = [try line.open()]
            if line.hasTPM { sides.append(key.floor) }
            let measurements = try Rounds(rounds, check: wire.check).measure(sides)
            measured += measurements.map { MeasuredLine(line.name, $0) }
        }
        return measured
    }
}

/// The result of a TPM bench.
package final class TPMBenchResult: Sendable {
    package let info: TPM.Info
    /// The commands of one operation, for each line that uses the TPM.
    package let commands: [(line: String, commands: [String])]
    /// Empty when nothing was measured.
    package let lines: [MeasuredLine]
    package let rounds: Int

    init(
        _ info: TPM.Info, _ commands: [(line: String, commands: [String])], _ lines: [MeasuredLine], rounds: Int
    ) {
        self.info = info
        self.commands = commands
        self.lines = lines
        self.rounds = rounds
    }

    /// The floor that was measured beside one of Tenon's lines.
    package func floor(of line: MeasuredLine) -> MeasuredLine? {
        line.by == TPMBenchLine.own ? lines.first { $0.line == line.line && $0.by != line.by } : nil
    }

    /// The figures P1, P2 and P5, as far as they were measured.
    package var figures: [BenchFigure] { speeds + firsts }

    private var speeds: [BenchFigure] {
        [
            ("P1", "tpm-sign", "password", 0.97), ("P2", "tpm-sign-salted", "salted HMAC", 0.92),
            ("P2", "tpm-sign-encrypted", "salted, AES-CFB", 0.92),
        ].flatMap { name, line, what, least -> [BenchFigure] in
            guard let own = lines.first(where: { $0.line == line }), let floor = floor(of: own) else { return [] }
            return [
                BenchFigure(
                    name, "warm TPM signature, \(what), beside the raw exchange", .atLeast(least),
                    Quartiles(speedOf: own.rounds, beside: floor.rounds).median),
                BenchFigure(name, "  its TPM commands, \(what)", .atMost(1), own.commands),
            ]
        }
    }

    private var firsts: [BenchFigure] {
        [("srk", "blob under SRK", 1), ("primary", "blob under primary", 2), ("handle", "persistent handle", 0)]
            .compactMap { line, what, most in
                let names = commands.first { $0.line == "tpm-first-\(line)" }?.commands
                guard !lines.isEmpty, let before = names?.firstIndex(of: "Sign") else { return nil }
                return BenchFigure(
                    "P5", "TPM commands before a process's first signature, \(what)", .atMost(most), Double(before))
            }
    }

    /// A row of the table in docs/chips.md: signature, its speed beside the bare command, first signature, proof.
    ///
    /// - Parameter chip: a description of the chip and its firmware.
    package func chipLine(_ chip: String, isSimulator: Bool, on machine: BenchMachine) -> String {
        func own(_ name: String) -> MeasuredLine? { lines.first { $0.line == name && $0.by == TPMBenchLine.own } }
        func time(_ line: MeasuredLine?) -> String { line.map { Decimal.text($0.p50 / 1e6, 2) } ?? "-" }
        let sign = own("tpm-sign")
        let speed = sign.flatMap { line in floor(of: line).map { Quartiles(speedOf: line.rounds, beside: $0.rounds) } }
        let interval = speed.map { [$0.low, $0.high].map { Decimal.text($0, 2) }.joined(separator: "-") } ?? "-"
        let cells = [
            chip, isSimulator ? "software" : "chip", time(sign),
            speed.map { "\(Decimal.text($0.median, 2)) (\(interval))" } ?? "-",
            time(own("tpm-first-srk") ?? own("tpm-first-primary")), time(own("tpm-attest")), "\(rounds)",
            machine.members.first { $0.name == "cpu" }?.value ?? "", tenonVersion,
        ]
        return "| " + cells.map { $0.replacing("|", with: "/") }.joined(separator: " | ") + " |"
    }

    /// The records for Bench/report.py and for a comparison.
    package func records(of machine: BenchMachine) -> [JSON] {
        var records = BenchRecords()
        for (line, names) in commands { records.add(commands: names, of: line) }
        for line in lines { records.add(line) }
        let peer: JSON = [
            "kind": "peer", "name": "raw", "version": .string(tenonVersion), "backend": .string(tenonBackend),
        ]
        let ratios = lines.compactMap { line in floor(of: line).map { line.ratio(to: $0) } }
        return [machine.record, peer] + records.all + ratios + figures.map(\.record)
    }
}
