// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Tenon
import Testing

/// Which version and form a request gets: what the service announced decides.
@Suite struct SigningTermsTests {
    private static let both: JSON = ["versions": [1, 2], "hosts": ["service.example", "api.example:8443"]]

    private func rig(_ signing: JSON?) async throws -> FlowRig {
        let rig = try FlowRig()
        rig.service.change { $0.signing = signing }
        try await rig.identity.register()
        return rig
    }

    private func kind(_ signed: SignedRequest) -> String { signed.signatureVersion + (signed.form?.rawValue ?? "") }

    @Test func version2IsForTheHostsThatAreListed() async throws {
        let rig = try await rig(Self.both)
        #expect(kind(try await rig.identity.sign("GET", path: "/")) == "2plain")
        #expect(kind(try await rig.identity.sign("GET", path: "/", host: "api.example:8443")) == "2plain")
        #expect(kind(try await rig.identity.sign("GET", path: "/", host: "api.example")) == "1")
        // After a restart it is known from the record.
        #expect(kind(try await rig.restarted().sign("GET", path: "/")) == "2plain")
    }

    @Test func withoutAnAnnouncementItIsVersion1() async throws {
        for signing in [nil, ["versions": [1], "hosts": ["service.example"]], ["versions": [3], "hosts": []]] as [JSON?]
        {
            let rig = try await rig(signing)
            #expect(kind(try await rig.identity.sign("GET", path: "/")) == "1")
            // Nor is it led to version 2 by a host.
            try await hear([("Accept-Signature", Self.invitation)], from: "https://own.example/", rig)
            #expect(try await kind(at: "own.example", rig) == "1")
        }
    }

    @Test func everythingIsCovered() async throws {
        let rig = try await rig(Self.both)
        let key = try PublicKey(
            derRepresentation: TextEncoding.base64.decode(#require(rig.service.devices.first).value.key))
        let signed = try await rig.identity.sign(
            "POST", path: "/v1/x", body: [1, 2], host: "api.example:8443", query: "a=1&b", contentType: "text/plain",
            contentEncoding: "gzip")
        let content = [("Content-Type", "text/plain"), ("Content-Encoding", "gzip")]
        func isGood(_ method: String, _ url: String, _ headers: [(String, String)], _ body: [UInt8]) -> Bool {
            Version2(HTTPRequest(method: method, url: url, headers: headers + signed.headers, body: body))?
                .isSigned(by: key) ?? false
        }
        let url = "https://api.example:8443/v1/x?a=1&b"
        #expect(isGood("POST", url, content, [1, 2]))
        #expect(!isGood("PUT", url, content, [1, 2]))
        #expect(!isGood("POST", "https://api.example/v1/x?a=1&b", content, [1, 2]))
        #expect(!isGood("POST", "https://api.example:8443/v1/x?a=1", content, [1, 2]))
        #expect(!isGood("POST", "https://api.example:8443/v1/y?a=1&b", content, [1, 2]))
        #expect(!isGood("POST", url, [("Content-Type", "text/html"), ("Content-Encoding", "gzip")], [1, 2]))
        #expect(!isGood("POST", url, [("Content-Type", "text/plain")], [1, 2]))
        #expect(!isGood("POST", url, content, [1]))
    }

    @Test func aBodyMayComeInPieces() async throws {
        let rig = try await rig(Self.both)
        var streamed = try await rig.identity.request("POST", path: "/v1/x")
        try streamed.update([1])
        try streamed.update([2, 3])
        let signed = try await streamed.sign()
        #expect(rig.isAccepted(signed, body: [1, 2, 3]) && signed.signatureVersion == "2")
    }

    @Test func aHostMayTakeNoBatches() async throws {
        let rig = try await rig(["versions": [1, 2], "hosts": ["service.example"], "batches": false])
        let gate = SigningGate()
        rig.vault.put(behind: gate)
        let identity = try rig.restarted()
        gate.close()
        let tasks = (0..<3).map { _ in Task { try await identity.sign("GET", path: "/").form } }
        while gate.held < 3 { await Task.yield() }
        gate.open()
        for task in tasks { #expect(try await task.value == .plain) }
        #expect(gate.sizes == [0, 0, 0])
    }

    /// Once plain, never in version 1, and no other batch for this host.
    @Test func aRefusedFormIsSignedPlainOnce() async throws {
        let rig = try await rig(Self.both)
        let batch = try await rig.identity.sign(
            RequestParts("POST", path: "/v1/x", form: .batch), body: [1])
        #expect(kind(batch) == "2batch")
        let second = try #require(await rig.answer(batch, 400, "SIGNATURE_FORM").again)
        #expect(kind(second) == "2plain" && rig.isAccepted(second))
        #expect(await rig.answer(second, 400, "SIGNATURE_FORM").isDone)
        let later = try await rig.identity.sign(RequestParts("POST", path: "/v1/x", form: .batch), body: [1])
        #expect(kind(later) == "2plain")
        let elsewhere = try await rig.identity.sign(
            RequestParts("POST", path: "/v1/x", host: "api.example:8443", form: .batch), body: [1])
        #expect(kind(elsewhere) == "2batch")
        let first = try await rig.identity.sign(RequestParts("GET", path: "/", host: "other.example"), body: [])
        #expect(await rig.answer(first, 400, "SIGNATURE_FORM").isDone)
    }

    // MARK: A host that speaks for itself

    private static let invitation =
        #"tenon=("@method" "@authority" "@path" "@query" "content-digest" "x-app-id" "x-device-id");tag="tenon-batch""#

    /// Signs a request to a URL, and lets its host answer with these headers.
    private func hear(
        _ headers: [(name: String, value: String)], from url: String, _ rig: FlowRig, status: Int = 200
    ) async throws {
        let signed = try await rig.identity.sign(RequestParts("GET", path: "/", url: url), body: [])
        _ = await rig.identity.received(status: status, headers: headers, body: [], for: signed)
    }

    private func kind(at host: String, _ rig: FlowRig, _ form: RequestForm? = nil) async throws -> String {
        kind(try await rig.identity.sign(RequestParts("GET", path: "/", host: host, form: form), body: []))
    }

    @Test func aHostAddsItselfForADay() async throws {
        for (versions, before) in [([1, 2], "1"), ([2], "2plain")] as [([JSON], String)] {
            let rig = try await rig(["versions": .array(versions), "hosts": []])
            #expect(try await kind(at: "own.example", rig, .batch) == before)
            try await hear([("accept-signature", Self.invitation)], from: "https://own.example/v1", rig, status: 404)
            #expect(try await kind(at: "own.example", rig, .batch) == "2batch")
            #expect(try await kind(at: "own.example:8443", rig, .batch) == before)
            #expect(try await kind(at: "other.example", rig, .batch) == before)
            rig.time.advance(.seconds(86_399))
            #expect(try await kind(at: "own.example", rig, .batch) == "2batch")
            rig.time.advance(.seconds(1))
            #expect(try await kind(at: "own.example", rig, .batch) == before)
        }
    }

    /// The day ends on the clock that nobody sets, and begins again with each answer that says so.
    @Test func aClockThatIsSetMakesNoDayLonger() async throws {
        let rig = try await rig(["versions": [1, 2], "hosts": []])
        try await hear([("Accept-Signature", Self.invitation)], from: "https://own.example/", rig)
        rig.time.setWall(by: .seconds(-7200))
        rig.time.advance(.seconds(80_000))
        #expect(try await kind(at: "own.example", rig) == "2plain")
        try await hear([("Accept-Signature", Self.invitation)], from: "https://own.example/", rig)
        rig.time.advance(.seconds(80_000))
        #expect(try await kind(at: "own.example", rig) == "2plain")
        rig.time.setWall(by: .seconds(-86_400))
        rig.time.advance(.seconds(6_400))
        #expect(try await kind(at: "own.example", rig) == "1")
    }

    /// Without TLS, anybody on the way could say it; and an answer that is not in the one form says nothing.
    @Test func whatAHostMayNotSay() async throws {
        let rig = try await rig(["versions": [1, 2], "hosts": []])
        try await hear([("Accept-Signature", Self.invitation)], from: "http://own.example/", rig)
        let plain = Self.invitation.replacing("tenon-batch", with: "tenon")
        for values in [
            [Self.invitation, Self.invitation], [Self.invitation + ", " + Self.invitation], [plain],
            [Self.invitation.replacing(#" "@authority""#, with: "")], [Self.invitation + #";host="other.example""#],
            [""],
        ] {
            try await hear(values.map { ("Accept-Signature", $0) }, from: "https://own.example/", rig)
        }
        let signed = try await rig.identity.sign("GET", path: "/", host: "own.example")
        _ = await rig.identity.received(
            status: 200, headers: [("Accept-Signature", Self.invitation)], body: [], for: signed)
        #expect(try await kind(at: "own.example", rig) == "1")
        // The service's own host is known to be reached over TLS.
        let own = try await rig.identity.sign("GET", path: "/")
        #expect(kind(own) == "1")
        _ = await rig.identity.received(
            status: 200, headers: [("Accept-Signature", Self.invitation)], body: [], for: own)
        #expect(kind(try await rig.identity.sign("GET", path: "/")) == "2plain")
    }

    /// A host that adds itself and then refuses: its requests are as before, whatever it goes on to say.
    @Test func aHostThatLies() async throws {
        let rig = try await rig(["versions": [1, 2], "hosts": []])
        for form in RequestForm.allCases {
            let url = "https://\(form).example/"
            try await hear([("Accept-Signature", Self.invitation)], from: url, rig)
            var parts = try RequestParts("POST", path: "/", url: url)
            parts.form = form
            let signed = try await rig.identity.sign(parts, body: [1])
            #expect(kind(signed) == "2\(form)")
            let again = await rig.answer(signed, 400, "SIGNATURE_FORM").again
            // The request that was refused goes once more in version 2, never in version 1.
            #expect(again.map(kind) == (form == .batch ? "2plain" : nil))
            try await hear([("Accept-Signature", Self.invitation)], from: url, rig)
            #expect(try await kind(at: "\(form).example", rig) == "1")
        }
    }

    /// Many hosts cost no memory without end; those that are over make room.
    @Test func manyHostsAddThemselves() async throws {
        let rig = try await rig(["versions": [1, 2], "hosts": []])
        for number in 0...64 {
            try await hear([("Accept-Signature", Self.invitation)], from: "https://h\(number).example/", rig)
        }
        #expect(try await kind(at: "h63.example", rig) == "2plain")
        #expect(try await kind(at: "h64.example", rig) == "1")
        rig.time.advance(.seconds(86_400))
        try await hear([("Accept-Signature", Self.invitation)], from: "https://h64.example/", rig)
        #expect(try await kind(at: "h64.example", rig) == "2plain")
    }

    @Test func onlyVersion2IsPlainElsewhere() async throws {
        let rig = try await rig(["versions": [2], "hosts": []])
        #expect(kind(try await rig.identity.sign("GET", path: "/", host: "other.example")) == "2plain")
        // The service's own endpoints, too; they are what settles a rotation.
        rig.service.change { $0.seen = [] }
        try await rig.identity.rotate()
        try await rig.identity.resolve()
        for request in rig.service.seen where request.url.hasSuffix("/rotate") || request.url.hasSuffix("/self") {
            #expect(Version2(request)?.form == "tenon", "\(request.url)")
        }
    }

    /// A rotation tells what is in force from now on; so does an answer about the key.
    @Test func anAnnouncementChanges() async throws {
        let rig = try await rig(nil)
        rig.service.change { $0.signing = Self.both }
        try await rig.identity.resolve()
        #expect(kind(try await rig.identity.sign("GET", path: "/")) == "2plain")
        rig.service.change { $0.signing = nil }
        try await rig.identity.rotate()
        #expect(kind(try await rig.identity.sign("GET", path: "/")) == "1")
    }

    /// Only a rotation that was signed by version 2 leads back to version 1.
    @Test func onlyVersion2IsNotLeftByAnAnswer() async throws {
        let rig = try await rig(["versions": [2], "hosts": []])
        for signing in [nil, Self.both] as [JSON?] {
            rig.service.change { $0.signing = signing }
            try await rig.identity.resolve()
            #expect(kind(try await rig.identity.sign("GET", path: "/", host: "other.example")) == "2plain")
        }
        try await rig.identity.rotate()
        #expect(kind(try await rig.identity.sign("GET", path: "/", host: "other.example")) == "1")
        try await rig.identity.reset()
        rig.service.change { $0.signing = nil }
        try await rig.identity.register()
        #expect(kind(try await rig.identity.sign("GET", path: "/")) == "1")
    }

    @Test func whatNoServiceAnnouncesIsNotFollowed() {
        #expect(SigningTerms(versions: [], hosts: []) == nil)
        #expect(SigningTerms(versions: [3], hosts: []) == nil)
        #expect(SigningTerms(versions: [2], hosts: ["a b"]) == nil)
        #expect(SigningTerms(versions: [2], hosts: Array(repeating: "a", count: 65)) == nil)
        #expect(SigningTerms(versions: [2], hosts: [], mostMembers: 0) == nil)
        #expect(SigningTerms(versions: [2], hosts: [], mostMembers: .max)?.mostMembers == 1024)
        #expect(SigningTerms(versions: [1, 2, 9], hosts: ["a"])?.versions == [1, 2])
    }
}
