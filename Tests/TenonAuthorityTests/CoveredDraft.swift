// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// A request of signature version 2, written from docs/signing.md by the test's own code: any part may be wrong.
struct CoveredDraft: Sendable {
    var method = "POST"
    var authority = "api.example"
    var path = "/ingest/v1/hsi"
    var query = "?"
    var contentType: String?
    var contentEncoding: String?
    var body = Array(#"{"a":1}"#.utf8)
    var app: String
    var device: String
    var created: Int64
    var expires: Int64
    var nonce: String
    var keyID: String
    var tag = "tenon-batch"
    /// The components that are signed; nil means those of the document.
    var components: [String]?

    init(_ device: TestDevice, at seconds: Int64) throws {
        (app, self.device, created, expires) = (device.app, device.id, seconds, seconds + 300)
        (nonce, keyID) = (try RequestHeaders.makeNonce(), try device.key.publicKey.thumbprint)
    }

    /// The same, with other values.
    func with(_ change: (inout CoveredDraft) -> Void) -> CoveredDraft {
        var draft = self
        change(&draft)
        return draft
    }

    var contentDigest: String {
        get throws { "sha-256=:\(TextEncoding.base64.encode(try Digest(hashing: body).rawRepresentation)):" }
    }

    private var names: [String] {
        components ?? ["@method", "@authority", "@path", "@query", "content-digest"]
            + (contentType == nil ? [] : ["content-type"]) + (contentEncoding == nil ? [] : ["content-encoding"])
            + ["x-app-id", "x-device-id"]
    }

    var parameters: String {
        "(" + names.map { "\"\($0)\"" }.joined(separator: " ") + ");created=\(created);expires=\(expires)"
            + ";nonce=\"\(nonce)\";keyid=\"\(keyID)\";tag=\"\(tag)\""
    }

    var digest: Digest {
        get throws {
            let values = [
                "@method": method, "@authority": authority, "@path": path, "@query": query,
                "content-digest": try contentDigest, "content-type": contentType ?? "",
                "content-encoding": contentEncoding ?? "", "x-app-id": app, "x-device-id": device,
            ]
            let lines = names.map { "\"\($0)\": \(values[$0] ?? "")\n" }.joined()
            return try Digest(hashing: Array("\(lines)\"@signature-params\": \(parameters)".utf8))
        }
    }
}

/// A draft with its signature.
struct CoveredSigned: Sendable {
    var draft: CoveredDraft
    /// The bytes in `Signature`.
    var bytes: [UInt8]
    /// Replace or add headers when they are sent; nil removes one.
    var changes: [String: String?] = [:]
    var sentBody: [UInt8]?

    /// The headers as they are sent.
    var headers: [(name: String, value: String)] {
        get throws {
            var headers: [(name: String, value: String)] = [
                ("X-App-ID", draft.app), ("X-Device-ID", draft.device), ("X-Synheart-Sig-Version", "2"),
                ("Content-Digest", try draft.contentDigest), ("Signature-Input", "tenon=\(draft.parameters)"),
                ("Signature", "tenon=:\(TextEncoding.base64.encode(bytes)):"),
            ]
            if let type = draft.contentType { headers.append(("Content-Type", type)) }
            if let encoding = draft.contentEncoding { headers.append(("Content-Encoding", encoding)) }
            for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
                headers.removeAll { $0.name == name }
                if let value { headers.append((name, value)) }
            }
            return headers
        }
    }

    private var target: String { draft.path + (draft.query == "?" ? "" : draft.query) }

    /// As a device sends it.
    func request() throws -> AuthorityRequest {
        AuthorityRequest(
            method: draft.method, target: target, headers: [("Host", "auth.example")] + (try headers),
            body: sentBody ?? draft.body, peer: "192.0.2.1")
    }

    /// As a backend passes it on.
    func question(_ more: [String: JSON] = [:]) throws -> JSON {
        var members: [String: JSON] = [
            "method": .string(draft.method), "target": .string(target), "host": .string(draft.authority),
            "headers": .members(
                Dictionary(try headers.map { ($0.name, JSON.string($0.value)) }, uniquingKeysWith: { $1 })),
            "body": .string(TextEncoding.base64.encode(sentBody ?? draft.body)),
        ]
        for (name, value) in more { members[name] = value.isNull ? nil : value }
        return .members(members)
    }

    /// The same, changed after it was signed.
    func with(_ change: (inout CoveredSigned) throws -> Void) rethrows -> CoveredSigned {
        var signed = self
        try change(&signed)
        return signed
    }

    func with(_ name: String, _ value: String?) -> CoveredSigned { with { $0.changes[name] = .some(value) } }
}

/// The tree of RFC 9162, 2.1.1, by its recursive definition.
enum CoveredTree {
    static func leaf(_ draft: CoveredDraft) throws -> [UInt8] { try hash([0] + draft.digest.rawRepresentation) }

    static func hash(_ bytes: [UInt8]) throws -> [UInt8] { try Digest(hashing: bytes).rawRepresentation }

    static func root(_ leaves: ArraySlice<[UInt8]>) throws -> [UInt8] {
        guard leaves.count > 1 else { return leaves.first ?? [] }
        let middle = leaves.startIndex + half(leaves.count)
        return try hash([1] + root(leaves[..<middle]) + root(leaves[middle...]))
    }

    static func path(_ leaves: ArraySlice<[UInt8]>, to index: Int) throws -> [[UInt8]] {
        guard leaves.count > 1 else { return [] }
        let (k, middle) = (half(leaves.count), leaves.startIndex + half(leaves.count))
        return index < k
            ? try path(leaves[..<middle], to: index) + [root(leaves[middle...])]
            : try path(leaves[middle...], to: index - k) + [root(leaves[..<middle])]
    }

    /// The largest power of 2 below a number.
    private static func half(_ count: Int) -> Int { 1 << (Int.bitWidth - 1 - (count - 1).leadingZeroBitCount) }

    static func statement(_ root: [UInt8], size: Int, thumbprint: [UInt8]) -> [UInt8] {
        let label = Array("tenon request batch 2".utf8)
        return label + [UInt8](repeating: 0, count: 32 - label.count) + thumbprint + number(size) + root
    }

    static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
}

extension TestDevice {
    /// Signs each request alone.
    func plain(_ draft: CoveredDraft) throws -> CoveredSigned {
        let draft = draft.with { $0.tag = "tenon" }
        return CoveredSigned(draft: draft, bytes: try key.signature(for: draft.digest).rawRepresentation)
    }

    /// Signs all requests with one signature.
    ///
    /// - Parameter isBare: signs the root, as if it were a digest.
    func batch(_ drafts: [CoveredDraft], isBare: Bool = false) throws -> [CoveredSigned] {
        let leaves = try drafts.map(CoveredTree.leaf)
        let root = try CoveredTree.root(leaves[...])
        let named = try TextEncoding.base64url.decode(drafts[0].keyID)
        let statement = CoveredTree.statement(root, size: drafts.count, thumbprint: named)
        let digest = isBare ? try Digest(rawRepresentation: root) : try Digest(hashing: statement)
        let signature = try key.signature(for: digest).normalised().rawRepresentation
        return try drafts.enumerated().map { index, draft in
            let place = CoveredTree.number(drafts.count) + CoveredTree.number(index)
            let path = try CoveredTree.path(leaves[...], to: index).flatMap(\.self)
            return CoveredSigned(draft: draft, bytes: signature + place + path)
        }
    }

    /// A batch of usual requests.
    func batch(
        _ count: Int, at seconds: Int64, _ change: (inout CoveredDraft) -> Void = { _ in }
    ) throws -> [CoveredSigned] {
        try batch((0..<count).map { _ in try CoveredDraft(self, at: seconds).with(change) })
    }
}

/// A service whose backend has two hosts, and a device that signs with both versions.
struct CoveredRig: Given {
    @TaskLocal static var held: CoveredRig?
    static var given: TaskLocal<CoveredRig?> { $held }

    let rig: ServiceRig
    let device: TestDevice

    static let backends = """
        [{"name": "ingest", "token_sha256": "\(ServiceRig.tokenDigest)", "apps": ["open", "loose", "one", "single"],
          "mount": "/ingest", "hosts": ["api.example", "other.example:8443"]},
         {"name": "hostless", "token_sha256": "\(ServiceRig.otherTokenDigest)", "apps": ["open"]}]
        """
    private static let open = #""require_attestation": false, "unproven_rotation": "mark_unattested""#
    static let apps = """
        [{"id": "open", \(open), "max_key_age_days": 90}, {"id": "loose", \(open)},
         {"id": "one", \(open), "signature_versions": [1]}, {"id": "single", \(open), "batches": false},
         {"id": "two", \(open), "signature_versions": [2]}]
        """

    static func with(limits: String = "{}", _ body: (CoveredRig) async throws -> Void) async throws {
        try await ServiceRig.with(apps: apps, limits: limits, backends: backends) { rig in
            try await body(CoveredRig(rig: rig, device: rig.device(versions: [1, 2])))
        }
    }

    static func on(_ kind: StoreKind, _ body: (CoveredRig) async throws -> Void) async throws {
        let configuration = try ServiceRig.configuration(
            apps, limits: "{}", origins: ServiceRig.origins, backends: backends)
        try await ServiceRig.with(configuration, on: [kind]) { rig in
            try await body(CoveredRig(rig: rig, device: rig.device(versions: [1, 2])))
        }
    }

    var seconds: Int64 { rig.seconds }

    func batch(_ count: Int, _ change: (inout CoveredDraft) -> Void = { _ in }) throws -> [CoveredSigned] {
        try device.batch(count, at: seconds, change)
    }

    /// The answer to a backend: the status, and what a refusal is counted as.
    func ask(
        _ signed: CoveredSigned, _ more: [String: JSON] = [:], on service: AuthorityEngine? = nil
    ) async throws -> String {
        let service = service ?? rig.service
        let before = await causes(service)
        let answer = try await CoveredRig.send(signed.question(more), to: service)
        guard answer.status != 200 else { return "200" }
        let cause = await causes(service).first { before[$0.key] != $0.value }?.key ?? "no cause"
        return "\(answer.code ?? "no code") \(cause)"
    }

    static func send(
        _ question: JSON, to service: AuthorityEngine, token: String = ServiceRig.token
    ) async throws -> AuthorityAnswer {
        let headers = [(name: "Authorization", value: "Bearer \(token)")]
        return await service.ask(
            "POST", "/auth/v1/device/verify", try question.encoded(), at: .internal, headers: headers)
    }

    /// The value of a metric.
    func metric(_ name: String, on service: AuthorityEngine? = nil) async throws -> Int {
        let lines = await CoveredRig.lines(service ?? rig.service)
        let line = try #require(lines.first { $0.hasPrefix("tenon_authority_\(name) ") })
        return try #require(Int(line.split(separator: " ")[1]))
    }

    private func causes(_ service: AuthorityEngine) async -> [String: String] {
        let lines = await CoveredRig.lines(service).filter { $0.contains(#"{endpoint="verify",cause="#) }
        return Dictionary(
            lines.map { line in
                let parts = line.split(separator: "\"")
                return (String(parts[3]), String(parts[4]))
            }, uniquingKeysWith: { $1 })
    }

    private static func lines(_ service: AuthorityEngine) async -> [String] {
        await service.metrics().split(separator: "\n").map(String.init)
    }
}
