// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Answers, by the number of the job that asked.
final class Answers: Sendable {
    private struct Kept: Sendable {
        let status: Int
        let body: [UInt8]
    }

    private let all: Mutex<[Kept?]>

    init(_ count: Int) { all = Mutex(Array(repeating: nil, count: count)) }

    func put(_ answer: Connection.Answer, _ index: Int) {
        all.withLock { $0[index] = Kept(status: answer.status, body: answer.body) }
    }

    func take(_ index: Int) -> Connection.Answer? {
        all.withLock { $0[index] }.map { Connection.Answer(status: $0.status, body: $0.body) }
    }
}
