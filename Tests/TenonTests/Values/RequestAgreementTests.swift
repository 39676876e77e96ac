// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Tenon

/// What a device signs, set against what a verifier reads: both take a request apart by themselves.
@Suite struct RequestAgreementTests {
    private static let thumbprint = "DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0"
    private static let count = 20_000

    /// Pieces of which requests are made: good ones, and what a library could read in another way.
    private static let pieces = [
        "a", "B", "7", "/", "//", ".", "..", "/./", "/../", "%41", "%2F", "%2f", "%2E", "%00", "%", "%4", "?", "??",
        "&", "=", "+", ";", ":", "@", "!", "'", "(", "*", ",", "~", "_", "-", "#", " ", "\t", "\r\n", "\0", "\"", "\\",
        "[", "]", "{", "|", "^", "`", "<", "é", "e\u{301}", "\u{301}", "\u{7f}",
    ]
    private static let authorities = [
        "api.example.com", "api.example.com:8443", "api.example.com:443", "API.example.com", "[::1]", "[::1]:80",
        "127.0.0.1:8420", "127.1", "a@b", "a/b", "a?b", "", "a:", "ä.example",
    ]
    private static let headers: [String?] = [
        nil, nil, "application/json", "text/plain; charset=utf-8", "a,b", "", " a", "a ", "a\r\nX: y", "é",
    ]

    private static func text(_ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...4, using: &generator)).map { _ in pieces.randomElement(using: &generator)! }.joined()
    }

    private static func target(_ generator: inout SeededGenerator) -> RequestTarget {
        let isRooted = Int.random(in: 0..<8, using: &generator) > 0
        let hasQuery = Bool.random(using: &generator)
        return RequestTarget(
            ["GET", "POST", "get", "P T"].randomElement(using: &generator)!,
            authority: authorities.randomElement(using: &generator)!, path: (isRooted ? "/" : "") + text(&generator),
            query: hasQuery ? text(&generator) : nil, contentType: headers.randomElement(using: &generator)!,
            contentEncoding: headers.randomElement(using: &generator)!)
    }

    private static func signed(_ target: RequestTarget) throws -> SignatureBase {
        try SignatureBase(
            target, content: Digest(hashing: Array("content".utf8)), appID: "app", deviceID: "device",
            thumbprint: thumbprint, created: 1_790_000_000, form: .plain)
    }

    /// The request as a verifier receives it: the target in one piece, as it stands in the request line.
    private static func received(_ target: RequestTarget, _ base: SignatureBase) throws -> CoveredTexts {
        CoveredTexts(
            method: target.method, authority: target.authority,
            target: target.path + (target.query.map { "?" + $0 } ?? ""), contentType: target.contentType,
            contentEncoding: target.contentEncoding, appID: base.appID, deviceID: base.deviceID,
            content: try Digest(contentDigest: base.contentDigest))
    }

    private static func read(_ base: SignatureBase) throws -> ReceivedSignature {
        let one = [UInt8](repeating: 0, count: 31) + [1]
        return try ReceivedSignature(
            input: base.input, value: base.value(of: Signature(rawRepresentation: one + one)))
    }

    /// What is signed is read as it was meant, by the verifier and by a reader of URLs.
    @Test func whatIsSignedIsReadTheSame() throws {
        var generator = SeededGenerator(state: 9_421)
        var good = 0
        for _ in 0..<Self.count {
            let target = Self.target(&generator)
            guard let base = try? Self.signed(target) else { continue }
            good += 1
            let texts = try Self.received(target, base)
            #expect(texts.path == target.path && texts.query == "?" + (target.query ?? ""), "\(target)")
            let signature = try Self.read(base)
            try signature.check(texts)
            #expect(try signature.covers(texts) && signature.root(of: texts).root == base.digest, "\(target)")
            let whole = target.path + (target.query.map { "?" + $0 } ?? "")
            let url = try HTTPURL(parsing: "https://" + target.authority + whole)
            #expect(url.target == whole, "\(target)")
        }
        #expect(good > 150, "\(good)")
        print("\(Self.count) requests: \(good) signed, and read as they were signed")
    }

    /// Another request than the signed one is refused, or has another digest.
    @Test func anotherRequestIsNotTheSigned() throws {
        var generator = SeededGenerator(state: 3_986)
        var (pairs, last): (Int, (RequestTarget, SignatureBase)?) = (0, nil)
        for _ in 0..<Self.count {
            let target = Self.target(&generator)
            defer { if let base = try? Self.signed(target) { last = (target, base) } }
            guard let (before, base) = last else { continue }
            // One part of another request in the signed one.
            var mixed = before
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: mixed.method = target.method
            case 1: mixed.authority = target.authority
            case 2: mixed.path = target.path
            case 3: mixed.query = target.query
            case 4: mixed.contentType = target.contentType
            default: mixed.contentEncoding = target.contentEncoding
            }
            let texts = try Self.received(mixed, base)
            let signature = try Self.read(base)
            guard signature.covers(texts), (try? signature.check(texts)) != nil else { continue }
            pairs += 1
            let isSame = mixed.normal == before.normal
            #expect((try signature.root(of: texts).root == base.digest) == isSame, "\(before), \(mixed)")
        }
        #expect(pairs > 100, "\(pairs)")
        print("\(Self.count) requests: \(pairs) with one part of another one, none of which is read as signed")
    }
}

extension RequestTarget {
    /// The same request, taken apart as a target is. A query that is only its question mark is no query (RFC 9421,
    /// 2.2.7).
    fileprivate var normal: RequestTarget {
        let whole = path + (query.map { "?" + $0 } ?? "")
        let parts = whole.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var normal = self
        normal.path = parts.first.map(String.init) ?? ""
        normal.query = parts.count == 2 && !parts[1].isEmpty ? String(parts[1]) : nil
        return normal
    }
}
