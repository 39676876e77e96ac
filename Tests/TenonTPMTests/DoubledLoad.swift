// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon

@testable import AuthorityBench

/// A load that sends everything twice, to two instances at once: one of each pair may be accepted.
///
/// A challenge is redeemed twice, by one key or by two; a request is sent twice, or its signature under two nonces; a
/// rotation is sent twice, or two of them by one key.
struct Doubled {
    let crew: Crew
    let devices: [LoadDevice]
    let requests: Int

    /// The number of each result of a step: `register: 200, 400 INVALID_CHALLENGE`, in alphabetical order.
    final class Outcomes: Sendable {
        private let all = Mutex<[String: Int]>([:])

        var counts: [String: Int] { all.withLock { $0 } }

        /// The index of the accepted request.
        ///
        /// - Throws: ``TenonError/Code/serviceAnswer`` when not exactly one was accepted.
        func one(_ step: String, _ answers: [Connection.Answer]) throws(TenonError) -> Int {
            let verdicts = answers.map(\.verdict).sorted().joined(separator: ", ")
            all.withLock { $0["\(step): \(verdicts)", default: 0] += 1 }
            let good = answers.indices.filter { answers[$0].status == 200 }
            guard good.count == 1 else {
                throw TenonError(
                    .serviceAnswer, message: "Of two that may not both be good, so many were: \(good.count).")
            }
            return good[0]
        }
    }

    /// Blocks until everything was sent.
    func run() -> (samples: Samples, outcomes: [String: Int]) {
        let outcomes = Outcomes()
        let samples = crew.run(devices.count) { [devices, requests] index, lines throws(TenonError) in
            let (device, isSame) = (devices[index], index % 2 == 0)
            try register(device, isSame, lines, outcomes)
            for number in 0..<requests { try sign(device, (index + number) % 2 == 0, lines, outcomes) }
            try rotate(device, isSame, lines, outcomes)
            // The authority holds the key of the accepted one.
            let answer = try lines.exchange(try device.request("GET", "/auth/v1/device/self"))
            guard answer.status == 200 else { throw TenonError(.serviceAnswer, message: answer.verdict) }
        }
        return (samples, outcomes.counts)
    }
}

private func register(
    _ device: LoadDevice, _ isSame: Bool, _ lines: Lines, _ outcomes: Doubled.Outcomes
) throws(TenonError) {
    let challenge = try lines.exchange(try device.challenge())
    let keys = isSame ? [device.key, device.key] : [device.key, try SoftwareKey()]
    let first = try device.registration(challenge, of: keys[0])
    let second = isSame ? first : try device.registration(challenge, of: keys[1])
    let answers = try lines.both(first, second)
    let good = try outcomes.one("register", answers)
    try device.registered(answers[good], key: keys[good])
}

private func sign(
    _ device: LoadDevice, _ isSame: Bool, _ lines: Lines, _ outcomes: Doubled.Outcomes
) throws(TenonError) {
    let pair = try device.requests("POST", "/auth/v1/echo", Array("{}".utf8), nonces: isSame ? 1 : 2)
    _ = try outcomes.one("sign", try lines.both(pair[0], pair[pair.count - 1]))
}

private func rotate(
    _ device: LoadDevice, _ isSame: Bool, _ lines: Lines, _ outcomes: Doubled.Outcomes
) throws(TenonError) {
    let first = try device.rotation()
    let second = isSame ? first : try device.rotation()
    let good = try outcomes.one("rotate", try lines.both(first.request, second.request))
    device.rotated(to: [first, second][good].key)
}
