// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What an operator says: one JSON object, read once at start. A member that is not known is a mistake, and a mistake
/// is named with its line.
///
/// Paths are as they were written; a relative one is meant from the state folder.
package struct Configuration: Equatable, Sendable {
    /// The base URLs' origins: what activations and proofs of possession are bound to. No other is taken.
    package var origins: [String]
    /// Where everything is kept; nil is the folder that the command was given.
    package var stateFolder: String?
    /// Which instance this is, in the lines of the audit log.
    package var instance: String
    package var publicListener: Listener
    /// Where backends ask; without one they cannot.
    package var internalListener: Listener?
    /// A unix socket's path (security.md F1).
    package var adminSocket: String
    package var apps: [AppRecord]
    package var backends: [BackendRecord]
    /// The stores of `--shared`.
    package var shared: SharedRecord?
    package var limits: AuthorityLimits
    /// The proxies whose `X-Forwarded-For` is believed.
    package var trustedProxies: [String]

    /// - Throws: ``TenonError/Code/configuration``, whose message names the line of the first mistake.
    package init(parsing bytes: [UInt8]) throws(TenonError) {
        self = try ConfigurationSection.read(ConfigurationText(bytes)) { section throws(TenonError) in
            try Configuration(&section)
        }
    }

    /// By its bytes: two spellings of one text are two ids.
    package func app(_ id: String) -> AppRecord? { apps.first { $0.id.utf8.elementsEqual(id.utf8) } }

    private init(_ section: inout ConfigurationSection) throws(TenonError) {
        origins = try section.list("origins", "scheme://host[:port] in lower case, https unless loopback") {
            $0.string.flatMap { Address.isOrigin($0) ? $0 : nil }
        }
        stateFolder = try section.optional("state_folder", "a path", ConfigurationForm.path)
        instance =
            try section.optional("instance", "1 to 64 of A-Z a-z 0-9 . _ -", ConfigurationForm.name) ?? "main"
        let listener = try section.section("public") { section throws(TenonError) in
            try Listener(&section, allowsProxy: true)
        }
        publicListener = listener ?? .tcp(address: "127.0.0.1", port: 8420, tls: nil)
        internalListener = try section.section("internal") { section throws(TenonError) in
            try Listener(&section, allowsProxy: false)
        }
        let admin = try section.section("admin") { section throws(TenonError) in
            try section.required("unix", "the path of a socket", ConfigurationForm.path)
        }
        adminSocket = admin ?? "admin.sock"
        let isLocal = publicListener.isLocal
        apps = try section.sections("apps") { section throws(TenonError) in
            try AppRecord(&section, isLocal: isLocal)
        }
        let ids = apps.map(\.id)
        backends = try section.sections("backends") { section throws(TenonError) in
            try BackendRecord(&section, apps: ids)
        }
        shared = try section.section("shared") { section throws(TenonError) in try SharedRecord(&section) }
        let limits = try section.section("limits") { section throws(TenonError) in try AuthorityLimits(&section) }
        self.limits = limits ?? AuthorityLimits()
        trustedProxies = try section.list("trusted_proxies", "an address", ConfigurationForm.address)
        try check(section)
    }

    /// What one member cannot know of the others.
    private func check(_ section: ConfigurationSection) throws(TenonError) {
        if origins.isEmpty { throw section.mistake("needs \"origins\", the origins of its public URLs") }
        if apps.isEmpty { throw section.mistake("needs \"apps\", at least one") }
        if Set(apps.map(\.id)).count < apps.count { throw section.mistake("has an app twice", "apps") }
        if Set(backends.map(\.name)).count < backends.count { throw section.mistake("has a name twice", "backends") }
        if Set(backends.map(\.tokenDigest)).count < backends.count {
            throw section.mistake("has a token twice", "backends")
        }
        if internalListener != nil && backends.isEmpty {
            throw section.mistake("is of no use without \"backends\"", "internal")
        }
    }
}
