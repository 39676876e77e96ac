// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthoritySynheart
import TestFolders
import Testing

@testable import TenonAuthority

/// The folder of an authority from before services were separated: its configuration, CA, database and audit log still
/// work. `Tests/Vectors/authority` holds them; the scalars of its devices have 32 times one byte.
@Suite struct KeptFilesTests {
    private static let vectors =
        "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Vectors/authority"

    private struct Story {
        let json: JSON

        init() throws { json = try JSON(parsing: KeptFilesTests.bytes("story.json")) }

        /// A moment just after the stop.
        var clock: FakeClock {
            FakeClock(wall: (json["wall"]?.integer ?? 0) + 5_000, boot: (json["boot"]?.integer ?? 0) + 5_000)
        }

        func device(_ name: String, _ app: String, key: UInt8) throws -> TestDevice {
            TestDevice(
                app: app, id: try #require(json[name]?.string),
                key: try SoftwareKey(scalar: [UInt8](repeating: key, count: 32)))
        }
    }

    private static func bytes(_ name: String) throws -> [UInt8] {
        try readFile("\(vectors)/\(name)")
    }

    /// A copy of that folder, with the database restored from its dump.
    private static func folder() throws -> TestFolder {
        let folder = try TestFolder()
        for name in ["authority.json", "ca.json", "audit.log", "roots.pem"] { try folder.write(bytes(name), to: name) }
        try folder.write([], to: SQLiteStore.fileName)
        let dump = String(decoding: try bytes("authority.sql"), as: UTF8.self)
        try SQLiteConnection("\(folder.path)/\(SQLiteStore.fileName)", .writer).runScript(dump)
        return folder
    }

    private static func with(_ body: (AuthorityInstance, Story, FakeClock) async throws -> Void) async throws
        -> TestFolder
    {
        let (folder, story) = (try folder(), try Story())
        let clock = story.clock
        let authority = try await AuthorityInstance(
            Configuration(file: "\(folder.path)/authority.json"), in: AuthorityFolder(folder.path), clock: clock)
        #expect(authority.notices.isEmpty)
        do { try await body(authority, story, clock) } catch {
            await authority.close()
            throw error
        }
        await authority.close()
        return folder
    }

    private static func ask(
        _ authority: AuthorityInstance, _ path: String, _ json: JSON, at door: AuthorityRequest.Door = .public
    ) async throws -> AuthorityAnswer { try await authority.engine.post(path, json, at: door) }

    @Test func itsDevicesGoOn() async throws {
        _ = try await Self.with { (authority: AuthorityInstance, story: Story, clock: FakeClock) async throws -> Void in
            func echo(_ device: TestDevice, ago: Int64 = 0) async throws -> String {
                let request = try device.request("GET", "/v1/echo", at: clock.now().seconds - ago)
                return await authority.engine.answer(request, at: .public).verdict
            }
            var rotated = try story.device("rotated", "open", key: 2)
            // For two seconds, requests that the process before may have accepted are refused.
            clock.advance(3_000)
            #expect(try await echo(rotated) == "200")
            // This request may have been accepted before the stop.
            #expect(try await echo(rotated, ago: 9) == "401 CLOCK_SKEW")
            rotated.key = try SoftwareKey(scalar: [UInt8](repeating: 1, count: 32))
            #expect(try await echo(rotated) == "401 INVALID_SIGNATURE")
            #expect(try await echo(story.device("revoked", "open", key: 3)) == "403 DEVICE_REVOKED")
            #expect(try await echo(story.device("attested", "demo", key: 5)) == "200")
            let pending = try story.device("pending", "gated", key: 4)
            #expect(try await echo(pending) == "401 NOT_REGISTERED")
            let decision: JSON = ["device_id": .string(pending.id), "decision": "approve"]
            #expect(try await Self.ask(authority, "/v1/decide", decision, at: .admin).verdict == "200")
            #expect(try await echo(pending) == "200")
        }
    }

    @Test func whatWasUnderWayGoesOn() async throws {
        _ = try await Self.with { (authority: AuthorityInstance, story: Story, _: FakeClock) async throws -> Void in
            let key = try SoftwareKey()
            let registration: JSON = [
                "app_id": "open", "challenge": try #require(story.json["challenge"]), "proof": "none",
                "public_key": .string(TextEncoding.base64.encode(key.publicKey.derRepresentation)),
            ]
            #expect(try await Self.ask(authority, "/v1/device/register", registration).verdict == "200")
            let allowed: JSON = ["ek_id": .string(String(repeating: "ae", count: 32))]
            #expect(try await Self.ask(authority, "/v1/allow", allowed, at: .admin).json["found"] == true)
            let list = await authority.engine.ask("GET", "/v1/devices", at: .admin)
            let states = list.json["devices"]?.array?.compactMap { $0["state"]?.string }
            #expect(states == ["active", "revoked", "pending", "active", "active"])
        }
    }

    /// The log continues where it ended, under the same keys.
    @Test func itsLogGoesOn() async throws {
        let before = try Self.bytes("audit.log")
        let folder = try await Self.with {
            (authority: AuthorityInstance, _: Story, _: FakeClock) async throws -> Void in
            let revocation: JSON = ["ek_id": .string(String(repeating: "ad", count: 32))]
            #expect(try await Self.ask(authority, "/v1/revoke", revocation, at: .admin).verdict == "200")
        }
        let after = try folder.read("audit.log")
        #expect(after.count > before.count && after.starts(with: before))
        let summary = try AuditReader.verified(folder)
        #expect(summary.acceptances.isEmpty && summary.signedLines > 0)
    }

    /// Each member of the configuration has the same meaning as before.
    @Test func itsConfigurationIsRead() throws {
        let read = try Configuration(parsing: Self.bytes("authority.json"))
        let (open, demo, gated) = (read.apps[0], read.apps[1], read.apps[2])
        #expect(open.id == "open" && open.maxKeyAgeDays == 90 && open.unprovenRotation == .markUnattested)
        #expect(open.dialects == [.docs, .tenon] && open.version1Query == .allow && open.allowsDevelopment)
        #expect(demo.dialects == [.tenon] && demo.version1Query == .refuse && demo.requiresOwnerHierarchy)
        #expect(demo.ekRoots == [.init(path: "roots.pem", requiresEKU: true)] && demo.inventory.count == 2)
        #expect(gated.dialects == [.docs, .tenon] && gated.registration == .approve && gated.maxPending == 7)
        #expect(gated.version1Query == .refuseWrites && read.backends.map(\.mount) == ["/ingest"])
        #expect(read.limits.bodyBytes == 16_384 && read.ekDeny.models.count == 2)
    }
}
