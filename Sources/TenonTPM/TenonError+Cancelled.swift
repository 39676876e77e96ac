// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension TenonError {
    static let cancelled = TenonError(
        .cancelled, message: "The task was cancelled before the TPM was asked; nothing was sent.")
}

extension TenonError.Code {
    /// The task was cancelled before the TPM was asked: nothing was sent, nothing was lost.
    public static let cancelled = Self(rawValue: 0x0a40_0001)
}
