// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
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
        guard process > 0, clock_getcpuclockid(process, &clock) == 0 else {
            throw Options.mistake("There is no process \(process).")
        }
        self.load = load
        self.clock = clock
        rounds = options.rounds
        requests = max(options.requests / options.rounds, 1)
        isSmoke = options.isSmoke
    }

    /// Nanoseconds of a CPU so far.
    private func used() -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// Microseconds of CPU for one of so many.
    private func cost(_ count: Int, _ body: () -> Samples) throws(TenonError) -> (cost: Double, samples: Samples) {
        let began = used()
        let samples = body()
        let cost = (used() - began) / 1e3 / Double(count)
        guard samples.errors.isEmpty, samples.latencies.count >= count else {
            throw TenonError(.serviceAnswer, message: "Not all answers were good: \(samples.errors).")
        }
        return (cost, samples)
    }

    /// In two steps, so that what a TPM does between them takes none of the time.
    func registrations(_ records: inout BenchRecords) throws(TenonError) {
        let answers = Answers()
        let devices = load.devices
        let challenges = try cost(devices.count) {
            load.crew.run(devices.count) { index, lines throws(TenonError) in
                let answer = try lines.exchange(try devices[index].challenge())
                answers.all.withLock { $0[index] = answer }
            }
        }
        var bodies: [[UInt8]] = []
        for (index, device) in devices.enumerated() {
            guard let answer = answers.all.withLock({ $0[index] }) else {
                throw Options.mistake("A challenge is missing.")
            }
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
        records.add([
            BenchFigure(
                "P10", "registrations of an authority on one core", .atLeast(500), isSmoke ? nil : rate, "/s")
        ])
        guard !isSmoke else { return }
        records.add(try challenges.samples.line("challenge", processor: 1e3 * challenges.cost))
        records.add(try registered.samples.line("register", processor: 1e3 * registered.cost))
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
        let figures = [
            ("a verified request beyond its exchange and its verification", BenchFigure.Bound.atMost(60), median.rest),
            ("  its HTTP exchange", nil, median.exchange), ("  its verification", nil, median.verification),
        ]
        records.add(figures.map { BenchFigure("P10", $0, $1, isSmoke ? nil : $2, "us") })
        if !isSmoke { records.add(try samples.line("request", processor: 1e3 * median.echo)) }
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
            signed.append((try hashed.finish(), try key.blockingSignature(for: .request(message))))
        }
        let publicKey = key.publicKey
        let began = BenchClock.thread.now
        for (digest, signature) in signed where !publicKey.isValidSignature(signature, for: digest) {
            throw TenonError(.signatureInvalid, message: "A signature of the load is none.")
        }
        return (BenchClock.thread.now - began) / 1e3 / Double(signed.count)
    }
}

/// By the number of the job that asked.
private final class Answers: Sendable {
    let all = Mutex<[Int: Connection.Answer]>([:])
}
