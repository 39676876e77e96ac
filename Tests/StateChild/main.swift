// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import TenonAuths
import TenonITWallet

// A separate process for the tests of the state. `StateChild VERB FOLDER ...`

func say(_ line: String, on descriptor: Int32 = 1) { _ = write(descriptor, line + "\n", line.utf8.count + 1) }

func fail(_ message: String) -> Never {
    say("StateChild: \(message)", on: 2)
    exit(2)
}

/// Takes the lock, says so, and keeps it until it reads a line or its input ends.
func hold(_ folder: StateFolder) throws(TenonError) {
    let held = try FileLock("x.lock", in: folder).acquire(within: .seconds(60))
    say("held")
    _ = readLine()
    held.release()
}

/// Adds one to a number in a file a given number of times, each time under the lock.
func count(_ folder: StateFolder, _ times: Int) throws(TenonError) {
    let lock = FileLock("x.lock", in: folder)
    for _ in 0..<times {
        let held = try lock.acquire(within: .seconds(60))
        var number = 0
        switch folder.read("number", atMost: 64) {
        case .found(let file): number = Int(String(decoding: file.bytes, as: UTF8.self)) ?? -1_000_000
        case .absent: break
        case .unreadable(let error): throw error
        }
        try folder.write(Array(String(number + 1).utf8), to: "number", keepingPrevious: true)
        held.release()
    }
}

/// Ends this process, as kill -9 does, instead of the system call with this number.
func deadly(at number: Int) -> SystemCalls {
    final class Counter: Sendable { let calls = Atomic(0) }
    let counter = Counter()
    return SystemCalls { operation, _ in
        if counter.calls.add(1, ordering: .relaxed).newValue == number { kill(getpid(), SIGKILL) }
        // Skips fsync, which is slow: written data must survive the process here, not the machine.
        return operation == .sync || operation == .syncFolder ? .errno(0) : nil
    }
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fail("which verb, in which folder?") }
umask(0o077)
do throws(TenonError) {
    switch arguments[1] {
    case "hold": try hold(StateFolder(at: arguments[2]))
    case "device": try await Device(arguments[2], deadly(at: Int(arguments[3]) ?? 0)).obey()
    case "log":
        let profile = try Auths(baseURL: "https://log.example", appID: "app")
        try await Device(arguments[2], deadly(at: Int(arguments[3]) ?? 0), profile).obey()
    case "wallet":
        let provider = try ITWallet(baseURL: "https://wallet.example/it", appID: "app", dialect: .v14)
        let (ek, root) = (try TextEncoding.base64.decode(arguments[4]), try TextEncoding.base64.decode(arguments[5]))
        try await Device(arguments[2], deadly(at: Int(arguments[3]) ?? 0), at: provider, ekCertificate: ek, root: root)
            .obey()
    case "count": try count(StateFolder(at: arguments[2]), Int(arguments[3]) ?? 0)
    default: fail("no such verb")
    }
} catch {
    fail(error.description)
}
