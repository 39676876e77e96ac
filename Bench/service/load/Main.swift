// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonBench

/// A load for authorities: see `Bench/README.md`.
@main struct Main {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        do throws(TenonError) {
            let options = try Options(CommandLine.arguments.dropFirst())
            if options.help { return Report.print(Options.text) }
            try run(options)
        } catch {
            Report.note("AuthorityBench: \(error.message)\n")
            exit(error.code.category.rawValue)
        }
    }

    private static func run(_ options: Options) throws(TenonError) {
        let maker = try options.ekRoot.map { path throws(TenonError) in
            let maker = try Maker(count: options.devices)
            try write(maker.root, to: path)
            return maker
        }
        let load = try Load(options, maker: maker)
        for instance in options.instances { try wait(for: instance) }
        if let process = options.process {
            let costs = try Costs(load, process: number(in: process), options)
            var records = BenchRecords()
            try costs.registrations(&records)
            try costs.verifiedRequests(&records)
            return try records.write(to: options.json)
        }
        var phases = [("register", load.register(Report.progress("register", of: load.devices.count)))]
        guard load.devices.allSatisfy({ !$0.id.isEmpty }) else {
            Report.table(phases)
            throw TenonError(.serviceAnswer, message: "Not all devices were registered.")
        }
        phases.append(("request", load.sign(options.requests, Report.progress("request", of: options.requests))))
        phases.append(("rotate", load.rotate(Report.progress("rotate", of: load.devices.count))))
        Report.table(phases)
        try Report.records(phases).write(to: options.json)
    }

    /// A minute.
    private static func wait(for instance: Instance) throws(TenonError) {
        for _ in 0..<600 {
            if (try? Connection(instance)) != nil { return }
            usleep(100_000)
        }
        _ = try Connection(instance)
    }

    private static func number(in path: String) throws(TenonError) -> Int32 {
        var number: Int32 = 0
        if let file = fopen(path, "r") {
            var line = [CChar](repeating: 0, count: 32)
            if fgets(&line, Int32(line.count), file) != nil { number = atoi(line) }
            fclose(file)
        }
        guard number > 0 else { throw Options.mistake("There is no process id in \(path).") }
        return number
    }

    private static func write(_ text: String, to path: String) throws(TenonError) {
        guard let file = fopen(path, "w") else { throw Options.mistake("\(path) cannot be written.") }
        fputs(text, file)
        guard fclose(file) == 0 else { throw Options.mistake("\(path) cannot be written.") }
    }
}
