// SPDX-License-Identifier: Apache-2.0

/// Holds what blocks when it is freed, so that a task that drops the last of it does not wait.
package final class Lease<Resource: AnyObject & Sendable>: Sendable {
    private let resource: Unmanaged<Resource>
    private let thread: WorkThread

    package init(_ resource: Resource, on thread: WorkThread) {
        self.resource = .passRetained(resource)
        self.thread = thread
    }

    deinit { thread.release(resource) }

    /// For use while the lease is held.
    package var value: Resource { resource.takeUnretainedValue() }
}
