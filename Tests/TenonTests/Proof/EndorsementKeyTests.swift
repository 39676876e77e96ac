// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// Certificates of endorsement keys.
@Suite struct EndorsementKeyTests {
    /// The cases of the C tests, through the Swift values.
    @Test func eachCaseOfTheVectors() throws {
        let certificates = try Vectors.certificates("certificates.txt")
        func named(_ text: String?) throws -> [[UInt8]] {
            try (text ?? "").split(separator: " ").map { try #require(certificates[String($0)], "\($0)") }
        }
        var one: [String: String] = [:]
        var count = 0
        for (name, value) in try Vectors.lines("certificates/cases.txt") {
            one[name] = value
            guard name == "Result" else { continue }
            count += 1
            let flags = one["Flags"] ?? ""
            let policy = EndorsementPolicy(
                roots: try named(one["Roots"]), now: try #require(Int64(one["Now"] ?? "")),
                requiresUsage: flags == "usage", allowsSimulator: flags == "simulator")
            let chain = try named(one["Chain"])
            let (key, report) = EndorsementKey.verify(chain, policy: policy)
            let about = Comment(rawValue: one["Name"] ?? "")
            guard value != "OK" else {
                #expect(report.verdict == .accepted && key != nil, about)
                continue
            }
            #expect(key == nil, about)
            let prefix = "TENON_RULE_\(value.uppercased())_"
            let found = codeThrown { try EndorsementKey(verifying: chain, policy: policy) }
            #expect(found?.description.hasPrefix(prefix) == true, about)
            #expect(
                report.checks.last.map { [$0.rule, $0.outcome == .notHeld ? found : nil] } == [found, found], about)
        }
        #expect(count >= 260)
    }

    @Test func whatItSays() throws {
        let all = try Vectors.certificates("swtpm.txt")
        let certificates = try ["ek-rsa2048", "ek-p384", "issuer", "root"].map { try #require(all[$0]) }
        var policy = EndorsementPolicy(
            roots: [certificates[3]], now: 1_800_000_000, allowsSimulator: true)
        for (index, kind) in [EndorsementKey.Kind.rsa2048, .p384].enumerated() {
            let chain = [certificates[index], certificates[2]]
            let key = try EndorsementKey(verifying: chain, policy: policy)
            #expect(key.kind == kind)
            #expect(key.rawRepresentation.count == (kind == .p384 ? 96 : 256))
            #expect(key.maker == "id:00001014" && key.model == "swtpm")
            #expect(key.version.hasPrefix("id:"))
            #expect(try key.certificateDigest == Digest(hashing: certificates[index]))
            #expect(try EndorsementKey(unverified: certificates[index]) == key)
            #expect(try EndorsementKey(unverified: certificates[index]).id == key.id)
            policy.denied = try [Digest(hashing: []), key.id]
            #expect(codeThrown { try EndorsementKey(verifying: chain, policy: policy) } == .rule37EKAllowed)
            policy.denied = [key.certificateDigest]
            #expect(codeThrown { try EndorsementKey(verifying: chain, policy: policy) } == nil)
        }
        func outcome(_ models: [EndorsementPolicy.Model]) -> VerificationReport.Verdict {
            var policy = policy
            policy.deniedModels = models
            return EndorsementKey.verify([certificates[0], certificates[2]], policy: policy).report.verdict
        }
        let denied = VerificationReport.Verdict.refused(TenonError(.rule37EKAllowed, message: ""))
        #expect(outcome([.init(maker: "id:0"), .init(model: "swtpm", version: "id:0")]) == .accepted)
        #expect(outcome([.init(maker: "id:0"), .init(maker: "ID:00001014")]) == denied)
        #expect(outcome([.init(model: "SWTPM")]) == denied)
        #expect(outcome([.init(maker: "swtpm", model: "id:00001014")]) == .accepted)
        #expect(outcome([.init(maker: String(repeating: "a", count: 1 << 20))]) == .accepted)
        #expect(outcome([EndorsementPolicy.Model](repeating: .init(maker: "x"), count: 10_000)) == .accepted)
        policy.allowsSimulator = false
        #expect(
            EndorsementKey.verify([certificates[0], certificates[2]], policy: policy).report.verdict
                == .refused(TenonError(.rule37EKAllowed, message: "")))
    }

    @Test func chainsThatAreNone() throws {
        let certificates = try Vectors.certificates("certificates.txt")
        let (ek, root) = try (#require(certificates["ek"]), #require(certificates["root"]))
        let policy = EndorsementPolicy(roots: [root], now: 1_800_000_000)
        func code(_ chain: [[UInt8]]) -> TenonError.Code? {
            codeThrown { try EndorsementKey(verifying: chain, policy: policy) }
        }
        #expect(code([ek]) == nil)
        for wrong in [
            [], [[]], [[UInt8](repeating: 0x30, count: 1 << 20)], [ek + [0]], [[UInt8]](repeating: ek, count: 5),
            [[UInt8]](repeating: [], count: 100_000),
        ] {
            #expect(code(wrong) == .rule22Certificate)
        }
        for wrong in [[], [0x30], Array(ek.dropLast()), [UInt8](repeating: 0, count: 1 << 20)] {
            #expect(codeThrown { try EndorsementKey(unverified: wrong) } == .rule22Certificate)
        }
        let signing = try #require(certificates["root-rsa4096"])
        #expect(codeThrown { try EndorsementKey(unverified: signing) } == .rule36EKKey)
    }

    @Test func certificatesInNV() throws {
        let ek = try #require(Vectors.certificates("certificates.txt")["ek"])
        let wrapped = [0x10, 0x01, 0x00, UInt8(ek.count >> 8), UInt8(ek.count & 0xff)] + ek
        for nv in [ek, ek + [0, 0, 0], ek + [0xff], wrapped, wrapped + [0xff, 0xff]] {
            #expect(try EndorsementKey.certificate(fromNV: nv) == ek)
        }
        for wrong in [[], [0], ek + [1], Array(ek.dropLast()), [UInt8](repeating: 0xff, count: 1 << 20)] {
            #expect(codeThrown { try EndorsementKey.certificate(fromNV: wrong) } == .certificateForm)
        }
    }
}
