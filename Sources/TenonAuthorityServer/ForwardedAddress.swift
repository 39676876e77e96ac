// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import TenonAuthority

/// Who asks, where a proxy passes requests on.
enum ForwardedAddress {
    /// The last address that a trusted proxy did not have itself (security.md F4): what stands before it, anybody may
    /// have written.
    static func asker(
        _ peer: String, _ headers: [(name: String, value: String)], trusted: Set<String>
    ) -> String {
        var asker = peer
        var before = headers.filter { $0.name.lowercased() == "x-forwarded-for" }
            .flatMap { $0.value.split(separator: ",", omittingEmptySubsequences: false) }
        // Who comes by a unix socket, whose file the operator guards, is a proxy of this machine.
        while trusted.contains(asker) || asker.isEmpty, let next = before.popLast() {
            let address = next.filter { $0 != " " && $0 != "\t" }
            guard isAddress(address) else { return asker }
            asker = address
        }
        return asker
    }

    private static func isAddress(_ text: String) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        return !text.utf8.contains(0)
            && (inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1)
    }
}
