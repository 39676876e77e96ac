// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine

/// `tenon verify-request`: the rules of a verifier of signature version 2 that need no store, in their order.
enum VerifyRequestCommand {
    static func answer(_ arguments: Arguments) throws(TenonError) -> Answer {
        guard let keyFile = try arguments.value("--key") else {
            throw arguments.mistake("verify-request needs --key FILE.")
        }
        let key = try PublicKey(pemRepresentation: String(decoding: SmallFile.read(keyFile), as: UTF8.self))
        let file = try JSON(parsing: SmallFile.read(arguments.operands[0], atMost: 65_536))
        let request = try ShownHeaders(file, content: content(try arguments.value("--data") ?? ""))
        let check = RequestCheck(key: key, hosts: arguments.all("--host"), now: try now(arguments))
        do throws(RequestCheck.Refusal) {
            return accepted(try check.verify(request))
        } catch {
            return refused(error)
        }
    }

    private static func now(_ arguments: Arguments) throws(TenonError) -> Int64 {
        guard let text = try arguments.value("--at") else { return Int64(time(nil)) }
        guard let seconds = Int64(text) else { throw arguments.mistake("--at must be a time in Unix seconds.") }
        return seconds
    }

    private static func content(_ argument: String) throws(TenonError) -> Digest {
        var source = try ByteSource(argument)
        var content = try ContentHash()
        while let piece = try source.next() { try content.update(piece) }
        return try content.finish()
    }

    private static let unchecked =
        "Not looked at: whether the device is registered with this key, and whether the request was used before."

    private static func accepted(_ signature: ReceivedSignature) -> Answer {
        let member = "request \(signature.index + 1) of a batch of \(signature.size)"
        let form = signature.isBatch ? member : "a plain request"
        return Answer(
            lines: ["accepted: \(form), signed by this key", unchecked],
            json: [
                "accepted": true, "form": .string(signature.isBatch ? "batch" : "plain"),
                "size": .integer(Int64(signature.size)), "index": .integer(Int64(signature.index)),
            ])
    }

    private static func refused(_ refusal: RequestCheck.Refusal) -> Answer {
        Answer(
            lines: ["refused by rule \(refusal.rule): \(refusal.text)"],
            json: [
                "accepted": false, "rule": .integer(Int64(refusal.rule)), "message": .string(refusal.text),
                "code": .or(refusal.code?.description),
            ], category: .rejected)
    }
}

/// A request as `tenon sign --json` prints it.
private struct ShownHeaders {
    let method: String
    let url: HTTPURL
    let content: Digest
    private let headers: [(name: String, value: String)]

    init(_ file: JSON, content: Digest) throws(TenonError) {
        guard let method = file["method"]?.string, let url = file["url"]?.string, let headers = file["headers"]?.object
        else {
            throw TenonError(
                .messageMember, message: "The file is not a request: it has no method, url and headers.",
                mend: "Give the output of sign --json.")
        }
        (self.method, self.url, self.content) = (method, try HTTPURL(parsing: url), content)
        self.headers = headers.members.compactMap { member in
            member.value.string.map { (member.key.lowercased(), $0) }
        }
    }

    func values(of name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    var authority: String { String(url.origin.drop { $0 != "/" }.dropFirst(2)) }
}

/// The verifier's rules, by their numbers in docs/signing.md.
private struct RequestCheck {
    struct Refusal: Error {
        let rule: Int
        let text: String
        var code: TenonError.Code?
    }

    let key: PublicKey
    /// Names of the service; none: any name is taken.
    let hosts: [String]
    let now: Int64

    func verify(_ request: ShownHeaders) throws(Refusal) -> ReceivedSignature {
        let input = try one("signature-input", of: request, atMost: 512)
        let value = try one("signature", of: request, atMost: 600)
        let digest = try one("content-digest", of: request, atMost: 54)
        let content = try rule(1) { () throws(TenonError) in try Digest(contentDigest: digest) }
        let texts = try CoveredTexts(
            method: request.method, authority: request.authority, target: request.url.target,
            contentType: atMostOne("content-type", of: request),
            contentEncoding: atMostOne("content-encoding", of: request),
            appID: one("x-app-id", of: request, atMost: 200), deviceID: one("x-device-id", of: request, atMost: 256),
            content: content)
        for name in ["x-synheart-signature", "x-synheart-timestamp", "x-synheart-nonce"]
        where !request.values(of: name).isEmpty {
            throw Refusal(rule: 2, text: "\(name) is a header of version 1.")
        }
        let signature = try read(input, value, at: texts.authority)
        try check(signature, texts)
        let root = try rule(19) { () throws(TenonError) in try signature.root(of: texts) }
        try rule(19) { () throws(TenonError) in try root.verify(with: key) }
        guard content == request.content else {
            throw Refusal(rule: 20, text: "The content is not the one that was signed.")
        }
        return signature
    }

    private func check(_ signature: ReceivedSignature, _ texts: CoveredTexts) throws(Refusal) {
        guard signature.covers(texts) else {
            throw Refusal(rule: 4, text: "Content-Type and Content-Encoding are not covered exactly if they are there.")
        }
        try rule(6) { () throws(TenonError) in try signature.check(texts) }
        try checkHost(texts.authority)
        guard (try? key.thumbprint) == signature.keyID else {
            throw Refusal(rule: 17, text: "keyid is not the thumbprint of this key.")
        }
        guard abs(now - signature.created) <= 300, now <= signature.expires else {
            throw Refusal(rule: 18, text: "The request was made at \(signature.created), and it is \(now).")
        }
    }

    private func checkHost(_ host: String) throws(Refusal) {
        guard hosts.isEmpty || hosts.contains(host) else {
            throw Refusal(rule: 7, text: "\(host) is not a name of the service.")
        }
    }

    private func atMostOne(_ name: String, of request: ShownHeaders) throws(Refusal) -> String? {
        let values = request.values(of: name)
        guard values.count <= 1 else { throw Refusal(rule: 1, text: "\(name) must be there once at most.") }
        return values.first
    }

    private func one(_ name: String, of request: ShownHeaders, atMost limit: Int) throws(Refusal) -> String {
        let values = request.values(of: name)
        guard values.count == 1, values[0].utf8.count <= limit else {
            throw Refusal(rule: 1, text: "\(name) must be there once, with at most \(limit) bytes.")
        }
        return values[0]
    }

    private func read(_ input: String, _ value: String, at host: String) throws(Refusal) -> ReceivedSignature {
        do throws(TenonError) {
            return try ReceivedSignature(input: input, value: value)
        } catch {
            // One call reads both headers, but rule 7 comes between them.
            if ![.signatureInput, .validity].contains(error.code) { try checkHost(host) }
            let rules: [TenonError.Code: Int] = [
                .signatureInput: 3, .validity: 5, .signatureValue: 8, .batchSize: 9, .batchIndex: 10, .batchPath: 11,
                .signatureRange: 12, .signatureHigh: 13,
            ]
            throw Refusal(rule: rules[error.code] ?? 3, text: error.message, code: error.code)
        }
    }

    @discardableResult
    private func rule<Value>(_ number: Int, _ body: () throws(TenonError) -> Value) throws(Refusal) -> Value {
        do throws(TenonError) { return try body() } catch {
            throw Refusal(rule: number, text: error.message, code: error.code)
        }
    }
}
