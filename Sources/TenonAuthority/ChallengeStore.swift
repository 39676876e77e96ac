// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What is redeemed once and soon: challenges, and the pending secrets of the attestation CA.
///
/// The key of an entry is the SHA-256 of the challenge's text, or of the secret's bytes.
package protocol ChallengeStore: Sendable {
    /// Keeps an entry until its deadline. It is stored when this returns.
    ///
    /// - Throws: ``TenonError/Code/storeFull`` when as many entries as may be are outstanding; none makes room for
    ///   another; nor when its asker has its share of them, and they are scarce. ``TenonError/Code/storeFailed`` and the like: nothing is kept.
    func put(_ entry: ChallengeEntry, under key: Digest) async throws(TenonError)

    /// Gives the entry and forgets it, in one step: of any number of callers at once one has it, whatever becomes of
    /// that one, and also over a crash. Nil when there is none of that purpose, or its deadline has passed.
    ///
    /// - Throws: ``TenonError/Code/storeFailed`` and the like: nobody has the entry now; it may be there still.
    func take(_ purpose: ChallengeEntry.Purpose, under key: Digest) async throws(TenonError) -> ChallengeEntry?
}
