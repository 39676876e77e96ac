// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What an operator says: one JSON object, read once at start. A member that is not known is a mistake, and a mistake
/// is named with its line.
///
/// Paths are as they were written; a relative one is meant from the state folder.
package struct Configuration: Equatable, Sendable {
    /// The base URLs' origins: what activations and proofs of possession are bound to. No other is taken.
    package var origins: [String]
    /// Which instance this is, in the lines of the audit log.
    package var instance: String
    package var publicListener: Listener
    /// Where backends ask; without one they cannot.
    package var internalListener: Listener?
    /// A unix socket's path (decision: listeners).
    package var adminSocket: String
    /// Where metrics are read, on loopback; without one the admin socket has them alone.
    package var metricsListener: Listener?
    package var apps: [AppRecord]
    package var backends: [BackendRecord]
    /// TPMs that no app takes.
    package var ekDeny: EndorsementDenials
    /// The stores of `--shared`.
    package var shared: SharedRecord?
    package var limits: AuthorityLimits
    /// The proxies whose `X-Forwarded-For` is believed: addresses, and `unix` for who comes by a unix socket.
    package var trustedProxies: [String]

    /// Whether nobody but this machine asks, also by way of a proxy: what is meant for a demo is on then
    /// (decision: demo).
    package var isLocal: Bool { Configuration.isLocal(publicListener, origins) }

    /// - Parameter tls: of the public listener, in the place of what the text says.
    /// - Throws: ``TenonError/Code/configuration``, whose message names the line of the first mistake.
    package init(parsing bytes: [UInt8], tls: Listener.TLS? = nil) throws(TenonError) {
        self = try ConfigurationSection.read(ConfigurationText(bytes)) { section throws(TenonError) in
            try Configuration(&section, tls: tls)
        }
    }

    /// What an operator should know of a configuration that is right.
    package var notes: [String] {
        apps.filter { $0.requiresAttestation && $0.cannotRotateInDocs }.map {
            "app \($0.id): attested devices of dialect \"docs\" keep their first keys, as they cannot prove a rotation; "
                + "those of dialect \"tenon\" rotate"
        }
    }

    /// By its bytes: two spellings of one text are two ids.
    package func app(_ id: String) -> AppRecord? { apps.first { $0.id.utf8.elementsEqual(id.utf8) } }

    private init(_ section: inout ConfigurationSection, tls: Listener.TLS?) throws(TenonError) {
        origins = try section.list("origins", "scheme://host[:port] in lower case, https unless loopback") {
            $0.string.flatMap { Address.isOrigin($0) ? $0 : nil }
        }
        instance =
            try section.optional("instance", "1 to 64 of A-Z a-z 0-9 . _ -", ConfigurationForm.name) ?? "main"
        var hasProxy = false
        let listener = try section.section("public") { section throws(TenonError) in
            hasProxy = try section.bool("behind_proxy", default: false)
            return try Listener(&section, hasProxy: hasProxy, tls: tls)
        }
        publicListener = listener ?? .tcp(address: "127.0.0.1", port: 8420, tls: tls)
        internalListener = try section.section("internal") { section throws(TenonError) in
            try Listener(&section)
        }
        let admin = try section.section("admin") { section throws(TenonError) in
            try section.required("unix", "the path of a socket", ConfigurationForm.path)
        }
        adminSocket = admin ?? "admin.sock"
        metricsListener = try section.section("metrics") { section throws(TenonError) in
            try Listener(metrics: &section)
        }
        let isLocal = Configuration.isLocal(publicListener, origins)
        apps = try section.sections("apps") { section throws(TenonError) in
            try AppRecord(&section, isLocal: isLocal)
        }
        let ids = apps.map(\.id)
        backends = try section.sections("backends") { section throws(TenonError) in
            try BackendRecord(&section, apps: ids)
        }
        let denials = try section.section("ek_deny") { section throws(TenonError) in try EndorsementDenials(&section) }
        ekDeny = denials ?? EndorsementDenials()
        shared = try section.section("shared") { section throws(TenonError) in try SharedRecord(&section) }
        let limits = try section.section("limits") { section throws(TenonError) in try AuthorityLimits(&section) }
        self.limits = limits ?? AuthorityLimits()
        trustedProxies = try section.list("trusted_proxies", "an address, or \"unix\"", ConfigurationForm.proxy)
        try check(section)
        try check(section, hasProxy: hasProxy)
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

    /// Behind a proxy everybody has its address: it has to say whose they are, and nobody else may (decision: shares).
    private func check(_ section: ConfigurationSection, hasProxy: Bool) throws(TenonError) {
        guard trustedProxies.isEmpty else { return }
        if hasProxy { throw section.mistake("is behind a proxy: name it in \"trusted_proxies\"", "public") }
        if !publicListener.hasTLS && !origins.allSatisfy(Address.isLoopbackOrigin) {
            throw section.mistake(
                "are reached through a proxy, as \"public\" has no certificate: name it in \"trusted_proxies\"",
                "origins")
        }
    }

    private static func isLocal(_ listener: Listener, _ origins: [String]) -> Bool {
        listener.isLocal && origins.allSatisfy(Address.isLoopbackOrigin)
    }
}
