// SPDX-License-Identifier: Apache-2.0

// RequestVerifier KEY REQUEST...
//
// Says whether each REQUEST, a file with an HTTP request, comes from the device. KEY is the device's public key, base64
// of its SubjectPublicKeyInfo, as the service that registered the device gives it. A server must check what this
// program checks: the signature, the time, and that no request is accepted twice. It needs neither a TPM nor
// Foundation.

import Glibc
import Tenon

struct Refusal: Error {
    let reason: String

    static let form = Refusal(reason: "not a signed request")
}

/// A server's framework does this.
struct Request {
    let method: String
    let path: String
    private var headers: [String: String] = [:]
    let body: [UInt8]

    init(_ bytes: [UInt8]) throws {
        let end = Array("\r\n\r\n".utf8)
        guard let split = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { throw Refusal.form }
        body = Array(bytes[(split + end.count)...])
        let lines = String(decoding: bytes[..<split], as: UTF8.self).split(separator: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        guard words.count == 3 else { throw Refusal.form }
        (method, path) = (words[0], words[1])
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw Refusal.form }
            let value = String(line[colon...].dropFirst().drop { $0 == " " })
            guard headers.updateValue(value, forKey: line[..<colon].lowercased()) == nil else { throw Refusal.form }
        }
    }

    func header(_ name: String) throws -> String {
        guard let value = headers[name] else { throw Refusal.form }
        return value
    }
}

/// Verifies the requests of one device. A server with several processes keeps what was seen in a place for all.
struct Judge {
    private let verifier: Verifier
    /// Each for as long as its timestamp is valid; drop older ones.
    private var nonces: Set<String> = []
    private var signatures: Set<[UInt8]> = []

    init(keyText: String) throws {
        verifier = try Verifier(PublicKey(derRepresentation: TextEncoding.base64.decode(keyText)))
    }

    mutating func accept(_ request: Request) throws {
        let timestamp = try request.header("x-synheart-timestamp")
        let nonce = try request.header("x-synheart-nonce")
        var message = try RequestMessage(method: request.method, path: request.path, timestamp: timestamp)
        try message.update(request.body)
        guard let seconds = Int(timestamp), abs(seconds - time(nil)) <= 300 else {
            throw Refusal(reason: "the timestamp is too far from now")
        }
        let der = try TextEncoding.base64.decode(request.header("x-synheart-signature"))
        let signature = try Signature(derRepresentation: der)
        try verifier.verify(signature, for: message.finish())
        // After the signature; otherwise anyone could use up a nonce. The nonce is not signed: a request that is sent
        // again with another one has the same r, which nobody can change without the key.
        let isFirst = signatures.insert(Array(signature.rawRepresentation.prefix(32))).inserted
        guard isFirst, nonces.insert(nonce).inserted else { throw Refusal(reason: "it was made before") }
    }
}

func contents(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { throw Refusal(reason: "it cannot be read") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while case let n = fread(&piece, 1, piece.count, file), n > 0 { bytes += piece[..<n] }
    return bytes
}

let arguments = CommandLine.arguments.dropFirst()
guard let keyText = arguments.first, arguments.count > 1 else {
    print("usage: RequestVerifier KEY REQUEST...")
    exit(1)
}
var judge = try Judge(keyText: keyText)
var result: Int32 = 0
for path in arguments.dropFirst() {
    do {
        try judge.accept(Request(contents(path)))
        print("\(path): valid")
    } catch {
        let reason = (error as? Refusal)?.reason ?? (error as? TenonError)?.message ?? "\(error)"
        print("\(path): refused: \(reason)")
        result = 3
    }
}
exit(result)
