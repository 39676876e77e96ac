// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A service that may ask whether a request is good (decision: verify-endpoint).
package struct BackendRecord: Equatable, Sendable {
    package var name: String
    /// SHA-256 of its token, which is 32 random bytes in whatever text; the token itself is nowhere here.
    package var tokenDigest: Digest
    /// The apps whose devices it may ask about.
    package var apps: Set<String>
    /// What its paths begin with and devices do not sign, like `/ingest`; "" is nothing.
    package var mount: String
    /// The hosts that its requests may name; none is any.
    package var hosts: Set<String>

    init(_ section: inout ConfigurationSection, apps known: [String]) throws(TenonError) {
        name = try section.required("name", "1 to 64 of A-Z a-z 0-9 . _ -", ConfigurationForm.name)
        tokenDigest = try section.required("token_sha256", "a SHA-256 in hex", ConfigurationForm.digest)
        apps = Set(
            try section.list("apps", "the id of an app that stands under \"apps\"") { json in
                json.string.flatMap { known.contains($0) ? $0 : nil }
            })
        mount = try section.optional("mount", "\"\" or a path like \"/ingest\"", ConfigurationForm.mount) ?? ""
        hosts = Set(try section.list("hosts", "a host name in lower case", ConfigurationForm.host))
        if apps.isEmpty { throw section.mistake("needs \"apps\", at least one") }
    }
}
