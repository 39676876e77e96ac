// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import TestEvidence
import Testing

@Suite struct PendingActivationsTests {
    private let ak: PublicArea

    init() throws { ak = try PublicArea(dataRepresentation: ProofRig().akArea) }

    private func activation(_ number: Int, deadline: Int64 = 90) -> PendingActivation {
        PendingActivation(ak: ak, ekCertificate: [UInt8(number >> 8 & 0xff), UInt8(number & 0xff)], deadline: deadline)
    }

    private func digest(_ number: Int) throws -> Digest { try Digest(hashing: Array("\(number)".utf8)) }

    @Test func takenOnce() throws {
        let pending = PendingActivations()
        let digest = try digest(1)
        try pending.put(activation(1), for: digest, now: 0)
        #expect(try pending.take(self.digest(2)) == nil)
        #expect(pending.take(digest) == activation(1))
        #expect(pending.take(digest) == nil)
        #expect(pending.count == 0)
    }

    /// A full store refuses: no activation is dropped for another one.
    @Test func tenThousandAndNoMore() throws {
        let pending = PendingActivations()
        for number in 0..<10_000 { try pending.put(activation(number), for: digest(number), now: 0) }
        let more = try digest(10_000)
        for now in [0, 1, 89] as [Int64] {
            let error = #expect(throws: TenonError.self) { try pending.put(activation(10_000), for: more, now: now) }
            #expect(error?.code == .pendingFull)
            #expect(error?.code.category == .transient)
            #expect(error?.retryAfter == .seconds(90 - now))
        }
        #expect(pending.count == 10_000)
        for number in 0..<10_000 { #expect(try pending.take(digest(number)) == activation(number)) }
        try pending.put(activation(10_000), for: more, now: 1)
        #expect(pending.count == 1)
    }

    /// Only expired entries make room.
    @Test func theEndedMakeRoom() throws {
        let pending = PendingActivations(capacity: 3)
        try pending.put(activation(1, deadline: 10), for: digest(1), now: 0)
        try pending.put(activation(2, deadline: 20), for: digest(2), now: 0)
        try pending.put(activation(3, deadline: 30), for: digest(3), now: 0)
        try pending.put(activation(4, deadline: 100), for: digest(4), now: 10)
        #expect(try pending.take(digest(1)) == nil)
        let error = #expect(throws: TenonError.self) { try pending.put(activation(5), for: digest(5), now: 19) }
        #expect(error?.retryAfter == .seconds(1))
        try pending.put(activation(5), for: digest(5), now: 40)
        #expect(pending.count == 2)
        #expect(try pending.take(digest(4)) == activation(4, deadline: 100))
        #expect(try pending.take(digest(5)) == activation(5))
    }

    @Test(arguments: [0, -1, Int.min]) func oneAtLeast(_ capacity: Int) throws {
        let pending = PendingActivations(capacity: capacity)
        try pending.put(activation(1), for: digest(1), now: .min)
        let error = #expect(throws: TenonError.self) { try pending.put(activation(2), for: digest(2), now: .min) }
        #expect(error?.code == .pendingFull)
        #expect(pending.count == 1)
    }

    /// Of all callers that take one secret, one gets it.
    @Test func oneWins() async throws {
        let pending = PendingActivations()
        let digests = try (0..<1_000).map(digest)
        for (number, digest) in digests.enumerated() { try pending.put(activation(number), for: digest, now: 0) }
        let won = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<4 { group.addTask { digests.indices.filter { pending.take(digests[$0]) != nil } } }
            return await group.reduce([], +)
        }
        #expect(won.sorted() == Array(digests.indices))
        #expect(pending.count == 0)
    }

    @Test func neverMoreThanItMay() async throws {
        let pending = PendingActivations(capacity: 100)
        let (ak, digests) = try (ak, (0..<400).map(digest))
        let kept = await withTaskGroup(of: Int.self) { group in
            for part in 0..<4 {
                group.addTask {
                    digests[(part * 100)..<(part * 100 + 100)].count { digest in
                        let one = PendingActivation(ak: ak, ekCertificate: [], deadline: 90)
                        return (try? pending.put(one, for: digest, now: 0)) != nil
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(kept == 100)
        #expect(pending.count == 100)
    }
}
