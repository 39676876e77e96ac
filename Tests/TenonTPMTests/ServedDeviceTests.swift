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

        /// A process of the device begins, so many days from now.
        func identity(later days: Int64) throws -> DeviceIdentity {
            let synheart = try Synheart(baseURL: url + "/auth", appID: "demo", dialect: .tenon)
            let clock = FlowClock(
                moment: {
                    let now = FlowClock.system.moment()
                    return Moment(
                        continuous: now.continuous, sinceEpoch: now.sinceEpoch + .seconds(days * 86_400))
                }, boot: "boot", wait: { _ in }, draw: { _ in .zero })
            return try DeviceIdentity(
                appID: "demo", profile: synheart, vault: TPMKeyVault(tpm, .endorsement(above: [Endorsed.issuer()])),
                transport: HTTPTransport(), folder: StateFolder(at: folder + "/device"), clock: clock)
        }

        func record() throws -> IdentityRecord {
            let store = RecordStore(
                try IdentityName(profile: "synheart", baseURL: url + "/auth", appID: "demo"),
                in: try StateFolder(at: folder + "/device"))
            guard case .found(let record) = store.read() else { throw TenonError(.stateMissing, message: "") }
            return record
        }

        /// Puts another attestation key in the place of the device's.
        func replaceAttestationKey(_ facts: KeyFacts) throws {
            let record = try record()
            let store = RecordStore(record.name, in: try StateFolder(at: folder + "/device"))
            let held = try store.lock.acquire(within: .seconds(5))
            defer { held.release() }
            try store.change(held) { $0.attestationKey?.facts = facts }
        }

        /// A process of the device begins.
        func identity(_ dialect: Dialect) throws -> DeviceIdentity {
            let service = try Synheart(baseURL: url + "/auth", appID: "demo", dialect: dialect)
            return try DeviceIdentity(
                service, keys: .tpm(tpm, disclosure: .endorsement(above: [try Endorsed.issuer()])),
                transport: HTTPTransport(), attestationService: .init(url: url + "/ca/demo", roots: roots),
                stateDirectory: folder + "/device")
        }

        func send(_ signed: Tenon.SignedRequest, _ method: String, _ path: String, _ body: [UInt8]) async throws -> Int
        {
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
            // Nobody else is shown the certificate of its attestation key.
            let left = try StateFolder(at: world.folder + "/device").names()
            #expect(!left.contains { $0.hasSuffix(".ak.crt") || $0.hasSuffix(".prev") })
            #expect(try await identity.attic().contains { $0.hasSuffix(".ak.crt") })
            #expect(try await identity.register().deviceID != first)
            try await echoes(world, identity)
        }
    }

    /// security.md B2, 1.2: the file of the attestation key is another TPM's. The authority hears of a new one by an
    /// activation, and the device rotates on.
    @Test func aLostAttestationKeyIsActivatedAnew() async throws {
        try await withWorld { world in
            let registered = try await world.identity(.tenon).register()
            let before = try world.record()
            try await withTPM { _, other in
                let vault = TPMKeyVault(other)
                let key = try await vault.makeKey()
                try world.replaceAttestationKey(await vault.makeAttestationKey(beside: key))
            }
            let identity = try world.identity(.tenon)
            try await identity.maintain()
            let after = try world.record()
            #expect(after.attestationKey?.facts.name != before.attestationKey?.facts.name)
            #expect(after.attestationKey?.isActivated == true && after.attestationKey?.certificate != nil)
            #expect(after.keys == before.keys && after.state == .registered)
            try await identity.rotate()
            try await echoes(world, identity)
            #expect(try await identity.register().deviceID == registered.deviceID)
        }
    }

    /// security.md 1.2: at two thirds of its life, by an activation of its own.
    @Test func theCertificateOfTheAttestationKeyIsRenewed() async throws {
        try await withWorld { world in
            try await world.identity(.tenon).register()
            let first = try #require(try world.record().attestationKey)
            try await world.identity(later: 59).maintain()
            #expect(try world.record().attestationKey == first)
            try await world.identity(later: 61).maintain()
            let second = try #require(try world.record().attestationKey)
            #expect(second.facts == first.facts && second.certificate?.serial != first.certificate?.serial)
            try await echoes(world, try world.identity(.tenon))
        }
    }
}
