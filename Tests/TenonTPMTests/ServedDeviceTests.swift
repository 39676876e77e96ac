// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonAuthority
import TenonHTTP
import TenonSynheart
import TenonTPM
import Testing

@testable import TenonAuthorityServer

/// A device with a software TPM at a running authority, over HTTP: all parts that there are, and none that plays another.
@Suite(.timeLimit(.minutes(1))) struct ServedDeviceTests {
    private struct World {
        let url: String
        let folder: String
        let tpm: TPM
        /// Of the authority's CA.
        let roots: [[UInt8]]

        /// A process of the device begins.
        func identity(_ dialect: Dialect) throws -> DeviceIdentity {
            let service = try Synheart(baseURL: url + "/auth", appID: "demo", dialect: dialect)
            return try DeviceIdentity(
                service, keys: .tpm(tpm, disclosure: .endorsement(above: [try Endorsed.issuer()])),
                transport: HTTPTransport(), attestationService: .init(url: url + "/ca/demo", roots: roots),
                stateDirectory: folder + "/device")
        }

        func send(_ signed: SignedRequest, _ method: String, _ path: String, _ body: [UInt8]) async throws -> Int {
            let headers = [("Content-Type", "application/json")] + signed.headers.map { ($0.name, $0.value) }
            let request = HTTPRequest(method: method, url: url + path, headers: headers, body: body)
            return try await HTTPTransport().exchange(request, deadline: .now + .seconds(20)).status
        }
    }

    private func withWorld(_ body: (World) async throws -> Void) async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            let folder = try #require(mkdtemp(strdup("/tmp/tenon-served-XXXXXX")).map { String(cString: $0) })
            defer { removeTree(folder) }
            // The origin is in the configuration, so the port is chosen before.
            let port = try ListeningSocket(address: "127.0.0.1", port: 0).port
            let text = try Configuration.defaultText(port: port, ekRoots: [Endorsed.rootFile])
            let authority = try await RunningAuthority(
                Configuration(parsing: Array(text.utf8)), in: AuthorityFolder(folder + "/authority"))
            let roots = authority.authority.service.keys.roots
            try await body(World(url: "http://127.0.0.1:\(port)", folder: folder, tpm: tpm, roots: roots))
            await authority.stop()
        }
    }

    @Test(arguments: [Dialect.docs, .tenon])
    func registersSignsAndRotates(_ dialect: Dialect) async throws {
        try await withWorld { world in
            let identity = try world.identity(dialect)
            let registered = try await identity.register()
            #expect(registered.status == .registered)
            try await echoes(world, identity)
            if dialect == .tenon {
                try await identity.rotate()
            } else {
                // `docs` has no place for the new key's proof, and an attested device stays one (security.md 1.2).
                let error = await errorAwaited { () async throws(TenonError) in try await identity.rotate() }
                #expect(error?.code == .attestationFailed)
            }
            try await echoes(world, identity)
            // Another process of the same device.
            let again = try world.identity(dialect)
            #expect(try await again.register().status == .alreadyRegistered)
            #expect(again.deviceID == registered.deviceID)
            try await again.maintain()
            try await echoes(world, again)
        }
    }

    /// A request is taken once, and as it was signed.
    private func echoes(_ world: World, _ identity: DeviceIdentity) async throws {
        let body = Array(#"{"a":1}"#.utf8)
        let signed = try await identity.sign("POST", path: "/v1/echo", body: body)
        #expect(try await world.send(signed, "POST", "/v1/echo", Array(#"{"a":2}"#.utf8)) == 401)
        #expect(try await world.send(signed, "POST", "/v1/echo", body) == 200)
        #expect(try await world.send(signed, "POST", "/v1/echo", body) == 409)
    }

    @Test func aDeviceThatIsResetIsAnother() async throws {
        try await withWorld { world in
            let identity = try world.identity(.tenon)
            let first = try await identity.register().deviceID
            try await identity.reset()
            #expect(!identity.isRegistered)
            #expect(try await identity.register().deviceID != first)
            try await echoes(world, identity)
        }
    }
}
