// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon

/// Counts the system calls that change something, and makes the one with a given number fail.
final class CallPlan: Sendable {
    private let state = Mutex<[String]>([])
    private let number: Int
    private let fault: SystemCalls.Fault?
    private let onward: Bool

    /// - Parameter number: of the call that fails, from 1.
    /// - Parameter onward: so do all behind it.
    init(_ fault: SystemCalls.Fault? = nil, at number: Int = 0, onward: Bool = false) {
        self.fault = fault
        self.number = number
        self.onward = onward
    }

    var calls: SystemCalls {
        SystemCalls { operation, name in
            self.state.withLock { made in
                made.append("\(operation.rawValue) \(name.split(separator: "/").last ?? "/")")
                return made.count == self.number || self.onward && made.count > self.number ? self.fault : nil
            }
        }
    }

    /// What was called so far, each as operation and name.
    var made: [String] { state.withLock { $0 } }

    func forget() { state.withLock { $0 = [] } }
}
