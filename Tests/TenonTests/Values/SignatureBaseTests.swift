// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// The values of signature version 2, against the vectors that another program made.
@Suite struct SignatureBaseTests {
    /// The requests of the vectors in the plain form.
    private static func requests() throws -> [[String: String]] {
        var requests: [[String: String]] = []
        var isRequest = false
        for (name, value) in try Vectors.lines("batch.txt") {
            if name.hasPrefix("[") {
                isRequest = name == "[request]"
                if isRequest { requests.append([:]) }
            } else if isRequest {
                requests[requests.count - 1][name] = value
            }
        }
        return requests
    }

    private func base(_ vector: [String: String], _ key: SoftwareKey) throws -> SignatureBase {
        let input = vector["Input"] ?? ""
        let nonce = input.split(separator: "nonce=\"").last.map { String($0.prefix(36)) }
        let query = vector["Query"]?.dropFirst()
        return try SignatureBase(
            RequestTarget(
                vector["Method"] ?? "", authority: vector["Authority"] ?? "", path: vector["Path"] ?? "",
                query: query.flatMap { $0.isEmpty ? nil : String($0) }, contentType: vector["ContentType"],
                contentEncoding: vector["ContentEncoding"]),
            content: Digest(hashing: hex(vector["Content"] ?? "")), appID: vector["App"] ?? "",
            deviceID: vector["Device"] ?? "", thumbprint: key.publicKey.thumbprint,
            created: Int64(vector["Created"] ?? "") ?? 0, form: vector["Form"] == "batch" ? .batch : .plain,
            nonce: nonce)
    }

    @Test func eachVectorHasItsTextsAndItsDigest() throws {
        let key = try SoftwareKey(scalar: hex(RFC6979.scalar), deterministic: true)
        var count = 0
        for vector in try Self.requests() {
            // The device's requests expire after 300 seconds, always.
            let created = Int64(vector["Created"] ?? "") ?? 0
            guard vector["Expires"] == String(created + SignatureBase.validity) else { continue }
            let base = try base(vector, key)
            let name = vector["Name"] ?? ""
            #expect(base.input == vector["Input"], "\(name)")
            #expect(base.contentDigest == vector["ContentDigest"], "\(name)")
            #expect(try base.digest == Digest(hashing: hex(vector["Base"] ?? "")), "\(name)")
            if base.form == .plain {
                #expect(try base.value(of: key.blockingSignature(for: base)) == vector["Signature"], "\(name)")
            }
            count += 1
        }
        #expect(count >= 10)
    }

    @Test func aBatchIsSignedOnceAndOnlyInItsForm() async throws {
        let key = try SoftwareKey()
        func base(_ form: RequestForm) throws(TenonError) -> SignatureBase {
            try SignatureBase(
                RequestTarget("GET", authority: "api.example.com", path: "/"), content: Digest(hashing: [UInt8]()),
                appID: "app", deviceID: "device", thumbprint: key.publicKey.thumbprint, created: 1_790_000_000,
                form: form)
        }
        let members = try (0..<5).map { _ in try base(.batch) }
        let signature = try await key.signature(for: RequestBatch { members })
        #expect(try Set((0..<5).map(signature.value(at:))).count == 5)
        #expect(codeThrown { try signature.value(at: 5) } == .batchIndex)
        let plain = try base(.plain)
        #expect(await refusal { try await key.signature(for: RequestBatch { members + [plain] }) } == .flags)
        #expect(codeThrown { try key.blockingSignature(for: base(.batch)) } == .flags)
        let nothing = try await key.signature(for: RequestBatch { [] })
        #expect(codeThrown { try nothing.value(at: 0) } != nil)
        let many = try (0...RequestBatch.mostMembers).map { _ in try base(.batch) }
        #expect(await refusal { try await key.signature(for: RequestBatch { many }) } == .batchSize)
        let other = try SoftwareKey()
        #expect(codeThrown { try other.blockingSignature(for: plain) } == .keyID)
    }

    @Test func contentMayComeInPieces() throws {
        var content = try ContentHash()
        for piece in [[1, 2], [], [3]] as [[UInt8]] { try content.update(piece) }
        #expect(try content.finish() == Digest(hashing: [1, 2, 3]))
    }
}
