// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// EKs whose certificates were found good, so that a device that asks again costs no signatures
/// (decision: costly-signatures). Roots and policy do not change while a service lives; dates do, so that nothing is kept for more
/// than an hour.
final class EndorsementCache: Sendable {
    private struct Entry {
        let key: EndorsementKey
        let end: Int64
    }

    private static let seconds: Int64 = 3_600
    private let capacity: Int
    private let entries = Mutex<[Digest: Entry]>([:])

    init(capacity: Int = 10_000) { self.capacity = capacity }

    /// By what certificates of which app are known.
    static func name(_ certificates: [[UInt8]], app: String) throws(TenonError) -> Digest {
        var bytes = Array("\(app)\n".utf8)
        for certificate in certificates { bytes += Array("\(certificate.count)\n".utf8) + certificate }
        return try Digest(hashing: bytes)
    }

    func key(_ name: Digest, at now: AuthorityInstant) -> EndorsementKey? {
        entries.withLock { $0[name] }.flatMap { now.boot / 1_000 < $0.end ? $0.key : nil }
    }

    func keep(_ key: EndorsementKey, _ name: Digest, at now: AuthorityInstant) {
        let seconds = now.boot / 1_000
        entries.withLock { entries in
            if entries.count >= capacity { entries = entries.filter { seconds < $0.value.end } }
            guard entries.count < capacity else { return }
            entries[name] = Entry(key: key, end: seconds + EndorsementCache.seconds)
        }
    }
}
