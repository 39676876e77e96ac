// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// The operator's configuration: one JSON object, read once at start. An unknown member is a mistake, and each mistake
/// is reported with its line.
///
/// Paths are kept as written; a relative path starts at the state folder.
package struct Configuration: Equatable, Sendable {
    /// The services that may be hosted. An app that names none belongs to the first.
    package var services: [HostedService]
    /// The origins of the base URLs, which activations and proofs of possession are bound to. Other origins are
    /// refused.
    package var origins: [String]
    /// The instance's name in the lines of the audit log.
    package var instance: String
    package var publicListener: Listener
    /// The listener for backends; without it, they cannot ask.
    package var internalListener: Listener?
    /// The path of the admin socket, a unix socket (decision: listeners).
    package var adminSocket: String
    /// The listener for metrics, on loopback; without it, only the admin socket has them.
    package var metricsListener: Listener?
    package var apps: [AppRecord]
    package var backends: [BackendRecord]
    /// The TPMs that every app refuses.
    package var ekDeny: EndorsementDenials
    /// The stores of `--shared`.
    package var shared: SharedRecord?
    package var limits: AuthorityLimits
    /// The proxies whose `X-Forwarded-For` is believed: addresses, and `unix` for clients of a unix socket.
    package var trustedProxies: [String]

    /// Whether only this machine can connect, even through a proxy. Then the features for a demo are on (decision:
    /// demo).
    package var isLocal: Bool { Configuration.isLocal(publicListener, origins) }

    /// - Parameters:
    ///   - services: the services that the program hosts, at least one.
    ///   - tls: the certificate and key of the public listener, which replace those in the text.
    /// - Throws: ``TenonError/Code/configuration``, whose message names the line of the first mistake.
    package init(
        parsing bytes: [UInt8], services: [HostedService], tls: Listener.TLS? = nil
    ) throws(TenonError) {
        self = try ConfigurationSection.read(ConfigurationText(bytes)) { section throws(TenonError) in
            try Configuration(&section, services: services, tls: tls)
        }
    }

    /// Notes for an operator about a valid configuration.
    package var notes: [String] {
        apps.flatMap { $0.settings.value.notes(on: $0) }
    }

    /// The most bytes of a body that some route accepts.
    package var largestBody: Int {
        let names = Set(apps.map(\.service))
        let routes = services.filter { names.contains($0.name) }.flatMap(\.routes)
        return routes.compactMap(\.maxBody).reduce(limits.bodyBytes, max)
    }

    /// Finds an app by the bytes of its id: two spellings of one text are two ids.
    package func app(_ id: String) -> AppRecord? { apps.first { $0.id.utf8.elementsEqual(id.utf8) } }

    private init(
        _ section: inout ConfigurationSection, services: [HostedService], tls: Listener.TLS?
    ) throws(TenonError) {
        self.services = services
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
            try AppRecord(&section, isLocal: isLocal, services: services)
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

    /// Checks the members that depend on each other.
    private func check(_ section: ConfigurationSection) throws(TenonError) {
        if origins.isEmpty { throw section.mistake("needs \"origins\", the origins of its public URLs") }
        if apps.isEmpty { throw section.mistake("needs \"apps\", at least one") }
        if Set(apps.map(\.id)).count < apps.count { throw section.mistake("lists an app twice", "apps") }
        if Set(backends.map(\.name)).count < backends.count { throw section.mistake("lists a name twice", "backends") }
        if Set(backends.map(\.tokenDigest)).count < backends.count {
            throw section.mistake("lists a token twice", "backends")
        }
        if internalListener != nil && backends.isEmpty {
            throw section.mistake("needs \"backends\"", "internal")
        }
    }

    /// Behind a proxy, all requests have its address. So a trusted proxy must name the clients' addresses, and nobody
    /// else may (decision: shares).
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

// Reading and writing the file.
extension Configuration {
    package static let fileName = "authority.json"

    /// Reads a file. Blocks on the disk.
    ///
    /// - Throws: ``TenonError/Code/storePermission`` when it cannot be read; ``TenonError/Code/configuration``.
    package init(
        file path: String, services: [HostedService], tls: Listener.TLS? = nil
    ) throws(TenonError) {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Configuration.unreadable(path) }
        defer { Glibc.close(file) }
        var bytes = [UInt8](repeating: 0, count: Configuration.maxFileBytes)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes { bytes in
                Glibc.read(file, bytes.baseAddress.map { $0 + count }, bytes.count - count)
            }
            guard read >= 0 || errno == EINTR else { throw Configuration.unreadable(path) }
            if read == 0 { break }
            count += max(0, read)
        }
        try self.init(parsing: Array(bytes[..<count]), services: services, tls: tls)
    }

    /// Writes the default configuration: app `demo`, loopback, attestation required. An existing file stays.
    ///
    /// - Parameters:
    ///   - service: the service that app `demo` belongs to.
    ///   - hasTLS: whether the authority is started with a certificate.
    ///   - ekRoots: PEM files of the TPM makers' roots; with none, registrations are refused.
    /// - Returns: the text, for the operator to see.
    package static func writeDefault(
        in folder: AuthorityFolder, service: HostedService, port: Int = 8420, hasTLS: Bool = false,
        ekRoots: [String] = []
    ) throws(TenonError) -> String {
        let text = try defaultText(service: service, port: port, hasTLS: hasTLS, ekRoots: ekRoots)
        let file = try folder.open(fileName, flags: O_EXCL)
        defer { Glibc.close(file) }
        let bytes = Array(text.utf8)
        guard write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
            throw TenonError(.storeFailed, message: "\(fileName) cannot be written. Free space on its disk.")
        }
        return text
    }

    /// The text that ``writeDefault(in:service:port:hasTLS:ekRoots:)`` writes.
    package static func defaultText(
        service: HostedService, port: Int = 8420, hasTLS: Bool = false, ekRoots: [String] = []
    ) throws(TenonError) -> String {
        var settings = ""
        for (name, value) in service.exampleSettings {
            settings += "\"\(name)\": \(String(decoding: try value.encoded(), as: UTF8.self)),\n      "
        }
        let roots = try JSON.array(ekRoots.map { ["path": .string($0)] }).encoded()
        return """
            {
              "origins": ["\(hasTLS ? "https" : "http")://127.0.0.1:\(port)"],
              "public": {"address": "127.0.0.1", "port": \(port)},
              "admin": {"unix": "admin.sock"},
              "apps": [
                {
                  "id": "demo",
                  \(settings)"require_attestation": true,
                  "ek_admission": "chain",
                  "ek_roots": \(String(decoding: roots, as: UTF8.self)),
                  "max_devices_per_ek": 8
                }
              ]
            }

            """
    }

    /// More is refused as too large; one byte more than the reader takes shows that there was more.
    private static let maxFileBytes = (1 << 20) + 1

    private static func unreadable(_ path: String) -> TenonError {
        TenonError(.storePermission, message: "\(path) cannot be read. Does it exist, and may the authority read it?")
    }
}

/// The limits of an authority.
package struct AuthorityLimits: Equatable, Sendable {
    /// The most outstanding challenges.
    package var challenges = 10_000
    /// The most challenges of one IPv4 address or one IPv6 /64 while they are scarce; nil is a 256th.
    package var challengesPerAddress: Int?
    /// The most remembered requests of version 1 of one device.
    package var requestsPerDevice = 10_000
    /// The same for version 2: the most batches and requests that are alone.
    package var rootsPerDevice = 41_600
    /// The most requests of version 2 that one device may make in a second (decision: request-rate).
    package var requestsPerSecond = 2_000
    /// The most remembered requests and batches.
    package var requests = 2_000_000
    /// Requests to the public listener a minute, from one IPv4 address or one IPv6 /64.
    package var perAddressPerMinute = 600
    /// The same, for one app.
    package var perAppPerMinute = 60_000
    /// Activations that are computed or wait for it; more get 503.
    package var activations = 64
    package var connections = 1_024
    /// The most connections of one address to the public listener while they are scarce; nil is a 128th.
    package var connectionsPerAddress: Int?
    /// The most bytes of a body (decision: body-limits).
    package var bodyBytes = 32_768
    /// Seconds that a stop takes at most to answer open requests; then the process ends anyway.
    package var stopSeconds = 25

    package init() {}

    init(_ section: inout ConfigurationSection) throws(TenonError) {
        challenges = try section.integer("challenges", 1...10_000_000, default: challenges)
        challengesPerAddress = try section.optionalInteger("challenges_per_address", 1...10_000_000)
        requestsPerDevice = try section.integer("requests_per_device", 1...1_000_000, default: requestsPerDevice)
        rootsPerDevice = try section.integer("roots_per_device", 1...1_000_000, default: rootsPerDevice)
        requestsPerSecond = try section.integer("requests_per_second", 1...1_000_000, default: requestsPerSecond)
        requests = try section.integer("requests", 1...100_000_000, default: requests)
        perAddressPerMinute = try section.integer("per_address_per_minute", 1...1_000_000, default: perAddressPerMinute)
        perAppPerMinute = try section.integer("per_app_per_minute", 1...100_000_000, default: perAppPerMinute)
        activations = try section.integer("activations", 1...1_024, default: activations)
        connections = try section.integer("connections", 1...65_536, default: connections)
        connectionsPerAddress = try section.optionalInteger("connections_per_address", 1...65_536)
        bodyBytes = try section.integer("body_bytes", 1_024...1_048_576, default: bodyBytes)
        stopSeconds = try section.integer("stop_seconds", 1...600, default: stopSeconds)
    }
}
