// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization

/// The lock of an identity: one holder at a time, among all threads and processes that use the folder. It ends with
/// its holder, however that dies, so whoever has it may mend what the one before left (W12).
///
/// Its file is never removed and never renamed. It is opened anew for each holder: the lock belongs to the open file
/// (F_OFD_SETLK), not to the process, so two threads exclude each other as two processes do. Not for NFS.
package struct FileLock: Sendable {
    // <fcntl.h>, F_OFD_SETLK: a macro that Swift does not see (decision: lock-constants).
    private static let setLock: Int32 = 37

    let folder: StateFolder
    let name: String

    package init(_ name: String, in folder: StateFolder) {
        self.folder = folder
        self.name = name
    }

    /// Takes the lock, or gives nil when somebody holds it. Does not wait.
    package func attempt() throws(TenonError) -> Held? {
        while true {
            let held = Held(try folder.open(name), of: self)
            let answer = folder.calls.attempt(.lock, name) { Self.set(F_WRLCK, held.descriptor) }
            if answer.errno == EAGAIN || answer.errno == EACCES { return nil }
            _ = try SystemCalls.value(of: answer, "lock", name)
            // Somebody may have put another file there since it was opened, and others lock that one.
            if isCurrent(held.descriptor) {
                held.writeHolder()
                return held
            }
        }
    }

    /// Takes the lock as soon as it is free. The task waits, no thread does.
    ///
    /// - Parameter thread: makes the attempts.
    /// - Throws: ``TenonError/Code/stateBusy`` after the deadline, ``TenonError/Code/cancelled``.
    package func acquire<C: Clock>(
        before deadline: C.Instant, on clock: C, by thread: WorkThread
    ) async throws(TenonError) -> Held where C.Duration == Duration {
        var pause = Pause()
        while true {
            if let held = try await thread.run({ () throws(TenonError) in try attempt() }) { return held }
            let left = clock.now.duration(to: deadline)
            guard left > .zero else { throw busy() }
            do {
                try await clock.sleep(until: clock.now.advanced(by: min(pause.next(), left)), tolerance: nil)
            } catch {
                throw .cancelled
            }
        }
    }

    /// Takes the lock as soon as it is free, on a thread that may wait.
    ///
    /// - Parameter sleep: waits for so long.
    /// - Throws: ``TenonError/Code/stateBusy`` when the sleeps have come to the limit.
    package func acquire(
        within limit: Duration, sleep: (Duration) -> Void = FileLock.sleep
    ) throws(TenonError) -> Held {
        var pause = Pause()
        var left = limit
        while true {
            if let held = try attempt() { return held }
            guard left > .zero else { throw busy() }
            let length = min(pause.next(), left)
            sleep(length)
            left -= length
        }
    }

    /// The last holder's note about itself.
    package func lastHolder() -> LockHolder? {
        guard case .found(let file) = folder.read(name, atMost: 256) else { return nil }
        return LockHolder(parsing: file.bytes)
    }

    package static func sleep(_ length: Duration) {
        let (seconds, attoseconds) = length.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        nanosleep(&time, nil)
    }

    fileprivate static func set(_ type: Int32, _ descriptor: Int32) -> Int32 {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        return fcntl(descriptor, setLock, &lock)
    }

    private func isCurrent(_ descriptor: Int32) -> Bool {
        var (ours, named) = (stat(), stat())
        guard fstat(descriptor, &ours) == 0 else { return false }
        guard fstatat(folder.descriptor, name, &named, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        return ours.st_ino == named.st_ino && ours.st_dev == named.st_dev
    }

    private func busy() -> TenonError {
        let who = lastHolder().map { " (process \($0.process))" } ?? ""
        return TenonError(.stateBusy, message: "Another process\(who) is working on this identity. Try again later.")
    }
}

extension FileLock {
    /// The lock, as long as this lives and ``release()`` was not called.
    package final class Held: Sendable {
        fileprivate let descriptor: Int32
        package let lock: FileLock
        private let isReleased = Mutex(false)

        fileprivate init(_ descriptor: Int32, of lock: FileLock) {
            self.descriptor = descriptor
            self.lock = lock
        }

        deinit { release() }

        package var isHeld: Bool { isReleased.withLock { !$0 } }

        /// Lets others have it. A child that was forked meanwhile does not keep it.
        package func release() {
            isReleased.withLock { isReleased in
                guard !isReleased else { return }
                isReleased = true
                _ = FileLock.set(F_UNLCK, descriptor)
                close(descriptor)
            }
        }

        /// For people who look for who holds it: the lock is as good without.
        fileprivate func writeHolder() {
            let text = [UInt8](LockHolder.this.text.utf8)
            let (calls, name) = (lock.folder.calls, lock.name)
            let answer = calls.attempt(.truncate, name) { ftruncate(descriptor, 0) }
            if answer.errno == 0 { try? calls.write(text, to: descriptor, name) }
        }
    }

    /// 1, 2, 4 ... 64 ms.
    private struct Pause {
        private var milliseconds = 1

        mutating func next() -> Duration {
            defer { milliseconds = min(milliseconds * 2, 64) }
            return .milliseconds(milliseconds)
        }
    }
}

/// The process that wrote into the file of a lock. It may have ended, and after a boot another process may have its
/// number.
package struct LockHolder: Equatable, Sendable {
    package let process: Int32
    /// The boot in which it ran, as the kernel names it.
    package let boot: String

    static var this: LockHolder { LockHolder(process: getpid(), boot: currentBoot()) }

    init(process: Int32, boot: String) {
        self.process = process
        self.boot = boot
    }

    /// nil for anything but what ``text`` gives.
    init?(parsing bytes: [UInt8]) {
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "pid", words[2] == "boot", let process = Int32(words[1]),
            words[3].hasSuffix("\n")
        else { return nil }
        self.init(process: process, boot: String(words[3].dropLast()))
    }

    var text: String { "pid \(process) boot \(boot)\n" }

    /// Which boot this is; empty where the kernel does not say.
    package static func currentBoot() -> String {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(file, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)).prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
