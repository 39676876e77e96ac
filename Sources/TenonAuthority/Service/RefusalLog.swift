// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// Tells an operator why devices are refused: a line each, and few of them, since anybody can have requests refused. What
/// has no line is counted, and metrics have all of it by cause.
final class RefusalLog: Sendable {
    /// In all, and of one cause: a flood of one hides no other.
    private static let linesPerSecond = 10
    private static let linesOfCause = 3
    /// That are not written yet, as what reads them may have stopped.
    private static let mostWaiting = 100

    private struct State {
        var second: Int64 = .min
        var lines = 0
        var ofCause: [String: Int] = [:]
        var leftOut = 0
        var waiting = 0

        /// Whether one more may have a line; how many before it had none.
        mutating func enter(_ cause: String, at second: Int64) -> Int? {
            if self.second != second { (self.second, lines, ofCause) = (second, 0, [:]) }
            guard lines < linesPerSecond, ofCause[cause, default: 0] < linesOfCause, waiting < mostWaiting else {
                leftOut += 1
                return nil
            }
            lines += 1
            waiting += 1
            ofCause[cause, default: 0] += 1
            defer { leftOut = 0 }
            return leftOut
        }
    }

    private let write: (@Sendable (String) -> Void)?
    private let state = Mutex(State())
    private let thread = WorkThread()

    /// - Parameter write: takes a line; it may block, and is called on one thread.
    init(_ write: (@Sendable (String) -> Void)?) { self.write = write }

    /// - Parameter app: looks for the app; asked only when there is going to be a line.
    func tell(
        _ refusal: Refusal, _ endpoint: Endpoint, from peer: String, at now: AuthorityInstant, app: () -> String?
    ) {
        guard let write else { return }
        let before = state.withLock { $0.enter("\(endpoint.label) \(refusal.cause)", at: now.boot / 1_000) }
        guard let before else { return }
        let asker = peer.isEmpty ? "a unix socket" : peer
        let cause = refusal.cause.replacing("_", with: " ")
        let line =
            "refused: \(endpoint.label), app \(app() ?? "unknown"), from \(asker): "
            + "\(refusal.status) \(refusal.code.rawValue), \(cause): \(refusal.message)"
        do throws(TenonError) {
            try thread.queue.add(thread.queue.ticket()) { [self] _ in
                if before > 0 { write(RefusalLog.text(before)) }
                write(line)
                state.withLock { $0.waiting -= 1 }
            }
        } catch {
            state.withLock { state in
                state.waiting -= 1
                state.leftOut += before + 1
            }
        }
    }

    /// Writes what waits, and how many had no line.
    func close() async {
        guard let write else { return }
        let left = state.withLock { state in
            defer { state.leftOut = 0 }
            return state.leftOut
        }
        _ = try? await thread.run { () throws(TenonError) in
            if left > 0 { write(RefusalLog.text(left)) }
        }
    }

    private static func text(_ count: Int) -> String {
        "\(count) more \(count == 1 ? "refusal has" : "refusals have") no line: the metrics count them by cause"
    }
}
