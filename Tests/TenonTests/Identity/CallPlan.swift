// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon

/// Counts the system calls that change something, and lets the one with a given number fail.
final class CallPlan: Sendable {
    private let state: Mutex<(made: [String], number: Int)>
    private let fault: SystemCalls.Fault?
    private let onward: Bool

    /// - Parameter number: the number of the call that fails, from 1.
    /// - Parameter onward: whether all later calls fail, too, as after a crash.
    init(_ fault: SystemCalls.Fault? = nil, at number: Int = 0, onward: Bool = false) {
        state = Mutex(([], number))
        self.fault = fault
        self.onward = onward
    }

    var calls: SystemCalls {
        SystemCalls { operation, name in
            self.state.withLock { state in
                state.made.append("\(operation.rawValue) \(name.split(separator: "/").last ?? "/")")
                let (count, number) = (state.made.count, state.number)
                return count == number || self.onward && number > 0 && count > number ? self.fault : nil
            }
        }
    }

    /// The calls so far, each as operation and name.
    var made: [String] { state.withLock { $0.made } }

    var operations: [String] { made.map { String($0.prefix { $0 != " " }) } }

    func forget(andFailAt number: Int = 0) { state.withLock { $0 = ([], number) } }
}
