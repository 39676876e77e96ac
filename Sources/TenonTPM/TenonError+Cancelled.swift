// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension TenonError {
    static let cancelled = TenonError(
        .cancelled, message: "The task was cancelled before the TPM was asked; nothing was sent.")
}
