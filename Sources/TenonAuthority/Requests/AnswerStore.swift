// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// The answers that were given to backends. A backend that lost an answer can ask again without causing a replay
/// (decision: verify-endpoint).
package protocol AnswerStore: Sendable {
    /// The answer under this `request_id` of this backend, for 60 s.
    ///
    /// - Parameter request: the digest of the whole question: another question under the same id is no retry.
    func answer(backend: String, requestID: String, request: Digest) async throws(TenonError) -> StoredAnswer

    /// Does the same; and if there is no answer and nobody is about to give one, reserves it for the caller, who must
    /// then call ``keep`` or ``abandon``. The reservation lapses after ``AnswerTerms/underWay``.
    func begin(backend: String, requestID: String, request: Digest) async throws(TenonError) -> StoredAnswer

    /// Keeps an answer. If there is no room, it is not kept, and a retry counts as a replay, which is safe and rare.
    func keep(_ answer: [UInt8], backend: String, requestID: String, request: Digest) async throws(TenonError)

    /// Ends the caller's reservation without an answer, because the request was refused. Another caller may ask.
    func abandon(backend: String, requestID: String) async throws(TenonError)
}

package enum AnswerTerms {
    /// Milliseconds for which a caller that has begun keeps others waiting: longer than an answer takes.
    package static let underWay: Int64 = 5_000
}

package enum StoredAnswer: Equatable, Sendable {
    case none
    case answer([UInt8])
    /// The id was used for another question.
    case anotherRequest
    /// Another caller is about to give the answer.
    case underWay
}

/// The answers of one process, in memory. After a restart, a retry counts as a replay.
package final class MemoryAnswerStore: AnswerStore {
    private struct Key: Hashable {
        let backend: String
        let requestID: String
    }

    private struct State {
        var answers: [Key: (request: Digest, answer: [UInt8])] = [:]
        var order = ExpiryQueue<Key>()
        /// The time until which callers that have begun keep others waiting.
        var begun: [Key: Int64] = [:]

        mutating func forget(at now: AuthorityInstant) {
            while let key = order.popExpired(at: now.boot) { answers[key] = nil }
        }
    }

    /// Milliseconds for which an answer is kept (decision: verify-endpoint).
    package static let retention: Int64 = 60_000

    private let clock: any AuthorityClock
    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: the most answers that are kept at a time.
    package init(clock: any AuthorityClock, limit: Int = 100_000) {
        self.clock = clock
        self.limit = limit
    }

    package func answer(
        backend: String, requestID: String, request: Digest
    ) async throws(TenonError) -> StoredAnswer {
        let now = clock.now()
        return state.withLock { state in
            state.forget(at: now)
            guard let kept = state.answers[Key(backend: backend, requestID: requestID)] else { return .none }
            return kept.request == request ? .answer(kept.answer) : .anotherRequest
        }
    }

    package func begin(
        backend: String, requestID: String, request: Digest
    ) async throws(TenonError) -> StoredAnswer {
        let now = clock.now()
        let key = Key(backend: backend, requestID: requestID)
        return state.withLock { state in
            state.forget(at: now)
            if let kept = state.answers[key] { return kept.request == request ? .answer(kept.answer) : .anotherRequest }
            if let end = state.begun[key], end > now.boot { return .underWay }
            state.begun[key] = now.boot + AnswerTerms.underWay
            return .none
        }
    }

    package func abandon(backend: String, requestID: String) async throws(TenonError) {
        let key = Key(backend: backend, requestID: requestID)
        state.withLock { state in state.begun[key] = nil }
    }

    package func keep(
        _ answer: [UInt8], backend: String, requestID: String, request: Digest
    ) async throws(TenonError) {
        let now = clock.now()
        let key = Key(backend: backend, requestID: requestID)
        state.withLock { state in
            state.forget(at: now)
            state.begun[key] = nil
            guard state.answers.count < limit, state.answers[key] == nil else { return }
            state.answers[key] = (request, answer)
            state.order.append(key, until: now.boot + MemoryAnswerStore.retention)
        }
    }
}
