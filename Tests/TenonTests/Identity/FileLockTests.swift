// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import Testing

/// A clock on which a sleep is over at once.
final class SkippingClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let time = Mutex((now: Instant(offset: .zero), sleeps: [Duration]()))
    private let onSleep: @Sendable (Int) -> Void

    init(onSleep: @escaping @Sendable (Int) -> Void = { _ in }) { self.onSleep = onSleep }

    var now: Instant { time.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }
    var sleeps: [Duration] { time.withLock { $0.sleeps } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let count = time.withLock { time in
            time.sleeps.append(time.now.duration(to: deadline))
            time.now = max(time.now, deadline)
            return time.sleeps.count
        }
        onSleep(count)
    }
}

@Suite struct FileLockTests {
    let temporary: TemporaryFolder
    let folder: StateFolder
    let lock: FileLock

    init() throws {
        temporary = try TemporaryFolder()
        folder = try temporary.open()
        lock = FileLock("x.lock", in: folder)
    }

    private func deadline(_ seconds: Int) -> SkippingClock.Instant { .init(offset: .seconds(seconds)) }

    @Test func oneHolderAtATimeInOneProcess() throws {
        let first = try #require(try lock.attempt())
        #expect(try lock.attempt() == nil)
        let another = try temporary.open()
        #expect(try FileLock("x.lock", in: another).attempt() == nil)
        #expect(try FileLock("y.lock", in: folder).attempt() != nil)
        first.release()
        first.release()
        #expect(try lock.attempt() != nil)
        // The lock ended with its value.
        #expect(try lock.attempt() != nil)
    }

    /// A child that was forked meanwhile also has the lock's file open, like any holder of a copy of the descriptor.
    @Test func aReleaseIsNotForTheHolderAlone() throws {
        let held = try #require(try lock.attempt())
        var (file, opened) = (stat(), stat())
        try #require(stat(temporary["x.lock"], &file) == 0)
        let copies = (3..<1024).filter { fstat($0, &opened) == 0 && opened.st_ino == file.st_ino }.map { dup($0) }
        defer { for copy in copies { close(copy) } }
        try #require(!copies.isEmpty)
        #expect(try lock.attempt() == nil)
        held.release()
        #expect(try lock.attempt() != nil)
    }

    @Test func fileStaysAndNamesItsHolder() throws {
        try #require(try lock.attempt()).release()
        let holder = try #require(lock.lastHolder())
        #expect(holder.process == getpid())
        #expect(holder.boot == LockHolder.currentBoot())
        #expect(holder.boot.utf8.count == 36)
    }

    @Test(arguments: [
        "", "pid 1 boot", "pid x boot y\n", "pid 1 boot y", "pid 1 boot y z\n", "PID 1 boot y\n",
        "pid 1 boot " + String(repeating: "y", count: 99),
    ])
    func whatIsNotWrittenByAHolderNamesNobody(_ text: String) throws {
        try temporary.put(text, as: "x.lock")
        #expect(lock.lastHolder() == nil)
        // The next one writes over it.
        #expect(try lock.attempt() != nil)
        #expect(lock.lastHolder()?.process == getpid())
    }

    @Test func waitsInStepsThatGrow() async throws {
        let held = Mutex(try lock.attempt())
        let clock = SkippingClock { if $0 == 9 { held.withLock { $0 = nil } } }
        let mine = try await lock.acquire(before: deadline(5), on: clock, by: WorkThread())
        #expect(clock.sleeps == [1, 2, 4, 8, 16, 32, 64, 64, 64].map { .milliseconds($0) })
        mine.release()
    }

    @Test func givesUpAtTheDeadline() async throws {
        let held = try lock.attempt()
        let clock = SkippingClock()
        let error = await #expect(throws: TenonError.self) {
            try await lock.acquire(before: .init(offset: .milliseconds(100)), on: clock, by: WorkThread())
        }
        #expect(error?.code == .stateBusy)
        #expect(error?.message.contains("process \(getpid())") == true)
        #expect(clock.sleeps.reduce(.zero, +) == .milliseconds(100))
        held?.release()
        // A deadline that has passed is one try.
        try await lock.acquire(before: .init(offset: .zero), on: clock, by: WorkThread()).release()
    }

    @Test func givesUpWithinItsLimitOnAThread() throws {
        let held = try lock.attempt()
        var sleeps: [Duration] = []
        #expect(codeThrown { try lock.acquire(within: .milliseconds(10)) { sleeps.append($0) } } == .stateBusy)
        #expect(sleeps == [1, 2, 4, 3].map { .milliseconds($0) })
        held?.release()
        try lock.acquire(within: .zero) { _ in Issue.record("slept for a free lock") }.release()
    }

    /// Before the wait, or in its third sleep.
    @Test(arguments: [0, 3])
    func cancellationEndsTheWait(_ sleeps: Int) async throws {
        let held = try lock.attempt()
        let clock = SkippingClock { if $0 == sleeps { withUnsafeCurrentTask { $0?.cancel() } } }
        let task = Task { [lock] () async throws(TenonError) in
            if sleeps == 0 { withUnsafeCurrentTask { $0?.cancel() } }
            return try await lock.acquire(before: .init(offset: .seconds(5)), on: clock, by: WorkThread())
        }
        #expect(await task.result.code == .cancelled)
        #expect(clock.sleeps.count == sleeps)
        held?.release()
    }

    @Test func aFileThatWasReplacedIsLockedAnew() throws {
        let old = try lock.attempt()
        #expect(rename(temporary["x.lock"], temporary["moved"]) == 0)
        // Tenon never does that. But a process that waits for the old file must not believe that it holds the new one.
        let replaced = Mutex(false)
        let calls = SystemCalls { operation, _ in
            guard operation == .lock, !replaced.withLock({ $0 }) else { return nil }
            replaced.withLock { $0 = true }
            unlink(self.temporary["x.lock"])
            return nil
        }
        let held = try FileLock("x.lock", in: temporary.open(calls)).attempt()
        #expect(held != nil)
        #expect(replaced.withLock { $0 })
        #expect(try lock.attempt() == nil)
        old?.release()
    }

    @Test func errorsOfTheSystemAreNotAnAnswer() throws {
        for (errno, code) in [
            (EROFS, TenonError.Code.stateReadOnly), (EACCES, .statePermission), (ENOSPC, .stateFull),
        ] {
            let folder = try temporary.open(CallPlan(.errno(errno), at: 1).calls)
            #expect(codeThrown { try FileLock("x.lock", in: folder).attempt() } == code)
        }
        let noLocks = try temporary.open(CallPlan(.errno(EIO), at: 2).calls)
        #expect(codeThrown { try FileLock("x.lock", in: noLocks).attempt() } == .stateIO)
        // A failure to name the holder does not cost the lock.
        for number in 3...4 {
            let full = try temporary.open(CallPlan(.errno(ENOSPC), at: number).calls)
            #expect(try FileLock("x.lock", in: full).attempt() != nil)
        }
    }

    @Test func aLinkIsNotLocked() throws {
        #expect(symlink(temporary["elsewhere"], temporary["x.lock"]) == 0)
        #expect(codeThrown { try lock.attempt() } == .stateKind)
    }

    @Test(arguments: [false, true])
    func anotherProcessHoldsItUntilItEnds(_ isKilled: Bool) throws {
        let child = try Child("hold", temporary.path)
        #expect(child.line() == "held")
        #expect(try lock.attempt() == nil)
        #expect(lock.lastHolder()?.process != getpid())
        if isKilled { child.kill() } else { child.say("go") }
        #expect(child.wait() == (isKilled ? -SIGKILL : 0))
        #expect(try lock.attempt() != nil)
    }

    @Test func eightProcessesTakeTurns() throws {
        let (processes, times) = (8, 25)
        let children = try (0..<processes).map { _ in try Child("count", temporary.path, String(times)) }
        for child in children { #expect(child.wait() == 0) }
        #expect(text(of: "number", in: folder) == String(processes * times))
        #expect(text(of: "number.prev", in: folder) == String(processes * times - 1))
    }

    @Test func eightTasksTakeTurns() async throws {
        final class Room: Sendable { let inside = Mutex((now: 0, most: 0, all: 0)) }
        let (lock, room) = (lock, Room())
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        let held = try await lock.acquire(
                            before: .now + .seconds(60), on: ContinuousClock(), by: WorkThread())
                        room.inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) }
                        await Task.yield()
                        room.inside.withLock { $0.now -= 1 }
                        held.release()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(room.inside.withLock { $0 } == (0, 1, 200))
    }
}
