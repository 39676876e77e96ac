// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// What only one may have.
final class Turn: Sendable {
    private let isTaken = Atomic(false)

    /// Whether nobody took it before.
    func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
}
