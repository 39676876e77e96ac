// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Tenon
import Testing

/// Independent processes on one identity. TENON_TEST_RACE sets the seconds.
@Suite(.timeLimit(.minutes(5))) struct RaceTests {
    private static let seconds = getenv("TENON_TEST_RACE").flatMap { Int(String(cString: $0)) } ?? 3
    /// The commands from which each draws its next one.
    private static let commands =
        Array(repeating: "sign", count: 20) + Array(repeating: "rotate", count: 4)
        + Array(repeating: "register", count: 5)
        + ["maintain", "reset"]
    /// The possible results: another process may have reset the identity.
    private static let ends: [String: Set<String>] = [
        "sign": ["ok", "resent", "refused", "\(TenonError.Code.notRegistered)"],
        "rotate": ["ok", "\(TenonError.Code.notRegistered)"], "register": ["ok"], "maintain": ["ok"], "reset": ["ok"],
    ]

    /// No identity is lost, no device is registered twice, no process waits for ever, and each signature is by the key
    /// that the service holds, or by one that is just being replaced. Two of the eight die repeatedly.
    @Test func eightProcessesOnOneIdentity() async throws {
        let world = try DeviceWorld()
        let referee = Referee(world.service)
        let end = ContinuousClock.now + .seconds(Self.seconds)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                let thread = WorkThread()
                group.addTask {
                    try await thread.run { () throws(TenonError) in
                        drive(number, world, referee, until: end)
                    }
                }
            }
            try await group.waitForAll()
        }
        let counts = referee.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        print("8 processes, \(Self.seconds) s: \(counts.joined(separator: ", "))")
        #expect(referee.violations == [])
        let (taken, rotated) = (referee.counts["signatures taken"] ?? 0, referee.counts["rotate ok"] ?? 0)
        #expect(taken > 10 && rotated > 1)
        try world.expect(
            ["register": "ok", "rotate": "ok", "try": "ok", "maintain": "ok", "register": "ok"], "the end")
        try await world.expectTidy("the end")
    }

    /// Runs one process after the other; only those with the numbers six and seven die.
    private func drive(_ number: Int, _ world: DeviceWorld, _ referee: Referee, until end: ContinuousClock.Instant) {
        while ContinuousClock.now < end {
            guard let child = try? world.child(dyingAt: number < 6 ? 0 : Int.random(in: 1...300)) else {
                return referee.complain("no process can be started")
            }
            var isAlive = true
            while isAlive, ContinuousClock.now < end { isAlive = turn(number, child, referee) }
            // This also ends a process that hangs.
            if !isAlive { child.kill() }
            child.end()
            let status = child.wait()
            if status != (isAlive ? 0 : -9) || !isAlive && number < 6 {
                referee.complain("process \(number) ended with \(status)")
            }
        }
    }

    private func turn(_ number: Int, _ child: Child, _ referee: Referee) -> Bool {
        let command = Self.commands.randomElement() ?? "sign"
        referee.begin(command, by: number)
        let word = child.perform(command) { referee.answer(to: $0, of: number) }
        referee.end(word, of: number)
        if let word, Self.ends[command]?.contains(word) != true { referee.complain("\(command): \(word)") }
        return word != nil
    }
}
