// SPDX-License-Identifier: Apache-2.0

/// How a service takes this device's requests, as it announced last (docs/signing.md).
package struct SigningTerms: Equatable, Sendable {
    /// 1, 2 or both.
    package let versions: Set<Int64>
    /// The hosts that take version 2, each as a request names it.
    package private(set) var hosts: [String]
    package let takesBatches: Bool
    package let mostMembers: Int

    /// nil for an announcement that no service makes: it is not followed in part.
    package init?(versions: [Int64], hosts: [String], takesBatches: Bool = true, mostMembers: Int64? = nil) {
        let known = Set(versions).intersection([1, 2])
        let most = mostMembers ?? Int64(RequestBatch.mostMembers)
        guard !known.isEmpty, most >= 1, hosts.count <= 64, hosts.allSatisfy(Self.isHost) else { return nil }
        (self.versions, self.hosts, self.takesBatches) = (known, hosts, takesBatches)
        self.mostMembers = Int(min(most, Int64(RequestBatch.mostMembers)))
    }

    /// The same for more hosts.
    func with(hosts more: [String]) -> SigningTerms {
        var terms = self
        terms.hosts += more
        return terms
    }

    /// A name of 253 characters and a port.
    private static func isHost(_ text: String) -> Bool { text.isVisible(atMost: 259) }

    /// How a request to a host is signed.
    enum Choice: Equatable {
        case version1
        /// - Parameter form: nil leaves it to the line.
        case version2(RequestForm?)
    }

    /// Version 2 for the hosts that take it. Elsewhere version 1, and if that is not taken any more, version 2 in the form
    /// that every verifier knows.
    func choice(for host: String) -> Choice {
        if versions.contains(2), hosts.contains(host) { return .version2(takesBatches ? nil : .plain) }
        return versions.contains(1) ? .version1 : .version2(.plain)
    }

    /// Whether version 1 is not signed any more.
    var isOnlyVersion2: Bool { versions == [2] }
}

extension SigningTerms: RecordObject {
    static func coded(_ coder: RecordCoder, _ known: SigningTerms?) throws(TenonError) -> SigningTerms {
        let terms = try SigningTerms(
            versions: coder.member("versions", known?.versions.sorted(), .list(.number)),
            hosts: coder.member("hosts", known?.hosts, .list(.text)),
            takesBatches: coder.member("batches", known?.takesBatches, .flag),
            mostMembers: Int64(coder.member("batch_max", known?.mostMembers, .count)))
        guard let terms else { throw IdentityRecord.malformed("signing") }
        return terms
    }
}

extension IdentityRecord {
    /// Follows an announcement in an answer of the service's own endpoints. A service that does not announce anything
    /// takes version 1.
    ///
    /// Once only version 2 is signed, an answer does not lead back to version 1, unless it is that to a registration or to
    /// a rotation, which was signed by version 2 itself (decision: announced-signing).
    package mutating func follow(_ announced: SigningTerms?, mayWiden: Bool) {
        if signing?.isOnlyVersion2 == true {
            guard let announced, mayWiden || announced.isOnlyVersion2 else { return }
        }
        signing = announced
    }
}
