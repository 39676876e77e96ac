// SPDX-License-Identifier: Apache-2.0
public import Tenon

// The codes of a program that is typed (01f0 to 01ff).
extension TenonError.Code {
    /// The process may not open as many files as the program needs.
    public static let fileLimit = Self(0x0540_01f0, "TENON_ERROR_FILE_LIMIT")
    /// The command succeeded, but its answer could not be written.
    public static let output = Self(0x0540_01f1, "TENON_ERROR_OUTPUT")
}
