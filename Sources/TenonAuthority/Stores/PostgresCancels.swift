// SPDX-License-Identifier: Apache-2.0
internal import CPostgres
internal import Tenon

/// Tells servers that nobody waits for what they do any more. It has a thread of its own, as libpq waits for the answer,
/// and the server may be one that answers nobody.
final class PostgresCancels: Sendable {
    private struct Cancel: @unchecked Sendable {
        // Handed from the thread of its connection to that of this.
        let pointer: OpaquePointer
    }

    private let thread: BatchThread<Cancel>

    init() throws(TenonError) {
        thread = try BatchThread { cancels in
            var words = [CChar](repeating: 0, count: 256)
            // What is older than these the server has ended by its own time.
            for cancel in cancels.suffix(64) { PQcancel(cancel.pointer, &words, Int32(words.count)) }
            for cancel in cancels { PQfreeCancel(cancel.pointer) }
        }
    }

    func add(_ pointer: OpaquePointer) {
        if !thread.add(Cancel(pointer: pointer)) { PQfreeCancel(pointer) }
    }
}
