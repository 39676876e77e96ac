// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// The roots of batches that were verified last, so that the other members of a batch cost no verification (decision:
/// known-roots).
///
/// An entry says that a key signed a statement, which stays true. Only a verified one enters, so without its key nobody
/// adds any, and a device that signs many roots pushes out its own. Losing one costs one verification.
final class KnownRoots: Sendable {
    /// The most roots of one key, and in all.
    private let (perKey, total): (Int, Int)
    private let state = Mutex(State())

    /// Milliseconds after which a root that was not used is forgotten.
    static let retention: Int64 = 660_000

    init(perKey: Int = 64, total: Int = 65_536) { (self.perKey, self.total) = (perKey, total) }

    /// Whether this root, with its size and signature, was learnt and not forgotten since.
    func knows(_ root: SignedRoot, at now: AuthorityInstant) -> Bool {
        guard root.size > 0 else { return false }
        return state.withLock { $0.use(root, at: now.boot) }
    }

    /// Enters the root of a batch whose signature was verified.
    func learn(_ root: SignedRoot, at now: AuthorityInstant) {
        guard root.size > 0 else { return }
        state.withLock { state in
            if !state.use(root, at: now.boot) { state.add(root, at: now.boot, perKey: perKey, total: total) }
        }
    }

    var count: Int { state.withLock { $0.places.count } }

    /// The entries in the order of their last use: a list in an array, which costs each use a few writes.
    private struct State {
        private struct Entry {
            var root: SignedRoot
            var used: Int64
            var older: Int32
            var newer: Int32
        }

        /// By root; an entry is compared whole.
        private(set) var places: [Digest: Int32] = [:]
        private var entries: [Entry] = []
        private var free: [Int32] = []
        private var (oldest, newest): (Int32, Int32) = (-1, -1)
        /// The places of the entries of each key, the oldest first.
        private var ofKey: [Digest: [Int32]] = [:]

        mutating func use(_ root: SignedRoot, at now: Int64) -> Bool {
            forget(before: now - KnownRoots.retention)
            guard let place = places[root.root], entries[Int(place)].root == root else { return false }
            unlink(place)
            append(place, at: now)
            if let index = ofKey[root.thumbprint]?.firstIndex(of: place) {
                ofKey[root.thumbprint]?.remove(at: index)
                ofKey[root.thumbprint]?.append(place)
            }
            return true
        }

        mutating func add(_ root: SignedRoot, at now: Int64, perKey: Int, total: Int) {
            if let other = places[root.root] { remove(other) }
            if let own = ofKey[root.thumbprint], own.count >= perKey { remove(own[0]) }
            if places.count >= total { remove(oldest) }
            let entry = Entry(root: root, used: now, older: -1, newer: -1)
            let place = free.popLast() ?? Int32(entries.count)
            if Int(place) < entries.count { entries[Int(place)] = entry } else { entries.append(entry) }
            places[root.root] = place
            ofKey[root.thumbprint, default: []].append(place)
            append(place, at: now)
        }

        private mutating func forget(before time: Int64) {
            while oldest >= 0, entries[Int(oldest)].used < time { remove(oldest) }
        }

        private mutating func remove(_ place: Int32) {
            let root = entries[Int(place)].root
            unlink(place)
            places[root.root] = nil
            free.append(place)
            ofKey[root.thumbprint]?.removeAll { $0 == place }
            if ofKey[root.thumbprint]?.isEmpty == true { ofKey[root.thumbprint] = nil }
        }

        private mutating func append(_ place: Int32, at now: Int64) {
            (entries[Int(place)].used, entries[Int(place)].older, entries[Int(place)].newer) = (now, newest, -1)
            if newest >= 0 { entries[Int(newest)].newer = place } else { oldest = place }
            newest = place
        }

        private mutating func unlink(_ place: Int32) {
            let (older, newer) = (entries[Int(place)].older, entries[Int(place)].newer)
            if older >= 0 { entries[Int(older)].newer = newer } else { oldest = newer }
            if newer >= 0 { entries[Int(newer)].older = older } else { newest = older }
        }
    }
}
