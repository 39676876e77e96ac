// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

@Suite struct ChallengeStoreTests {
    private var stores: TestStores { .current }

    static func entry(
        _ stores: TestStores, _ purpose: ChallengeEntry.Purpose = .registration, app: String = "demo",
        milliseconds: Int64 = 90_000, attestation: ChallengeEntry.Attestation? = nil
    ) -> ChallengeEntry {
        ChallengeEntry(
            purpose: purpose, app: app, origin: "https://a.example", dialect: "tenon",
            deadline: stores.clock.now().advanced(byMilliseconds: milliseconds), attestation: attestation)
    }

    static func attestation() throws -> ChallengeEntry.Attestation {
        ChallengeEntry.Attestation(
            ekID: try Sample.digest("ek"), ekCertificate: try Sample.digest("certificate"),
            akPublic: [0, 0x23, 0, 0x0b],
            maker: Array("id:49465800".utf8), model: [0xc3, 0xa9], version: [])
    }

    @Test(.stores) func whatIsPutIsTakenOnce() async throws {
        let entry = Self.entry(stores, app: "a \"quoted\" é\n app", attestation: try Self.attestation())
        try await stores.put(entry, "one")
        #expect(try await stores.take("two") == nil)
        #expect(try await stores.take("one") == entry)
        #expect(try await stores.take("one") == nil)
    }

    @Test(.stores) func oneOf64HasIt() async throws {
        for round in 0..<8 {
            try await stores.put(Self.entry(stores), "one \(round)")
            let taken = try await atOnce(64) { _ in try await stores.take("one \(round)") }
            #expect(taken.count { $0 != nil } == 1)
        }
    }

    /// A secret of the attestation CA is not a challenge, and trying it as one does not use it up.
    @Test(.stores) func purposesAreApart() async throws {
        let entry = Self.entry(stores, .certificate, attestation: try Self.attestation())
        try await stores.put(entry, "one")
        #expect(try await stores.take("one", .registration) == nil)
        #expect(try await stores.take("one", .certificate) == entry)
    }

    @Test(.stores) func lateIsNever() async throws {
        for text in ["in time", "late", "late by the other clock"] {
            try await stores.put(Self.entry(stores), text)
        }
        stores.clock.advance(89_999)
        #expect(try await stores.take("in time") != nil)
        stores.clock.advance(1)
        #expect(try await stores.take("late") == nil)
        // Setting the clock back does not help; some stores give nothing until it is believed.
        stores.clock.step(-3_600_000)
        for text in ["late by the other clock", "late"] {
            let entry = (try? await stores.take(text)) ?? nil
            #expect(entry == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func fullIsBusyAndPutsNobodyOut(_ kind: StoreKind) async throws {
        try await kind.withStores(maxChallenges: 3) { stores in
            for text in ["a", "b", "c"] { try await stores.put(Self.entry(stores), text) }
            let error = await errorThrown { try await stores.put(Self.entry(stores), "d") }
            #expect(error?.code == .storeFull)
            #expect(error?.retryAfter != nil)
            #expect(try await stores.take("d") == nil)
            #expect(try await stores.take("b") != nil)
            try await stores.put(Self.entry(stores), "e")
            #expect(await errorThrown { try await stores.put(Self.entry(stores), "f") }?.code == .storeFull)
            // Expired entries make room.
            stores.clock.advance(90_000)
            for text in ["g", "h", "i"] { try await stores.put(Self.entry(stores), text) }
            #expect(await errorThrown { try await stores.put(Self.entry(stores), "j") }?.code == .storeFull)
            for text in ["a", "c", "e"] { #expect(try await stores.take(text) == nil) }
        }
    }

    /// More entries than are removed at a time.
    @Test(arguments: StoreKind.allCases)
    func manyThatHaveExpiredMakeRoom(_ kind: StoreKind) async throws {
        try await kind.withStores(maxChallenges: 1_200) { stores in
            for life in 0..<2 {
                _ = try await atOnce(64) { worker in
                    for index in stride(from: worker, to: 1_200, by: 64) {
                        try await stores.put(Self.entry(stores), "\(life) \(index)")
                    }
                }
                #expect(await errorThrown { try await stores.put(Self.entry(stores), "more") }?.code == .storeFull)
                stores.clock.advance(90_000)
            }
        }
    }

    /// 17 addresses that ask as often as they may do not keep another client from a challenge. A /64 is one address.
    @Test func manyAddressesKeepNobodyOut() async throws {
        try await ServiceRig.with(limits: #"{"challenges": 340, "per_address_per_minute": 20}"#) { rig in
            func status(_ peer: String) async throws -> Int {
                try await rig.service.post("/v1/device/challenge", ["app_id": "open"], peer: peer).status
            }
            for address in 1...17 {
                for host in 1...20 { _ = try await status(address == 17 ? "2001:db8::\(host)" : "192.0.2.\(address)") }
            }
            #expect(try await status("198.51.100.1") == 200)
            #expect(try await status("2001:db8:1::1") == 200)
            // Expired entries make room for them, too.
            rig.clock.advance(90_000)
            #expect(try await status("192.0.2.16") == 200)
        }
    }

    /// When challenges are scarce, an address that redeems one may have another.
    @Test(arguments: StoreKind.allCases)
    func aShareIsGivenBack(_ kind: StoreKind) async throws {
        try await kind.withStores(maxChallenges: 10) { stores async throws in
            func put(_ text: String, by asker: String) async -> TenonError.Code? {
                var entry = Self.entry(stores)
                entry.asker = asker
                return await errorThrown { [entry] in try await stores.put(entry, text) }?.code
            }
            for other in 0..<6 { #expect(await put("\(other)", by: "other \(other)") == nil) }
            for round in 0..<3 {
                #expect(await put("a \(round)", by: "one") == nil)
                #expect(await put("b \(round)", by: "one") == .storeFull)
                #expect(try await stores.take("a \(round)") != nil)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theLimitHoldsFor64AtOnce(_ kind: StoreKind) async throws {
        try await kind.withStores(maxChallenges: 10) { stores in
            let errors = try await atOnce(64) { index in
                await errorThrown { try await stores.put(Self.entry(stores), "\(index)") }?.code
            }
            #expect(errors.count { $0 == nil } == 10)
            #expect(errors.count { $0 == .storeFull } == 54)
        }
    }

    @Test(arguments: [
        "", "{}", "null", #"{"app":"a"}"#,
        #"{"app":"a","boot":1,"dialect":"d","origin":"o","purpose":"other","wall":1}"#,
        #"{"app":"a","attestation":{},"boot":1,"dialect":"d","origin":"o","purpose":"register","wall":1}"#,
    ])
    func damageIsNoEntry(_ text: String) async throws {
        let error = await errorThrown { try ChallengeEntry(encoded: Array(text.utf8)) }
        #expect(error?.code == .storeCorrupt)
    }
}
