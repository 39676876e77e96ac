// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Tenon

struct SleepTests {
    @Test func noTaskWakesEarly() async {
        await withTaskGroup(of: Void.self) { group in
            for milliseconds in [30, 10, 20, 0] {
                group.addTask {
                    let end = ContinuousClock.now.advanced(by: .milliseconds(milliseconds))
                    try? await Sleep.until(end)
                    #expect(ContinuousClock.now >= end)
                }
            }
        }
    }

    @Test func whatIsOverIsNotWaitedFor() async throws {
        try await Sleep.until(.now)
        try await Sleep.lasting(.seconds(-5))
    }

    @Test func aTaskThatIsCancelledWakesAtOnce() async {
        let sleeping = Task { try await Sleep.lasting(.seconds(3_600)) }
        sleeping.cancel()
        await #expect(throws: CancellationError.self) { try await sleeping.value }
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await Sleep.lasting(.seconds(3_600))
        }
        await #expect(throws: CancellationError.self) { try await early.value }
    }

    @Test func manyThatAreCancelledDelayNobody() async throws {
        for _ in 0..<1_000 {
            let sleeping = Task { try await Sleep.lasting(.seconds(3_600)) }
            sleeping.cancel()
            _ = await sleeping.result
        }
        try await Sleep.lasting(.milliseconds(1))
    }
}
