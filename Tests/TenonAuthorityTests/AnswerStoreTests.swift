// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

@Suite struct AnswerStoreTests {
    private var stores: TestStores { .current }

    @Test(.stores) func anAnswerIsGivenAgain() async throws {
        let (one, two) = (try Sample.digest("one"), try Sample.digest("two"))
        let answers = stores.answers
        #expect(try await answers.answer(backend: "b", requestID: "1", request: one) == .none)
        try await answers.keep([1, 0, 255], backend: "b", requestID: "1", request: one)
        try await answers.keep([], backend: "b", requestID: "2", request: two)
        #expect(try await answers.answer(backend: "b", requestID: "1", request: one) == .answer([1, 0, 255]))
        #expect(try await answers.answer(backend: "b", requestID: "2", request: two) == .answer([]))
        // The id of one question is not for another, and that of one backend not for another.
        #expect(try await answers.answer(backend: "b", requestID: "1", request: two) == .anotherRequest)
        #expect(try await answers.answer(backend: "c", requestID: "1", request: one) == .none)
        // The first answer is the one that was given.
        try await answers.keep([2], backend: "b", requestID: "1", request: one)
        try await answers.keep([3], backend: "b", requestID: "1", request: two)
        #expect(try await answers.answer(backend: "b", requestID: "1", request: one) == .answer([1, 0, 255]))
    }

    /// Of several simultaneous callers, one gives the answer, and the others wait for it.
    @Test(.stores) func oneGivesTheAnswer() async throws {
        let (answers, one) = (stores.answers, try Sample.digest("one"))
        @Sendable func begin(_ backend: String = "b", _ text: String = "one") async throws -> StoredAnswer {
            try await answers.begin(backend: backend, requestID: "1", request: Sample.digest(text))
        }
        let begun = try await atOnce(16) { _ in try await begin() }
        #expect(begun.count { $0 == .none } == 1 && begun.count { $0 == .underWay } == 15)
        #expect(try await begin("c") == .none)
        #expect(try await answers.answer(backend: "b", requestID: "1", request: one) == .none)
        try await answers.abandon(backend: "b", requestID: "1")
        #expect(try await begin() == .none)
        try await answers.keep([7], backend: "b", requestID: "1", request: one)
        #expect(try await begin() == .answer([7]))
        #expect(try await begin("b", "two") == .anotherRequest)
    }

    /// A caller that began and was killed does not keep others waiting for long.
    @Test func whoBeganIsNotWaitedForForEver() async throws {
        try await StoreKind.sqlite.withStores { stores in
            let one = try Sample.digest("one")
            for (milliseconds, expected) in [(Int64(0), StoredAnswer.none), (4_999, .underWay), (1, .none)] {
                stores.clock.advance(milliseconds)
                #expect(try await stores.answers.begin(backend: "b", requestID: "1", request: one) == expected)
            }
        }
    }

    /// Pairs of names whose concatenations are equal.
    @Test(.stores) func namesAreApart() async throws {
        let request = try Sample.digest("one")
        let names = [("a", "b:c"), ("a:b", "c"), ("a", "b\0c"), ("a\0b", "c"), ("", "abc"), ("abc", "")]
        for (index, (backend, id)) in names.enumerated() {
            try await stores.answers.keep([UInt8(index)], backend: backend, requestID: id, request: request)
        }
        for (index, (backend, id)) in names.enumerated() {
            let answer = try await stores.answers.answer(backend: backend, requestID: id, request: request)
            #expect(answer == .answer([UInt8(index)]))
        }
    }

    @Test func keptFor60Seconds() async throws {
        try await StoreKind.sqlite.withStores { stores in
            let request = try Sample.digest("one")
            try await stores.answers.keep([1], backend: "b", requestID: "1", request: request)
            stores.clock.advance(59_999)
            #expect(try await stores.answers.answer(backend: "b", requestID: "1", request: request) == .answer([1]))
            stores.clock.advance(1)
            #expect(try await stores.answers.answer(backend: "b", requestID: "1", request: request) == .none)
        }
    }

    @Test func withoutRoomNothingIsKeptAndNothingLost() async throws {
        try await StoreKind.sqlite.withStores { stores in
            let request = try Sample.digest("one")
            for id in 0..<65 {
                try await stores.answers.keep([UInt8(id)], backend: "b", requestID: "\(id)", request: request)
            }
            #expect(try await stores.answers.answer(backend: "b", requestID: "0", request: request) == .answer([0]))
            #expect(try await stores.answers.answer(backend: "b", requestID: "63", request: request) == .answer([63]))
            #expect(try await stores.answers.answer(backend: "b", requestID: "64", request: request) == .none)
            stores.clock.advance(60_000)
            try await stores.answers.keep([7], backend: "b", requestID: "64", request: request)
            #expect(try await stores.answers.answer(backend: "b", requestID: "64", request: request) == .answer([7]))
        }
    }
}
