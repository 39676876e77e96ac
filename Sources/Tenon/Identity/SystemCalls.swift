// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The one door for system calls that change something on disk, so that a test can fail each of them, or end the
/// process between any two.
package struct SystemCalls: Sendable {
    package enum Operation: String, CaseIterable, Sendable {
        case makeFolder, create, write, truncate, sync, syncFolder, link, rename, remove, lock
    }

    package enum Fault: Sendable {
        /// The call is not made, and this is its errno.
        case errno(Int32)
        /// A write accepts only the first byte.
        case short
    }

    /// Asked before each call, with the name of the file; nil lets the call continue.
    package typealias Hook = @Sendable (_ operation: Operation, _ name: String) -> Fault?

    private let hook: Hook?
    private let look: (@Sendable () -> Void)?

    /// Without a hook, which is how it is outside tests, a call costs one comparison more.
    ///
    /// - Parameter look: called before each call that only reads.
    package init(hook: Hook? = nil, look: (@Sendable () -> Void)? = nil) {
        self.hook = hook
        self.look = look
    }

    /// The result of a call, or the reason why it failed.
    struct Answer {
        let value: Int
        /// 0 is success.
        let errno: Int32
    }

    /// Makes a call that is told how many bytes it may take, again when a signal came between.
    private func attempt<Value: FixedWidthInteger>(
        _ operation: Operation, _ name: String, count: Int, _ call: (Int) -> Value
    ) -> Answer {
        while true {
            var count = count
            switch hook?(operation, name) {
            case .errno(EINTR): continue
            case .errno(let errno): return Answer(value: -1, errno: errno)
            case .short: count = min(count, 1)
            case nil: break
            }
            let answer = Self.once { call(count) }
            if answer.errno != EINTR { return answer }
        }
    }

    /// Makes a call, again when a signal came between.
    func attempt<Value: FixedWidthInteger>(
        _ operation: Operation, _ name: String, _ call: () -> Value
    ) -> Answer {
        attempt(operation, name, count: 0) { _ in call() }
    }

    /// Makes a call that must succeed.
    @discardableResult
    func perform<Value: FixedWidthInteger>(
        _ operation: Operation, _ name: String, _ call: () -> Value
    ) throws(TenonError) -> Int {
        try Self.value(of: attempt(operation, name, call), operation.rawValue, name)
    }

    /// Writes all of it.
    func write(_ bytes: [UInt8], to descriptor: Int32, _ name: String) throws(TenonError) {
        var offset = 0
        while offset < bytes.count {
            let answer = attempt(.write, name, count: bytes.count - offset) { count in
                bytes[offset..<offset + count].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            }
            offset += try Self.value(of: answer, Operation.write.rawValue, name)
        }
    }

    /// A call that changes nothing, again when a signal came between.
    static func asking<Value: FixedWidthInteger>(_ call: () -> Value) -> Answer {
        while true {
            let answer = once(call)
            if answer.errno != EINTR { return answer }
        }
    }

    /// The same, where a test is told of it.
    func asking<Value: FixedWidthInteger>(_ call: () -> Value) -> Answer {
        look?()
        return Self.asking(call)
    }

    static func value(of answer: Answer, _ call: String, _ name: String) throws(TenonError) -> Int {
        guard answer.errno == 0 else { throw TenonError(errno: answer.errno, call, name) }
        return answer.value
    }

    private static func once<Value: FixedWidthInteger>(_ call: () -> Value) -> Answer {
        let value = call()
        return value < 0 ? Answer(value: -1, errno: errno) : Answer(value: Int(value), errno: 0)
    }
}

extension TenonError {
    /// The meaning of a failed system call for the device's operator.
    init(errno: Int32, _ call: String, _ name: String) {
        let (code, mend): (Code, String) =
            switch errno {
            case ENOSPC, EDQUOT: (.stateFull, "The disk of the state is full. Free some space.")
            case EROFS: (.stateReadOnly, "The state is on a read-only disk. Mount it for writing.")
            case EACCES, EPERM: (.statePermission, "Permission to use the state was denied. Check its owner and mode.")
            case ELOOP, ENOTDIR, EISDIR, ENXIO: (.stateKind, "The state contains something of a wrong kind, or a link.")
            case EMFILE, ENFILE, ENOLCK, EAGAIN: (.stateBusy, "Too many files or locks are in use. Try again.")
            case ENOMEM: (.memory, "There is not enough memory.")
            default: (.stateIO, "The state cannot be read or written. Check its disk.")
            }
        self.init(code, message: "\(mend) (\(call) \(name): errno \(errno))")
    }
}
