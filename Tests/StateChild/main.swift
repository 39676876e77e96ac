// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon

// Another process of the tests of the state. `StateChild VERB FOLDER ...`

func say(_ line: String, on descriptor: Int32 = 1) { _ = write(descriptor, line + "\n", line.utf8.count + 1) }

func fail(_ message: String) -> Never {
    say("StateChild: \(message)", on: 2)
    exit(2)
}

/// Takes the lock, says so, and keeps it until its input says something or ends.
func hold(_ folder: StateFolder) throws(TenonError) {
    let held = try FileLock("x.lock", in: folder).acquire(within: .seconds(60))
    say("held")
    _ = readLine()
    held.release()
}

/// Adds one to a number in a file, so often, each time under the lock.
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

/// Ends this process, as kill -9 does, in the place of the system call with this number.
func deadly(at number: Int) -> SystemCalls {
    final class Counter: @unchecked Sendable { var calls = 0 }
    let counter = Counter()
    return SystemCalls { _, _ in
        counter.calls += 1
        if counter.calls == number { kill(getpid(), SIGKILL) }
        return nil
    }
}

/// Does one operation after the other, each with the lock of its own.
func walk(_ folder: String, _ how: [String]) throws(TenonError) {
    guard how.count == 3, let number = Int(how[1]) else { fail("walk OPERATION,... NUMBER-OF-THE-DEADLY-CALL SERVICE") }
    let calls = number > 0 ? deadly(at: number) : SystemCalls()
    let service = ScriptedService(folder, answers: how[2] == "answers")
    for name in how[0].split(separator: ",") {
        guard let operation = Walk.Operation(rawValue: String(name)) else { fail("no such operation") }
        try Walk(StateFolder(at: folder + "/state", calls: calls), service).run(operation)
    }
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fail("which verb, in which folder?") }
do throws(TenonError) {
    switch arguments[1] {
    case "hold": try hold(StateFolder(at: arguments[2]))
    case "walk": try walk(arguments[2], Array(arguments.dropFirst(3)))
    case "count": try count(StateFolder(at: arguments[2]), Int(arguments[3]) ?? 0)
    default: fail("no such verb")
    }
} catch {
    fail(error.description)
}
