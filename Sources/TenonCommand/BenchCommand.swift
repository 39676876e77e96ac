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
        let name = try setting.tpmName()
        let result = try await measured(name, try setting.tpmOptions(), plan)
        let report = BenchReport(result, isSimulator: isSimulator(name, result.info))
        let answer = Answer(lines: report.lines, json: report.json)
        do throws(TenonError) {
            try file?.write(result.records(of: report.machine))
        } catch {
            // What was measured is not lost with the file.
            if !arguments.has(Flag.json.name) { try answer.give(arguments) }
            throw error
        }
        try answer.give(arguments)
    }

    private static func plan(_ arguments: Arguments) throws(TenonError) -> TPMBench.Plan {
        var plan = TPMBench.Plan()
        plan.isSmoke = arguments.has("--smoke")
        plan.isPersisting = arguments.has("--persist")
        if let text = try arguments.value("--rounds") {
            guard let rounds = Int(text), 1...10_000 ~= rounds else {
                throw arguments.mistake("--rounds is a number from 1 to 10000.")
            }
            plan.rounds = rounds
        }
        guard plan.isSmoke || !BenchBuild.isDebug else {
            throw TenonError(
                .options,
                message: "Figures of a debug build say nothing.\n"
                    + "Build it with: swift build -c release --product tenon; or see whether each line works: tenon bench --smoke"
            )
        }
        return plan
    }

    /// On a thread of its own, as it blocks; what it made in the TPM is gone when this returns.
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

    /// Also one that a virtual machine has for a chip.
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
