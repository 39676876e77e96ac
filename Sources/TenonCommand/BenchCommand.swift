// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonBench
internal import TenonCommandLine
internal import TenonTPM

/// `tenon bench`.
enum BenchCommand {
    static func run(_ setting: Setting) async throws(TenonError) {
        let arguments = setting.arguments
        let plan = try plan(arguments)
        let file = try arguments.value("--out").map(ResultFile.init)
        let page = try arguments.value("--html").map(ResultFile.init)
        let name = try setting.tpmName()
        let result = try await measured(name, try setting.tpmOptions(), plan)
        let report = BenchReport(result, isSimulator: isSimulator(name, result.info))
        let answer = Answer(lines: report.lines, json: report.json)
        do throws(TenonError) {
            try file?.write(result.records(of: report.machine))
            try page?.write(Array(BenchPage(result, on: report.machine).html.utf8))
        } catch {
            // The results are printed even if the file cannot be written.
            if !arguments.has(Flag.json.name) { try answer.give(arguments) }
            throw error
        }
        try answer.give(arguments)
    }

    private static func plan(_ arguments: Arguments) throws(TenonError) -> TPMBench.Plan {
        var plan = TPMBench.Plan()
        plan.isSmoke = arguments.has("--smoke")
        plan.isPersisting = arguments.has("--persist")
        plan.isBatching = arguments.has("--batch")
        if let text = try arguments.value("--rounds") {
            guard let rounds = Int(text), 1...10_000 ~= rounds else {
                throw arguments.mistake("--rounds must be a number from 1 to 10000.")
            }
            plan.rounds = rounds
        }
        if plan.isSmoke, arguments.has("--html") {
            throw arguments.mistake("--smoke measures nothing that --html could show.")
        }
        guard plan.isSmoke || !BenchBuild.isDebug else {
            throw TenonError(
                .options,
                message: "Figures of a debug build mean nothing.",
                mend:
                    "Build it with: swift build -c release --product tenon; or check that each line works: tenon bench --smoke"
            )
        }
        return plan
    }

    /// Runs the bench on a thread of its own, as it blocks. When this returns, its objects are gone from the TPM.
    private static func measured(
        _ name: String, _ options: TPM.Options, _ plan: TPMBench.Plan
    ) async throws(TenonError) -> TPMBenchResult {
        let way = try NamedTransport(name, allowSimulator: options.allowSimulator)
        let bench = TPMBench(over: way, options: options, plan: plan) { text in
            if Terminal.isShown(2) { Terminal.note("  \(text)") }
        }
        let thread = WorkThread()
        let result = await withTaskCancellationHandler { () async -> Result<TPMBenchResult, TenonError> in
            do throws(TenonError) {
                return .success(try await thread.run { () throws(TenonError) in try bench.run() })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            bench.cancel()
        }
        return try result.get()
    }

    /// Whether the TPM is a simulator, including one that a virtual machine presents as a chip.
    private static func isSimulator(_ name: String, _ info: TPM.Info) -> Bool {
        name.hasPrefix("swtpm:") || name.hasPrefix("mssim:") || (info.maker == "IBM" && info.model.hasPrefix("SW"))
    }
}

/// `tenon bench compare`.
enum BenchCompareCommand {
    private static let limit = 64 << 20

    static func answer(_ arguments: Arguments) throws(TenonError) -> Answer {
        let (first, second) = (try results(arguments.operands[0]), try results(arguments.operands[1]))
        let comparison = try Comparison(first, second)
        return Answer(
            lines: comparison.text, json: comparison.json, category: comparison.isRegressed ? .rejected : nil)
    }

    private static func results(_ path: String) throws(TenonError) -> BenchResults {
        try BenchResults(parsing: SmallFile.read(path, atMost: limit), name: path)
    }
}

/// The output of `tenon bench`.
struct BenchReport {
    let machine: BenchMachine
    private let result: TPMBenchResult
    private let chip: String
    private let isSimulator: Bool

    init(_ result: TPMBenchResult, isSimulator: Bool) {
        self.result = result
        self.isSimulator = isSimulator
        chip = TPMCheck.description(result.info)
        machine = BenchMachine(tpm: chip)
    }

    var lines: [String] {
        heading + (result.lines.isEmpty ? commands : [""] + table + [""] + figures + [""] + chipLine)
    }

    private var heading: [String] {
        [("TPM", chip)].map { "\($0): \($1)" }
            + (isSimulator ? ["     a simulator: its times differ from a chip's; ratios and commands hold"] : [])
            + (result.lines.isEmpty
                ? [] : ["tenon \(tenonVersion) with \(tenonBackend), \(result.rounds) rounds of each line"])
    }

    /// The line for docs/chips.md.
    private var chipLine: [String] {
        ["A line for docs/chips.md, the table of chips:", result.chipLine(chip, isSimulator: isSimulator, on: machine)]
    }

    private var commands: [String] {
        result.commands.map { Columns.row([$0.line, $0.commands.joined(separator: " ")], [22, 0]) }
    }

    private static let widths = [22, -9, -9, -9, -9, -9, -8, -7, 0]

    private var table: [String] {
        [
            Columns.row(
                ["line", "p50 ms", "p95 ms", "p99 ms", "a second", "CPU us", "commands", "speed", "beside raw"],
                Self.widths)
        ]
            // The floor is the same for every line, so it is shown once.
            + result.lines.filter { $0.by == "tenon" || $0.line == "tpm-sign" }.map(row)
    }

    private func row(_ line: MeasuredLine) -> String {
        let speed = result.floor(of: line).map { Quartiles(speedOf: line.rounds, beside: $0.rounds) }
        return Columns.row(
            [
                line.by == "tenon" ? line.line : "  \(line.by)", Decimal.text(line.p50 / 1e6, 3),
                Decimal.text(line.p95 / 1e6, 3), Decimal.text(line.p99 / 1e6, 3), Decimal.text(line.perSecond, 1),
                Decimal.text(line.processor / 1e3, 1), line.commands.map { Decimal.text($0, 2) } ?? "",
                speed.map { Decimal.text($0.median, 3) } ?? "",
                speed.map { "(\(Decimal.text($0.low, 3))-\(Decimal.text($0.high, 3)))" } ?? "",
            ], Self.widths)
    }

    private var figures: [String] {
        result.figures.map { figure in
            let bound =
                switch figure.bound {
                case .atLeast(let value): ">= " + Decimal.text(value, 2)
                case .atMost(let value): "<= " + Decimal.text(value, 0)
                case nil: ""
                }
            return Columns.row(
                [
                    figure.name, figure.what, bound, figure.value.map { Decimal.text($0, 3) } ?? "-",
                    figure.isReached == true ? Terminal.text("reached", .green) : Terminal.text("not reached", .red),
                ], [3, 72, -7, -6, 0])
        }
    }

    var json: JSON {
        let lines = result.lines.map { line -> JSON in
            var object = JSONObject()
            object["line"] = .string(line.line)
            object["by"] = .string(line.by)
            for (name, value) in [
                ("p50_ns", line.p50), ("p95_ns", line.p95), ("p99_ns", line.p99), ("per_second", line.perSecond),
            ] { object[name] = .rounded(value, 1) }
            object["commands"] = line.commands.map { .rounded($0, 4) }
            return .object(object)
        }
        let sent = result.commands.map { line, names -> JSON in
            ["line": .string(line), "commands": .array(names.map { .string($0) })]
        }
        return [
            "tpm": .string(chip), "simulator": .bool(isSimulator), "rounds": .integer(Int64(result.rounds)),
            "lines": .array(lines), "commands": .array(sent), "figures": .array(result.figures.map(\.record)),
        ]
    }
}
