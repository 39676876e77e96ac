// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension RedisStore: AnswerStore {
    package func answer(
        backend: String, requestID: String, request: Digest
    ) async throws(TenonError) -> StoredAnswer {
        let key = try answerKey(backend, requestID)
        guard let kept = try await run({ _ in [Array("GET".utf8), key] }).bytes else { return .none }
        let mark = request.rawRepresentation
        return kept.starts(with: mark) ? .answer(Array(kept.dropFirst(mark.count))) : .anotherRequest
    }

    package func keep(
        _ answer: [UInt8], backend: String, requestID: String, request: Digest
    ) async throws(TenonError) {
        let key = try answerKey(backend, requestID)
        let time = ["NX", "PX", "\(MemoryAnswerStore.retention)"].map { Array($0.utf8) }
        do throws(TenonError) {
            _ = try await run { _ in [Array("SET".utf8), key, request.rawRepresentation + answer] + time }
        } catch {
            guard error.code == .storeFull else { throw error }
        }
    }

    /// The length of the first keeps the two apart.
    private func answerKey(_ backend: String, _ requestID: String) throws(TenonError) -> [UInt8] {
        let names = "\(backend.utf8.count):\(backend)\(requestID)"
        return key("answer:", try Digest(hashing: Array(names.utf8)).rawRepresentation)
    }
}
