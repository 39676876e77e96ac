// SPDX-License-Identifier: Apache-2.0

// The codes of a program that is typed (bit 22 set, 01f0 to 01ff).
extension TenonError.Code {
    /// The process may not open as many files as the program needs.
    public static let fileLimit = Self(rawValue: 0x0540_01f0)
    /// What was asked for is done, and the answer could not be written down.
    public static let output = Self(rawValue: 0x0540_01f1)

    /// The name in the manner of the C core.
    var commandName: String? {
        switch self {
        case .fileLimit: "TENON_ERROR_FILE_LIMIT"
        case .output: "TENON_ERROR_OUTPUT"
        default: nil
        }
    }
}
