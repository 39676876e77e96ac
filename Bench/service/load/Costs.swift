// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonBench

/// Figure P10 of the design: CPU time of the authority's process, on connections that are kept.
///
/// A request is told apart by pairs of rounds with the same connections: the same bytes to `/health`, which does
/// nothing, are its HTTP exchange; the same number of verifications in a loop, here and by the same library, are its
/// verification. What is left is the authority's.
struct Costs {
    let load: Load
    let clock: clockid_t
    let rounds: Int
    let requests: Int
    let isSmoke: Bool

    /// - Throws: ``TenonError/Code/options`` when there is no such process.
    init(_ load: Load, process: Int32, _ options: Options) throws(TenonError) {
        var clock = clockid_t()
        guard clock_getcpuclockid(process, &clock) == 0 else {
            throw Options.mistake("There is no process \(process).")
        }
        self.load = load
        self.clock = clock
        rounds = options.rounds
        requests = max(options.requests / options.rounds, 1)
        isSmoke = options.isSmoke
    }

    /// Microseconds of CPU for one of so many.
    private func cost(_ count: Int, _ body: () -> Samples) throws(TenonError) -> (cost: Double, samples: Samples) {
        let began = nanoseconds(clock)
        let samples = body()
        let cost = Double(nanoseconds(clock) - began) / 1e3 / Double(count)
        guard samples.errors.isEmpty, samples.latencies.count >= count else {
            throw TenonError(.serviceAnswer, message: "Not all answers were good: \(samples.errors).")
        }
        return (cost, samples)
    }

    /// In two steps, so that what a TPM does between them takes none of the time.
    func registrations(_ records: inout BenchRecords) throws(TenonError) {
        let answers = Answers(load.devices.count)
        let devices = load.devices
        let challenges = try cost(devices.count) {
            load.crew.run(devices.count) { index, lines throws(TenonError) in
                answers.put(try lines.exchange(try devices[index].challenge()), index)
            }
        }
        var bodies: [[UInt8]] = []
        for (index, device) in devices.enumerated() {
            guard let answer = answers.take(index) else { throw Options.mistake("A challenge is missing.") }
            bodies.append(try device.registration(answer))
        }
        let requests = bodies
        let registered = try cost(devices.count) {
            load.crew.run(devices.count) { index, lines throws(TenonError) in
                let answer = try lines.exchange(requests[index])
                if answer.status == 200 { try devices[index].registered(answer) }
            }
        }
        let rate = 1e6 / (challenges.cost + registered.cost)
        let seconds = challenges.samples.seconds + registered.samples.seconds
        let byTheClock = Double(devices.count) / seconds
        let figure = BenchFigure(
            "P10", "registrations of an authority on one core", .atLeast(500), isSmoke ? nil : rate, "/s")
        records.add([figure])
        guard !isSmoke else { return }
        Report.print(
            "registration: challenge \(Decimal.text(challenges.cost, 0)) us, register "
                + "\(Decimal.text(registered.cost, 0)) us of CPU; \(Decimal.text(rate, 0))/s on one core "
                + "(\(Decimal.text(byTheClock, 0))/s by the clock), \(figure.verdict)\n")
        records.add(line("challenge", challenges.samples, challenges.cost))
        records.add(line("register", registered.samples, registered.cost))
    }

    private func line(_ name: String, _ samples: Samples, _ cost: Double) -> MeasuredLine {
        MeasuredLine(
            "authority-" + name, samples.latencies.map(Double.init), processor: 1e3 * cost, perSecond: samples.rate)
    }

    func verifiedRequests(_ records: inout BenchRecords) throws(TenonError) {
        let idle = Load(load, path: "/health")
        _ = try cost(requests) { load.sign(requests) }
        var all: [Round] = []
        var samples = Samples()
        for _ in 0..<rounds {
            let exchange = try cost(requests) { idle.sign(requests) }.cost
            let echo = try cost(requests) { load.sign(requests) }
            samples.add(echo.samples)
            all.append(Round(echo: echo.cost, exchange: exchange, verification: try verifications()))
        }
        all.sort { $0.rest < $1.rest }
        let median = all[all.count / 2]
        let figure = BenchFigure(
            "P10", "a verified request beyond its exchange and its verification", .atMost(60),
            isSmoke ? nil : median.rest, "us")
        records.add([figure])
        guard !isSmoke else { return }
        Report.print(
            "verified request: \(Decimal.text(median.echo, 1)) us of CPU, of which the exchange "
                + "\(Decimal.text(median.exchange, 1)) and the verification \(Decimal.text(median.verification, 1)); "
                + "the rest \(Decimal.text(median.rest, 1)) us (\(Decimal.text(all[0].rest, 1)) to "
                + "\(Decimal.text(all[all.count - 1].rest, 1)) in \(rounds) rounds of \(requests)), \(figure.verdict)\n"
        )
        var line = line("request", samples, median.echo)
        line.more["parts_ns"] = [
            "HTTP exchange": .number(1e3 * median.exchange), "verification": .number(1e3 * median.verification),
            "what is left": .number(1e3 * median.rest),
        ]
        records.add(line)
    }

    /// Microseconds of CPU for one request.
    private struct Round {
        let echo: Double
        let exchange: Double
        let verification: Double

        var rest: Double { echo - exchange - verification }
    }

    /// Microseconds of this thread for one verification, as the authority asks for it.
    private func verifications() throws(TenonError) -> Double {
        let key = load.devices[0].key
        var signed: [(Digest, Signature)] = []
        for index in 0..<500 {
            let message = try RequestMessage(method: "POST", path: "/", timestamp: "\(1_800_000_000 + index)")
            var hashed = message
            signed.append((try hashed.finish(), try key.blockingSignature(for: message)))
        }
        let publicKey = key.publicKey
        let began = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
        for (digest, signature) in signed where !publicKey.isValidSignature(signature, for: digest) {
            throw TenonError(.signatureInvalid, message: "A signature of the load is none.")
        }
        return Double(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - began) / 1e3 / Double(signed.count)
    }
}
