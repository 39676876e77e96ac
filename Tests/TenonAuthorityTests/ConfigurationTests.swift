// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonAuthority
import TenonAuthoritySynheart
import Testing

@Suite struct ConfigurationTests {
    /// A configuration with every member.
    static let whole = """
        {
          "origins": ["https://auth.example", "http://127.0.0.1:8420"],
          "instance": "one",
          "public": {"address": "::", "port": 443, "certificate": "a.pem", "key": "a.key"},
          "internal": {"unix": "verify.sock"},
          "admin": {"unix": "admin2.sock"},
          "apps": [
            {
              "id": "a",
              "dialects": ["tenon"],
              "require_attestation": true,
              "ek_admission": "both",
              "ek_roots": [{"path": "roots"}, {"path": "more.pem", "require_eku": true}],
              "ek_allow_list": [
                "\(String(repeating: "ab", count: 32))",
                {"ek_id": "\(String(repeating: "ac", count: 32))", "maker": "id:1", "version": "id:2"}
              ],
              "max_devices_per_ek": 3, "registration": "approve", "max_pending": 7, "require_owner_hierarchy": true,
              "allow_development": true,
              "max_key_age_days": 90,
              "unproven_rotation": "refuse",
              "v1_query": "allow"
            },
            {"id": "b", "require_attestation": false, "unproven_rotation": "mark_unattested"}
          ],
          "backends": [
            {
              "name": "ingest", "token_sha256": "\(String(repeating: "cd", count: 32))", "apps": ["a", "b"],
              "mount": "/ingest", "hosts": ["ingest.example", "10.0.0.1", "[::1]"]
            }
          ],
          "ek_deny": {
            "ek_ids": ["\(String(repeating: "ef", count: 32))"],
            "models": [{"maker": "id:1", "version": "v"}, {"model": "m"}], "crls": ["lists", "one.crl"]
          },
          "limits": {
            "challenges": 1, "requests_per_device": 2, "requests": 3, "per_address_per_minute": 4,
            "per_app_per_minute": 5, "activations": 6, "connections": 7, "body_bytes": 1024
          },
          "trusted_proxies": ["10.0.0.1", "FD00:0::1", "::ffff:10.0.0.2", "unix"]
        }
        """

    static func parse(_ text: String) throws(TenonError) -> Configuration {
        try Configuration(parsing: Array(text.utf8))
    }

    @Test func everyMemberIsRead() throws {
        let read = try Self.parse(Self.whole)
        #expect(read.origins == ["https://auth.example", "http://127.0.0.1:8420"])
        #expect(read.instance == "one" && read.adminSocket == "admin2.sock")
        #expect(
            read.publicListener == .tcp(address: "::", port: 443, tls: .init(certificate: "a.pem", key: "a.key")))
        #expect(read.internalListener == .unix(path: "verify.sock"))
        #expect(read.trustedProxies == ["10.0.0.1", "fd00::1", "10.0.0.2", "unix"] && !read.isLocal)
        let app = try #require(read.app("a"))
        #expect(app.dialects == [.tenon] && app.requiresAttestation && app.ekAdmission == .both)
        #expect(
            app.ekRoots == [.init(path: "roots", requiresEKU: false), .init(path: "more.pem", requiresEKU: true)])
        let ids = [UInt8(0xab), 0xac].map { [UInt8](repeating: $0, count: 32) }
        #expect(
            try app.inventory == [
                Digest(rawRepresentation: ids[0]): .init(),
                Digest(rawRepresentation: ids[1]): .init(maker: "id:1", version: "id:2"),
            ])
        #expect(app.registration == .approve && app.maxPending == 7 && app.requiresOwnerHierarchy)
        #expect(app.maxDevicesPerEK == 3 && app.allowsDevelopment && app.maxKeyAgeDays == 90)
        #expect(app.unprovenRotation == .refuse && app.version1Query == .allow)
        #expect(read.app("b")?.unprovenRotation == .markUnattested && read.app("c") == nil)
        let backend = try #require(read.backends.first)
        #expect(backend.name == "ingest" && backend.apps == ["a", "b"] && backend.mount == "/ingest")
        #expect(backend.tokenDigest == (try Digest(rawRepresentation: [UInt8](repeating: 0xcd, count: 32))))
        #expect(backend.hosts == ["ingest.example", "10.0.0.1", "[::1]"])
        #expect(read.ekDeny.ids == [try Digest(rawRepresentation: [UInt8](repeating: 0xef, count: 32))])
        #expect(read.ekDeny.models == [.init(maker: "id:1", version: "v"), .init(model: "m")])
        #expect(read.ekDeny.lists == ["lists", "one.crl"])
        let limits = read.limits
        #expect([limits.challenges, limits.requestsPerDevice, limits.requests] == [1, 2, 3])
        #expect([limits.perAddressPerMinute, limits.perAppPerMinute, limits.activations] == [4, 5, 6])
        #expect([limits.connections, limits.bodyBytes] == [7, 1024])
    }

    @Test func whatIsNotSaidIsSafe() throws {
        let read = try Self.parse(Self.small())
        let app = try #require(read.app("demo"))
        #expect(read.publicListener == .tcp(address: "127.0.0.1", port: 8420, tls: nil))
        #expect(read.internalListener == nil && read.adminSocket == "admin.sock" && read.instance == "main")
        #expect(read.backends.isEmpty && read.trustedProxies.isEmpty && read.isLocal)
        #expect(read.limits == AuthorityLimits())
        #expect(app.requiresAttestation && app.ekAdmission == .chain && !app.allowsDevelopment)
        #expect(app.dialects == [.docs, .tenon] && app.maxDevicesPerEK == 8 && app.maxKeyAgeDays == nil)
        #expect(app.registration == .open && !app.requiresOwnerHierarchy)
        // A valid setting that may surprise an operator is reported at the start.
        #expect(read.notes.count == 1 && read.notes[0].hasPrefix("app demo: "))
        #expect(try Self.parse(Self.small(app: #""dialects": ["tenon"]"#)).notes.isEmpty)
        #expect(app.unprovenRotation == .refuse && app.version1Query == .refuseWrites)
    }

    /// A configuration with one invalid member, in line 3.
    static func small(_ member: String = "", app: String = "") -> String {
        """
        {
          "origins": ["http://127.0.0.1:8420"],
          \(member.isEmpty ? "" : member + ",")
          "apps": [
            {"id": "demo"\(app.isEmpty ? "" : ",\n" + app)}
          ]
        }
        """
    }

    /// A mistake in line 3, and what is said of it.
    @Test(arguments: [
        (#""unknown": 1"#, "unknown is not known"),
        (#""public": {"port": 1}"#, "public needs \"unix\", or \"address\" and \"port\""),
        (#""public": {"address": "0.0.0.0", "port": 1}"#, "public needs \"certificate\" and \"key\""),
        (#""public": {"address": "here", "port": 1}"#, "public.address must be an IP address"),
        (#""public": {"address": "::1", "port": 65536}"#, "public.port must be a whole number from 0 to 65535"),
        (#""public": {"address": "::1", "port": "1"}"#, "public.port must be a whole number"),
        (#""public": {"address": "::1", "port": 1, "key": "k"}"#, "public needs both \"certificate\" and \"key\""),
        (#""public": {"unix": "s", "port": 1}"#, "public must be either"),
        (#""public": []"#, "public must be an object"),
        (#""internal": {"unix": "s"}"#, "internal needs \"backends\""),
        (#""internal": {"address": "10.0.0.1", "port": 1, "behind_proxy": true}"#, "internal needs \"certificate\""),
        (#""admin": {}"#, "admin needs \"unix\""), (#""admin": {"unix": ""}"#, "admin.unix must be"),
        (#""admin": {"unix": "a", "port": 1}"#, "admin.port is not known"),
        (#""instance": "a b""#, "instance must be 1 to 64"),
        (#""shared": {}"#, "shared needs \"redis\""),
        (#""shared": {"redis": "redis://10.0.0.1:1", "postgres": "p"}"#, "shared.redis must be redis://"),
        (#""shared": {"redis": "redis://:secret@127.0.0.1:1", "postgres": "p"}"#, "shared.redis must be redis://"),
        (#""shared": {"redis": "unix:/r"}"#, "shared needs \"postgres\""),
        (#""shared": {"redis": "unix:/r", "postgres": "p", "name": "A"}"#, "shared.name must be 1 to 63"),
        (#""shared": {"redis": "unix:/r", "postgres": "p", "password": "A"}"#, "shared.password is not known"),
        (#""trusted_proxies": ["a"]"#, "trusted_proxies[0] must be an address"),
        (#""limits": {"challenges": 0}"#, "limits.challenges must be a whole number from 1 to 10000000"),
        (#""limits": {"chalenges": 1}"#, "limits.chalenges is not known"),
        (#""ek_deny": {"models": [{}]}"#, "ek_deny.models[0] needs \"maker\", \"model\" or \"version\""),
        (#""ek_deny": {"models": [{"maker": ""}]}"#, "ek_deny.models[0].maker must be a text"),
        (#""ek_deny": {"ek_ids": ["ab"]}"#, "ek_deny.ek_ids[0] must be a SHA-256 in hex"),
        (#""ek_deny": {"crls": [""]}"#, "ek_deny.crls[0] must be a PEM file"),
        (#""trusted_proxies": ["localhost"]"#, "trusted_proxies[0] must be an address, or \"unix\""),
        (#""backends": [{"name": "a"}]"#, "backends[0] needs \"token_sha256\""),
        (#""backends": {}"#, "backends must be an array"),
        ("\"\\u0007\": 1", "(a name that is not shown) is not known"),
    ])
    func aMistakeIsNamedWithItsLine(_ member: String, _ what: String) async {
        await Self.expect(Self.small(member), 3, what)
    }

    static func expect(
        _ text: String, _ line: Int, _ what: String, _ location: SourceLocation = #_sourceLocation
    ) async {
        let error = await errorThrown { try parse(text) }
        #expect(error?.code == .configuration, sourceLocation: location)
        let message = error?.message ?? ""
        #expect(message.hasPrefix("The configuration, line \(line): \(what)"), "\(message)", sourceLocation: location)
    }

    private static let ab = String(repeating: "ab", count: 32)

    /// A mistake in the record of an app, and what is said behind its place.
    @Test(arguments: [
        (#""dialects": ["swift"]"#, "dialects[0] must be \"docs\" or \"tenon\""),
        (#""dialects": ["docs", "docs"]"#, "dialects[1] is listed twice"),
        (#""ek_admission": "none""#, "ek_admission must be \"chain\" or \"inventory\" or \"both\""),
        (#""ek_admission": "inventory""#, "ek_admission needs \"ek_allow_list\""),
        (#""ek_allow_list": ["\#(ab)"]"#, "ek_allow_list has no effect"),
        (#""ek_allow_list": ["ab"]"#, "ek_allow_list[0] must be a SHA-256 in hex"),
        (#""ek_roots": [{}]"#, "ek_roots[0] needs \"path\""),
        (#""ek_roots": ["a.pem"]"#, "ek_roots[0] must be an object"),
        (#""max_devices_per_ek": 0"#, "max_devices_per_ek must be a whole number"),
        (#""unproven_rotation": "mark_unattested""#, "unproven_rotation must be \"refuse\""),
        (#""require_attestation": "no""#, "require_attestation must be true or false"),
        (#""dialects": ["docs"], "max_key_age_days": 90"#, "max_key_age_days leads to devices that cannot sign"),
        (#""max_key_age_days": 90"#, "max_key_age_days leads to devices that cannot sign"),
        (#""firmware_min": 1"#, "firmware_min cannot be judged"),
        (#""require_owner_hierarchy": true"#, "require_owner_hierarchy needs \"dialects\""),
        (
            #""require_owner_hierarchy": true, "dialects": ["tenon"], "require_attestation": false"#,
            "require_owner_hierarchy needs \"require_attestation\""
        ),
        (#""registration": "closed""#, "registration must be \"open\" or \"approve\""),
        (#""ek_allow_list": ["\#(ab)", {"ek_id": "\#(ab)"}]"#, "ek_allow_list lists a TPM twice"),
        (#""ek_allow_list": [{"maker": "id:1"}]"#, "ek_allow_list[0] needs \"ek_id\""),
        (#""ek_allow_list": [{"ek_id": "\#(ab)", "model": "\u0001"}]"#, "ek_allow_list[0].model must be 1 to 64"),
        (#""id2": 1"#, "id2 is not known"),
    ])
    func aMistakeInAnAppIsNamedWithItsLine(_ member: String, _ what: String) async {
        await Self.expect(Self.small(app: member), 6, "apps[0]." + what)
    }

    /// The age of keys may be limited only if a rotation can be proven or needs no proof.
    @Test(arguments: [
        #""dialects": ["tenon"], "max_key_age_days": 90"#,
        #""require_attestation": false, "unproven_rotation": "mark_unattested", "max_key_age_days": 90"#,
        #""dialects": ["docs"]"#, #""registration": "approve""#, #""registration": "open", "max_pending": 1"#,
    ])
    func anAppIs(_ member: String) async {
        let error = await errorThrown { try Self.parse(Self.small(app: member)) }
        #expect(error == nil, "\(error?.message ?? "")")
    }

    @Test func whatOneMemberCannotKnowIsCheckedToo() async {
        await Self.expect("{}", 1, "the file needs \"origins\"")
        await Self.expect("\n{\"origins\": [\"https://a.example\"]}", 2, "the file needs \"apps\"")
        await Self.expect("[]", 1, "the file must be an object")
        func backend(_ name: String, _ more: String = #", "apps": ["a"]"#) -> String {
            #"{"name": "\#(name)", "token_sha256": "\#(Self.ab)"\#(more)}"#
        }
        let app = #"{"id": "a"}"#
        for (name, values, what) in [
            ("apps", "\(app), \(app)", "apps lists an app twice"), ("apps", "{}", "apps[0] needs \"id\""),
            ("apps", "{\"id\": \"a b\"}", "apps[0].id must be"),
            ("backends", "\(backend("b")), \(backend("b"))", "backends lists a name twice"),
            ("backends", "\(backend("b")), \(backend("c"))", "backends lists a token twice"),
            ("backends", backend("c", #", "apps": ["z"]"#), "backends[0].apps[0] must be the id of an app"),
            ("backends", backend("c", ""), "backends[0] needs \"apps\""),
        ] {
            let apps = name == "apps" ? "" : ", \"apps\": [\(app)]"
            await Self.expect("{\"origins\": [\"http://localhost\"]\(apps),\n\"\(name)\": [\(values)]}", 2, what)
        }
    }

    /// Without roots, no device can be attested: a demo on loopback may start without them, a service may not.
    @Test func rootsAreNeededWhereStrangersCome() async throws {
        let proxies = #""trusted_proxies": ["10.0.0.2"]"#
        let open = #""public": {"address": "10.0.0.1", "port": 1, "behind_proxy": true}, "# + proxies
        await Self.expect(Self.small(open), 5, "apps[0] needs \"ek_roots\"")
        _ = try Self.parse(Self.small(open, app: #""require_attestation": false"#))
        _ = try Self.parse(Self.small(open, app: #""ek_roots": [{"path": "a"}]"#))
    }

    /// A listener on loopback with a proxy in front of it is open to the world.
    @Test func strangersComeByAProxy() async throws {
        func proxied(_ app: String = "") -> String {
            Self.small(#""trusted_proxies": ["127.0.0.1"]"#, app: app)
                .replacing(#"["http://127.0.0.1:8420"]"#, with: #"["http://127.0.0.1:8420", "https://a.example"]"#)
        }
        await Self.expect(proxied(), 5, "apps[0] needs \"ek_roots\"")
        #expect(try !Self.parse(proxied(#""ek_roots": [{"path": "a"}]"#)).isLocal)
        #expect(try Self.parse(Self.small()).isLocal)
        let unix = Self.small(#""public": {"unix": "s"}"#)
        #expect(try Self.parse(unix).isLocal)
        #expect(try Self.parse(unix.replacing("127.0.0.1:8420", with: "localhost")).isLocal)
    }

    /// Otherwise clients could choose their own address, or all of them would have the proxy's (decision: shares).
    @Test func aProxyIsNamed() async throws {
        let open = #""public": {"address": "10.0.0.1", "port": 1, "behind_proxy": true}"#
        let app = #""ek_roots": [{"path": "a"}]"#
        await Self.expect(Self.small(open, app: app), 3, "public is behind a proxy: name it in \"trusted_proxies\"")
        let hidden = Self.small(app: app).replacing("http://127.0.0.1:8420", with: "https://a.example")
        await Self.expect(hidden, 2, "origins are reached through a proxy")
        let direct = Self.small(#""public": {"address": "::", "port": 1, "certificate": "c", "key": "k"}"#, app: app)
        #expect(try Self.parse(direct).trustedProxies.isEmpty)
    }

    @Test(arguments: [
        "https://a.example", "https://a.example:8443", "https://10.0.0.1", "https://[fd00::1]:1", "http://localhost",
        "http://127.0.0.1:8420", "http://[::1]",
    ])
    func anOriginIs(_ origin: String) throws {
        let text = Self.small(#""trusted_proxies": ["::1"]"#, app: #""ek_roots": [{"path": "a"}]"#)
        #expect(try Self.parse(text.replacing("http://127.0.0.1:8420", with: origin)).origins == [origin])
    }

    @Test(arguments: [
        "", "a.example", "https://", "https://A.example", "https://a.example/", "https://a.example:443",
        "https://a.example:0", "https://a.example:08", "https://a.example:65536", "https://a.example:",
        "http://a.example",
        "http://127.0.0.1:80", "http://10.0.0.1", "https://[fd00::g]", "https://fd00::1", "https://a..example",
        "https://-a.example", "https://a.example?q", "https://u@a.example", "wss://a.example", "https://a_b.example",
    ])
    func anOriginIsNot(_ origin: String) async {
        await Self.expect(
            Self.small().replacing("http://127.0.0.1:8420", with: origin), 2,
            "origins[0] must be scheme://host[:port]")
    }

    @Test func whatIsNoJSONIsNamedWithItsLine() async {
        await Self.expect("", 1, "")
        await Self.expect("{\n\"origins\": [\n\"a\",\n}", 4, "")
        await Self.expect("{\n\"a\": 1,\n\"a\": 2}", 3, "")
        await Self.expect("{}\n\nx", 3, "")
        await Self.expect("{\n\"a\": \"\u{1}\"}", 2, "")
        let deep = await errorThrown { try Self.parse(String(repeating: "[", count: 100)) }
        #expect(deep?.code == .configuration)
        let large = await errorThrown { try Self.parse("{}" + String(repeating: " ", count: 1 << 20)) }
        #expect(large?.code == .configuration)
    }

    /// A certificate on the command line replaces that of the text, and allows an address that others can reach.
    @Test func tlsFromOutside() async throws {
        let tls = Listener.TLS(certificate: "/c", key: "/k")
        let app = #""ek_roots": [{"path": "a"}]"#
        let open = Self.small(#""public": {"address": "::", "port": 1}"#, app: app)
        await Self.expect(open, 3, "public needs \"certificate\"")
        for text in [open, open.replacing("\"port\": 1", with: #""port": 1, "certificate": "x", "key": "y""#)] {
            let read = try Configuration(parsing: Array(text.utf8), tls: tls)
            #expect(read.publicListener == .tcp(address: "::", port: 1, tls: tls))
        }
        let plain = try Configuration(parsing: Array(Self.small().utf8), tls: tls)
        #expect(plain.publicListener == .tcp(address: "127.0.0.1", port: 8420, tls: tls))
        let unix = Array(Self.small(#""public": {"unix": "s"}"#).utf8)
        #expect(await errorThrown { try Configuration(parsing: unix, tls: tls) }?.code == .configuration)
    }

    // MARK: The file

    @Test func aFileIsRead() async throws {
        let folder = try TestFolder()
        try folder.write(Array(Self.whole.utf8), to: "a.json")
        #expect(try Configuration(file: "\(folder.path)/a.json") == Self.parse(Self.whole))
        try folder.write(Array((Self.whole + String(repeating: "\n", count: 1 << 20)).utf8), to: "a.json")
        let large = await errorThrown { try Configuration(file: "\(folder.path)/a.json") }
        #expect(large?.code == .configuration)
        for path in ["\(folder.path)/none", folder.path] {
            #expect(await errorThrown { try Configuration(file: path) }?.code == .storePermission)
        }
    }

    @Test func withoutAFileOneIsWritten() async throws {
        let folder = try TestFolder()
        let state = try AuthorityFolder(folder.path)
        let text = try Configuration.writeDefault(in: state, service: .synheart, port: 9_000, ekRoots: ["a \"b\".pem"])
        let path = "\(folder.path)/\(Configuration.fileName)"
        #expect(try folder.read(Configuration.fileName) == Array(text.utf8))
        let read = try Configuration(file: path)
        #expect(read.origins == ["http://127.0.0.1:9000"] && read.publicListener.isLocal)
        #expect(read.app("demo")?.requiresAttestation == true && read.app("demo")?.dialects == [.tenon])
        #expect(read.app("demo")?.ekRoots == [.init(path: "a \"b\".pem", requiresEKU: false)])
        let again = await errorThrown { try Configuration.writeDefault(in: state, service: .synheart) }
        #expect(again?.code == .storePermission)
        #expect(try folder.read(Configuration.fileName) == Array(text.utf8))
        _ = try Self.parse(Configuration.defaultText(service: .synheart))
    }
}
