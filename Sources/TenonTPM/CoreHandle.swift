// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import Tenon

/// Owns a handle of the core and frees it exactly once.
///
/// It may be sent anywhere because the core's handles may be used by any number of threads at once, and whoever uses
/// `pointer` borrows this value meanwhile, so that none is freed under a call.
struct CoreHandle: ~Copyable, @unchecked Sendable {
    typealias Free = @convention(c) (UnsafeMutablePointer<OpaquePointer?>?) -> Void

    let pointer: OpaquePointer
    private let free: Free

    /// Makes a handle by a function of the core, which gives NULL and a status when it cannot.
    init(freedBy free: Free, _ make: (inout OpaquePointer?) -> tenon_status) throws(TenonError) {
        var made: OpaquePointer?
        try TenonError.check(make(&made))
        guard let made else { throw TenonError(status: tenon_status(TENON_ERROR_NULL)) }
        pointer = made
        self.free = free
    }

    deinit {
        var pointer: OpaquePointer? = pointer
        free(&pointer)
    }
}
