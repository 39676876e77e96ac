// SPDX-License-Identifier: Apache-2.0
public import Tenon

// The error code of the sockets (0190).
extension TenonError.Code {
    /// Listening failed: the address, the port or the socket's path is in use or not allowed.
    public static let listenerFailed = Self(0x0540_0190, "TENON_ERROR_LISTENER_FAILED")
}
