// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import TenonAuthority

/// Who asks, where a proxy passes requests on.
enum ForwardedAddress {
    /// The last address that a trusted proxy did not have itself (decision: shares): what stands before it, anybody may
    /// have written.
    static func asker(
        _ peer: String, _ headers: [(name: String, value: String)], trusted: Set<String>
    ) -> String {
        var asker = peer
        var before = headers.filter { $0.name.lowercased() == "x-forwarded-for" }
            .flatMap { $0.value.split(separator: ",", omittingEmptySubsequences: false) }
        while trusted.contains(asker.isEmpty ? "unix" : asker), let next = before.popLast() {
            guard let address = Address.canonical(next.filter { $0 != " " && $0 != "\t" }) else { return asker }
            asker = address
        }
        return asker
    }
}
