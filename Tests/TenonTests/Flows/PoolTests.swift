// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Tenon
import Testing

/// Slow work never runs on a thread of Swift's cooperative pool, which is recognised by its task.
@Suite struct PoolTests {
    /// Counts blocking calls, and those of them that run within a task.
    private final class Watch: Sendable {
        private let counts = Mutex((all: 0, withinTasks: 0))

        func look() {
            let isTask = withUnsafeCurrentTask { $0 != nil }
            counts.withLock { counts in
                counts.all += 1
                if isTask { counts.withinTasks += 1 }
            }
        }

        var all: Int { counts.withLock { $0.all } }
        var withinTasks: Int { counts.withLock { $0.withinTasks } }
    }

    private struct Rig {
        let flow: FlowRig
        let watch: Watch
        let identity: DeviceIdentity

        init() throws {
            (flow, watch) = (try FlowRig({ _ in }, .tokens), Watch())
            flow.vault.onBlocking { [watch] in watch.look() }
            let calls = SystemCalls(
                hook: { [watch] _, _ in
                    watch.look()
                    return nil
                }, look: { [watch] in watch.look() })
            identity = try flow.restarted(calls)
        }

        /// Runs a body, and checks that it used the disk and that no task blocked.
        func expectFree(_ what: String, _ body: (DeviceIdentity) async throws -> Void) async throws {
            let before = watch.all
            try await body(identity)
            #expect(watch.all > before, "\(what) never came to the disk")
            #expect(watch.withinTasks == 0, "\(what)")
        }
    }

    @Test func noOperationWaitsThere() async throws {
        let rig = try Rig()
        try await rig.expectFree("register") { try await $0.register() }
        try await rig.expectFree("sign") { _ = try await $0.sign("POST", path: "/v1/x") }
        try await rig.expectFree("a body that comes in parts") {
            var request = try await $0.request("POST", path: "/v1/x")
            try request.update([1])
            _ = try await request.sign()
        }
        try await rig.expectFree("rotate") { try await $0.rotate() }
        try await rig.expectFree("maintain") { try await $0.maintain() }
        try await rig.expectFree("a lost answer") { identity in
            rig.flow.service.script(.answerLost, .answerLost, .answerLost, .answerLost, .answerLost)
            _ = await identity.code(.rotate)
        }
        try await rig.expectFree("an answer") { identity in
            let signed = try await identity.sign("POST", path: "/v1/x")
            _ = await identity.received(401, "BAD_SIGNATURE", for: signed)
        }
        try await rig.expectFree("a key that is gone") { identity in
            rig.flow.vault.clear()
            _ = await identity.code(.register)
            _ = await identity.code(.sign)
        }
        try await rig.expectFree("reset") { try await $0.reset() }
    }

    @Test func whoBlocksIsSeen() async throws {
        let rig = try Rig()
        try await rig.identity.register()
        #expect(rig.watch.withinTasks == 0)
        func sign() throws { _ = try rig.identity.sign("POST", path: "/v1/x") as SignedRequest }
        try sign()
        // The record, the key, and its token.
        #expect(rig.watch.withinTasks >= 3)
    }
}
