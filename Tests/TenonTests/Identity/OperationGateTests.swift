// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import Testing

/// A clock whose sleepers wake when a test says so.
final class StandingClock: Clock {
    typealias Instant = SkippingClock.Instant
    private typealias Sleeper = CheckedContinuation<Void, any Error>

    private let state = Mutex((sleepers: [Int: Sleeper](), numbers: 0, cancelled: Set<Int>()))
    var now: Instant { Instant(offset: .zero) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.numbers += 1
            return state.numbers
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (sleeper: Sleeper) in
                let isCancelled = state.withLock { state in
                    if state.cancelled.contains(number) { return true }
                    state.sleepers[number] = sleeper
                    return false
                }
                if isCancelled { sleeper.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(number)
                return state.sleepers.removeValue(forKey: number)
            }
            sleeper?.resume(throwing: CancellationError())
        }
    }

    var sleepers: Int { state.withLock { $0.sleepers.count } }

    func wakeAll() {
        let sleepers = state.withLock { state in
            defer { state.sleepers = [:] }
            return state.sleepers.values.map { $0 }
        }
        for sleeper in sleepers { sleeper.resume() }
    }
}

/// An operation that ends when a test says so.
final class Flight: Sendable {
    private let state = Mutex<(begun: Int, isCancelled: Bool, waiting: [CheckedContinuation<Void, Never>])>(
        (0, false, []))
    private let answer: Result<Int, TenonError>

    init(_ answer: Int) { self.answer = .success(answer) }
    init(_ error: TenonError) { answer = .failure(error) }

    var begun: Int { state.withLock { $0.begun } }
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func fly() async throws(TenonError) -> Int {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.begun += 1
                    state.waiting.append(continuation)
                }
            }
        } onCancel: {
            state.withLock { $0.isCancelled = true }
            land()
        }
        return try answer.get()
    }

    func land() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Lets other tasks run until a condition holds.
func until(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}

@Suite struct OperationGateTests {
    let gate = OperationGate()
    let clock = StandingClock()

    private func run(
        _ kind: String, on identity: String = "a", _ body: @escaping @Sendable () async throws(TenonError) -> Int
    ) async throws -> Int {
        try await gate.run(kind, on: identity, before: .init(offset: .seconds(1)), by: clock, body)
    }

    /// Asks, and waits until the gate has noticed: each caller starts a timer.
    private func asked(_ kind: String, _ flight: Flight, on identity: String = "a") async -> Task<Int, any Error> {
        let sleepers = clock.sleepers
        let task = Task { try await run(kind, on: identity) { () async throws(TenonError) in try await flight.fly() } }
        await until { clock.sleepers > sleepers }
        return task
    }

    /// The same, when the operation has begun.
    private func flying(_ kind: String, _ flight: Flight, on identity: String = "a") async -> Task<Int, any Error> {
        let task = await asked(kind, flight, on: identity)
        await until { flight.begun == 1 }
        return task
    }

    @Test func followersHaveTheLeadersResult() async throws {
        let (first, second) = (Flight(1), Flight(2))
        let leader = await flying("register", first)
        var followers: [Task<Int, any Error>] = []
        for _ in 0..<5 { followers.append(await asked("register", second)) }
        first.land()
        #expect(try await leader.value == 1)
        for follower in followers { #expect(try await follower.value == 1) }
        #expect((first.begun, second.begun) == (1, 0))
        #expect(clock.sleepers == 0)
        // An ended operation stays ended.
        let next = await flying("register", second)
        second.land()
        #expect(try await next.value == 2)
    }

    @Test func followersHaveTheLeadersError() async {
        let flight = Flight(TenonError(.keyGone, message: ""))
        let tasks = [await flying("register", flight), await asked("register", flight)]
        flight.land()
        for task in tasks { #expect(await task.result.code == .keyGone) }
    }

    @Test func anotherOperationWaitsForItsTurn() async throws {
        let flights = [Flight(0), Flight(1), Flight(2)]
        let first = await asked("register", flights[0])
        let second = await asked("rotate", flights[1])
        let third = await asked("reset", flights[2])
        let alike = await asked("rotate", flights[0])
        await until { flights[0].begun == 1 }
        #expect((flights[1].begun, flights[2].begun) == (0, 0))
        flights[0].land()
        #expect(try await first.value == 0)
        await until { flights[1].begun == 1 }
        #expect(flights[2].begun == 0)
        flights[1].land()
        #expect(try await second.value == 1)
        #expect(try await alike.value == 1)
        await until { flights[2].begun == 1 }
        flights[2].land()
        #expect(try await third.value == 2)
    }

    @Test func identitiesDoNotWaitForEachOther() async throws {
        let (first, second) = (Flight(1), Flight(2))
        let one = await asked("register", first)
        let other = await flying("rotate", second, on: "b")
        second.land()
        #expect(try await other.value == 2)
        first.land()
        #expect(try await one.value == 1)
    }

    @Test(arguments: [0, 1])
    func aCancelledCallerLeavesTheOperationToTheOther(_ number: Int) async throws {
        let flight = Flight(1)
        let tasks = [await flying("register", flight), await asked("register", flight)]
        tasks[number].cancel()
        #expect(await tasks[number].result.code == .cancelled)
        #expect(!flight.isCancelled)
        flight.land()
        #expect(try await tasks[1 - number].value == 1)
    }

    @Test func theLastCallerCancelsTheOperationAndHearsWhatCameOfIt() async throws {
        let (flight, next) = (Flight(TenonError(.stateIO, message: "")), Flight(2))
        let leader = await flying("register", flight)
        leader.cancel()
        #expect(await leader.result.code == .stateIO)
        #expect(flight.isCancelled)
        let other = await flying("register", next)
        next.land()
        #expect(try await other.value == 2)
    }

    @Test func nobodyJoinsWhatWasCancelled() async throws {
        let (stubborn, next) = (Flight(1), Flight(2))
        // It notices its cancellation and continues.
        let leader = Task {
            try await run("register") { () async throws(TenonError) in
                _ = try? await stubborn.fly()
                return try await stubborn.fly()
            }
        }
        await until { stubborn.begun == 1 }
        leader.cancel()
        await until { stubborn.begun == 2 }
        let other = await asked("register", next)
        #expect(next.begun == 0)
        stubborn.land()
        #expect(try await leader.value == 1)
        await until { next.begun == 1 }
        next.land()
        #expect(try await other.value == 2)
    }

    @Test func aWaitHasADeadlineAndAnOperationHasNone() async throws {
        let (flight, never) = (Flight(1), Flight(2))
        let leader = await flying("register", flight)
        let follower = await asked("register", flight)
        let queued = await asked("rotate", never)
        let alike = await asked("rotate", never)
        clock.wakeAll()
        for task in [follower, queued, alike] { #expect(await task.result.code == .stateBusy) }
        #expect(!flight.isCancelled)
        flight.land()
        #expect(try await leader.value == 1)
        #expect(never.begun == 0)
    }

    @Test func whatNobodyWaitsForIsCancelled() async throws {
        let flight = Flight(1)
        let leader = await flying("register", flight)
        let follower = await asked("register", flight)
        leader.cancel()
        #expect(await leader.result.code == .cancelled)
        clock.wakeAll()
        #expect(await follower.result.code == .stateBusy)
        await until { flight.isCancelled }
    }

    @Test func aCancelledCallerBeginsNothing() async throws {
        let flight = Flight(1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await run("register") { () async throws(TenonError) in try await flight.fly() }
        }
        #expect(await task.result.code == .cancelled)
        #expect(flight.begun == 0)
    }

    @Test func aQueuedCallerThatIsCancelledLeavesTheQueue() async throws {
        let (flight, never) = (Flight(1), Flight(2))
        let leader = await asked("register", flight)
        let queued = await asked("rotate", never)
        queued.cancel()
        #expect(await queued.result.code == .cancelled)
        await until { flight.begun == 1 }
        flight.land()
        #expect(try await leader.value == 1)
        #expect(never.begun == 0)
    }
}
