// SPDX-License-Identifier: Apache-2.0
public import Tenon

// The code of the sockets (0190).
extension TenonError.Code {
    /// Nobody can connect there: the address, the port or the socket's path is taken, or not ours to take.
    public static let listenerFailed = Self(0x0540_0190, "TENON_ERROR_LISTENER_FAILED")
}
