// SPDX-License-Identifier: Apache-2.0

/// What hosts said for themselves about signature version 2. The process keeps it, not the disk (decision:
/// hosts-that-add-themselves).
struct HostTerms {
    /// How long it holds that a host takes version 2. On the clock that nobody sets.
    static let validity = Duration.seconds(86_400)
    private static let most = 64

    /// The hosts that refused a form.
    private var refusing: Set<String> = []
    private var taking: [String: ContinuousClock.Instant] = [:]

    func takesBatches(_ host: String) -> Bool { !refusing.contains(host) }

    /// A host that refuses a form gets no batch any more, whatever it says of itself.
    mutating func refuse(_ host: String) {
        refusing.insert(host)
        taking[host] = nil
    }

    /// Follows what a host says of itself in an answer.
    ///
    /// - Parameter host: nil if somebody on the way may have answered, who is not heard.
    mutating func follow(_ answer: HTTPResponse, of host: String?, at now: ContinuousClock.Instant) {
        guard let host, !refusing.contains(host), answer.values(of: "Accept-Signature") == [Self.invitation] else {
            return
        }
        taking = taking.filter { $0.value > now }
        guard taking.count < Self.most || taking[host] != nil else { return }
        taking[host] = now + Self.validity
    }

    /// What the service announced, with the hosts that spoke for themselves.
    func added(to terms: SigningTerms?, at now: ContinuousClock.Instant) -> SigningTerms? {
        guard let terms, !taking.isEmpty else { return terms }
        return terms.with(hosts: taking.filter { $0.value > now }.map(\.key))
    }

    /// RFC 9421, 5.1, in the one form that is read (docs/signing.md).
    private static let invitation =
        #"tenon=("@method" "@authority" "@path" "@query" "content-digest" "x-app-id" "x-device-id");tag="tenon-batch""#
}
