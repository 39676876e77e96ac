// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// Figure P10 of the design: CPU time of the authority's process, on connections that are kept.
///
/// A request is told apart by pairs of rounds with the same connections: the same bytes to `/health`, which does
/// nothing, are its HTTP exchange; the same number of verifications in a loop, here and by the same library, are its
/// verification. What is left is the authority's.
struct Figure {
    let load: Load
    let clock: clockid_t
    let rounds: Int
    let requests: Int

    /// - Throws: ``TenonError/Code/options`` when there is no such process.
    init(_ load: Load, process: Int32, _ options: Options) throws(TenonError) {
        var clock = clockid_t()
        guard clock_getcpuclockid(process, &clock) == 0 else {
            throw Options.mistake("There is no process \(process).")
        }
        self.load = load
        self.clock = clock
        rounds = options.rounds
        requests = options.requests / options.rounds
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
    func registrations() throws(TenonError) {
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
        Report.print(
            "registration: challenge \(Report.rounded(challenges.cost, 0)) us, register "
                + "\(Report.rounded(registered.cost, 0)) us of CPU; \(Report.rounded(rate, 0))/s on one core "
                + "(\(Report.rounded(Double(devices.count) / seconds, 0))/s by the clock), at least 500: "
                + "\(rate >= 500 ? "reached" : "NOT REACHED")\n")
        Report.line([
            "figure": "P10", "name": "registrations", "challenge_us": .number(challenges.cost),
            "register_us": .number(registered.cost), "per_second": .number(rate), "at_least": 500,
        ])
    }

    func verifiedRequests() throws(TenonError) {
        let idle = Load(load, path: "/health")
        _ = try cost(requests) { load.sign(requests) }
        var rest: [(rest: Double, echo: Double, exchange: Double, verification: Double)] = []
        for _ in 0..<rounds {
            let exchange = try cost(requests) { idle.sign(requests) }.cost
            let echo = try cost(requests) { load.sign(requests) }.cost
            let verification = try verifications()
            rest.append((echo - exchange - verification, echo, exchange, verification))
        }
        rest.sort { $0.rest < $1.rest }
        let median = rest[rest.count / 2]
        Report.print(
            "verified request: \(Report.rounded(median.echo, 1)) us of CPU, of which the exchange "
                + "\(Report.rounded(median.exchange, 1)) and the verification \(Report.rounded(median.verification, 1)); "
                + "the rest \(Report.rounded(median.rest, 1)) us (\(Report.rounded(rest[0].rest, 1)) to "
                + "\(Report.rounded(rest[rest.count - 1].rest, 1)) in \(rounds) rounds of \(requests)), at most 60: "
                + "\(median.rest <= 60 ? "reached" : "NOT REACHED")\n")
        Report.line([
            "figure": "P10", "name": "verified_request", "request_us": .number(median.echo),
            "exchange_us": .number(median.exchange), "verification_us": .number(median.verification),
            "rest_us": .number(median.rest), "at_most": 60,
        ])
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
