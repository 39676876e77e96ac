// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The answers that backends were given, so that one that was lost can be asked for again without being a replay
/// (decision: verify-endpoint).
package protocol AnswerStore: Sendable {
    /// The answer under this `request_id` of this backend, for 60 s.
    ///
    /// - Parameter request: the digest of all that was asked: another question under the same id is no retry.
    func answer(backend: String, requestID: String, request: Digest) async throws(TenonError) -> StoredAnswer

    /// The same; and where there is no answer, and nobody is about to give it, the caller is. It calls ``keep`` or
    /// ``abandon`` then; who does neither is out of the way after ``AnswerTerms/underWay``.
    func begin(backend: String, requestID: String, request: Digest) async throws(TenonError) -> StoredAnswer

    /// Keeps an answer. Where there is no room it is not kept, and a retry is a replay: safe, and rare.
    func keep(_ answer: [UInt8], backend: String, requestID: String, request: Digest) async throws(TenonError)

    /// There will be no answer, as the request was refused: another may ask.
    func abandon(backend: String, requestID: String) async throws(TenonError)
}

package enum AnswerTerms {
    /// Milliseconds for which one that has begun keeps others waiting: longer than an answer takes.
    package static let underWay: Int64 = 5_000
}

package enum StoredAnswer: Equatable, Sendable {
    case none
    case answer([UInt8])
    /// The id was used for another question.
    case anotherRequest
    /// Somebody else is about to give it.
    case underWay
}
