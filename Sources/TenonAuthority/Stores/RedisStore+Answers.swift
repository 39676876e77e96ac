// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension RedisStore: AnswerStore {
    package func answer(
        backend: String, requestID: String, request: Digest
    ) async throws(TenonError) -> StoredAnswer {
        let key = try answerKey(backend, requestID)
        guard let kept = try await run({ _ in [Array("GET".utf8), key] }).bytes else { return .none }
        return RedisStore.answer(kept, to: request)
    }

    private static func answer(_ kept: [UInt8], to request: Digest) -> StoredAnswer {
        let mark = request.rawRepresentation
        return kept.starts(with: mark) ? .answer(Array(kept.dropFirst(mark.count))) : .anotherRequest
    }

    /// KEYS: the answer, the mark of who has begun. ARGV: for how long that is there.
    private static let beginScript = RedisScript(
        text: """
            local kept = redis.call('GET', KEYS[1])
            if kept then return kept end
            return redis.call('SET', KEYS[2], '', 'NX', 'PX', ARGV[1]) and 1 or 0
            """)

    package func begin(
        backend: String, requestID: String, request: Digest
    ) async throws(TenonError) -> StoredAnswer {
        let keys = [try answerKey(backend, requestID), try answerKey(backend, requestID, "answering:")]
        let command = RedisStore.beginScript.command(keys, [Array("\(AnswerTerms.underWay)".utf8)])
        do throws(TenonError) {
            let reply = try await run { _ in command }
            if let kept = reply.bytes { return RedisStore.answer(kept, to: request) }
            return reply.integer == 1 ? .none : .underWay
        } catch {
            // Without room for the mark two who ask at once are a request and its replay.
            guard error.code == .storeFull else { throw error }
            return try await answer(backend: backend, requestID: requestID, request: request)
        }
    }

    package func abandon(backend: String, requestID: String) async throws(TenonError) {
        let key = try answerKey(backend, requestID, "answering:")
        _ = try await run { _ in [Array("DEL".utf8), key] }
    }

    /// KEYS: as above. ARGV: the answer, for how long it is there.
    private static let keepScript = RedisScript(
        text: """
            redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
            return redis.call('DEL', KEYS[2])
            """)

    package func keep(
        _ answer: [UInt8], backend: String, requestID: String, request: Digest
    ) async throws(TenonError) {
        let keys = [try answerKey(backend, requestID), try answerKey(backend, requestID, "answering:")]
        let command = RedisStore.keepScript.command(
            keys, [request.rawRepresentation + answer, Array("\(MemoryAnswerStore.retention)".utf8)])
        do throws(TenonError) {
            _ = try await run { _ in command }
        } catch {
            guard error.code == .storeFull else { throw error }
            try await abandon(backend: backend, requestID: requestID)
        }
    }

    /// The length of the first keeps the two apart.
    private func answerKey(
        _ backend: String, _ requestID: String, _ kind: String = "answer:"
    ) throws(TenonError) -> [UInt8] {
        let names = "\(backend.utf8.count):\(backend)\(requestID)"
        return key(kind, try Digest(hashing: Array(names.utf8)).rawRepresentation)
    }
}
