// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonBench

/// A load for authorities: see `Bench/README.md`.
@main struct Main {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            if options.help { return print(Options.text, terminator: "") }
            let flows = try options.flows.map { state in try Flows(options, tpmState: state) }
            let records = if let flows { try await flows.run() } else { try run(options) }
            try records.write(to: "/dev/stdout")
        } catch {
            let known = error as? TenonError
            let message = "AuthorityBench: \(known?.message ?? "\(error)")\n"
            _ = Glibc.write(2, message, message.utf8.count)
            exit(known?.code.category.rawValue ?? 1)
        }
    }

    private static func run(_ options: Options) throws(TenonError) -> BenchRecords {
        let maker = try options.ekRoot.map { path throws(TenonError) in
            let maker = try Maker(count: options.devices)
            try write(maker.root, to: path)
            return maker
        }
        if let deed = options.counted, let maker {
            for instance in options.instances { try wait(for: instance) }
            try CertifiedDevice.run(deed, options, maker)
            return BenchRecords()
        }
        let load = try Load(options, maker: maker)
        var records = BenchRecords()
        if options.isFigure {
            let costs = try Costs(load, process: readLine().flatMap { Int32($0) } ?? 0, options)
            try costs.registrations(&records)
            try costs.verifiedRequests(&records)
            return records
        }
        for instance in options.instances { try wait(for: instance) }
        records.add(try load.register().line("register"))
        guard load.devices.allSatisfy({ !$0.id.isEmpty }) else {
            try records.write(to: "/dev/stdout")
            throw TenonError(.serviceAnswer, message: "Not all devices were registered.")
        }
        records.add(try load.sign(options.requests, as: "request").line("request"))
        records.add(try load.rotate().line("rotate"))
        return records
    }

    /// Five minutes: under valgrind an authority takes its time to start.
    private static func wait(for instance: Instance) throws(TenonError) {
        for _ in 0..<3_000 {
            if (try? Connection(instance)) != nil { return }
            usleep(100_000)
        }
        _ = try Connection(instance)
    }

    private static func write(_ text: String, to path: String) throws(TenonError) {
        guard let file = fopen(path, "w") else { throw Options.mistake("\(path) cannot be written.") }
        fputs(text, file)
        guard fclose(file) == 0 else { throw Options.mistake("\(path) cannot be written.") }
    }
}
