// SPDX-License-Identifier: Apache-2.0

extension TenonError {
    package static let cancelled = TenonError(
        .cancelled, message: "The task was cancelled before anything was sent: nothing was lost.")
}
