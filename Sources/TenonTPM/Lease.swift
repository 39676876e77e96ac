// SPDX-License-Identifier: Apache-2.0

/// Holds what talks to the TPM when it is freed, so that a task that drops the last of it does not wait for the TPM.
final class Lease<Resource: AnyObject & Sendable>: Sendable {
    private let resource: Unmanaged<Resource>
    private let thread: WorkThread

    init(_ resource: Resource, on thread: WorkThread) {
        self.resource = .passRetained(resource)
        self.thread = thread
    }

    deinit { thread.release(resource) }

    /// For use while the lease is held.
    var value: Resource { resource.takeUnretainedValue() }
}
