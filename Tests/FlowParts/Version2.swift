// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A verifier of signature version 2 that was written from docs/signing.md alone, for tests of the other side.
package struct Version2: Sendable {
    package let form: String
    package let created: Int64
    package let size: Int
    package let keyid: String
    private let digest: Digest
    private let bytes: [UInt8]

    /// nil for a request that does not have the headers, or whose content has another digest.
    package init?(_ request: HTTPRequest) {
        func header(_ name: String) -> String? { request.headers.first { $0.name.lowercased() == name }?.value }
        guard let input = header("signature-input"), let value = header("signature"),
            let content = header("content-digest"), input.hasPrefix("tenon="), value.hasPrefix("tenon=:"),
            let base = Self.base(request, String(input.dropFirst(6)), header),
            let digest = try? Digest(hashing: Array(base.utf8)), let body = try? Digest(hashing: request.body),
            content == "sha-256=:\(TextEncoding.base64.encode(body.rawRepresentation)):",
            let bytes = try? TextEncoding.base64.decode(String(value.dropFirst(7).dropLast()))
        else { return nil }
        func parameter(_ name: String) -> String {
            input.split(separator: ";").first { $0.hasPrefix(name + "=") }.map {
                $0.dropFirst(name.count + 1).filter { $0 != "\"" }
            } ?? ""
        }
        (form, keyid, created) = (parameter("tag"), parameter("keyid"), Int64(parameter("created")) ?? 0)
        (self.digest, self.bytes) = (digest, bytes)
        size = form == "tenon-batch" && bytes.count >= 68 ? Int(bytes[64]) << 8 + Int(bytes[65]) : 0
    }

    /// RFC 9421, 2.5.
    private static func base(
        _ request: HTTPRequest, _ parameters: String, _ header: (String) -> String?
    ) -> String? {
        guard let url = try? HTTPURL(parsing: request.url) else { return nil }
        let target = url.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let components = parameters.prefix { $0 != ")" }.dropFirst().split(separator: " ").map {
            $0.filter { $0 != "\"" }
        }
        var lines: [String] = []
        for component in components {
            let value: String? =
                switch component {
                case "@method": request.method
                case "@authority": String(url.origin.drop { $0 != "/" }.dropFirst(2))
                case "@path": String(target[0])
                case "@query": "?" + (target.count == 2 ? target[1] : "")
                default: header(component)
                }
            guard let value else { return nil }
            lines.append("\"\(component)\": \(value)")
        }
        for optional in ["content-type", "content-encoding"]
        where (header(optional) != nil) != components.contains(optional) {
            return nil
        }
        return (lines + ["\"@signature-params\": \(parameters)"]).joined(separator: "\n")
    }

    /// Whether this key signed the request, alone or in a batch.
    package func isSigned(by key: PublicKey) -> Bool {
        guard let thumbprint = try? key.thumbprint, thumbprint == keyid, bytes.count >= 64,
            let signature = try? Signature(rawRepresentation: bytes[..<64])
        else { return false }
        if form == "tenon" { return bytes.count == 64 && key.isValidSignature(signature, for: digest) }
        guard let root, let name = try? TextEncoding.base64url.decode(thumbprint) else { return false }
        let label = Array("tenon request batch 2".utf8)
        let statement = label + [UInt8](repeating: 0, count: 32 - label.count) + name + bytes[64..<66] + root
        return key.isValidSignature(signature, for: statement)
    }

    /// RFC 9162, 2.1.3.2: from the leaf to the root; nil for a path that is too short or too long.
    private var root: [UInt8]? {
        guard bytes.count >= 68, size > 0, (bytes.count - 68) % 32 == 0 else { return nil }
        var path = stride(from: 68, to: bytes.count, by: 32).map { Array(bytes[$0..<$0 + 32]) }[...]
        var (at, last) = (Int(bytes[66]) << 8 + Int(bytes[67]), size - 1)
        var node = Self.hash([0] + digest.rawRepresentation)
        while last > 0 {
            if at & 1 == 1 || at < last {
                guard let step = path.popFirst() else { return nil }
                node = Self.hash(at & 1 == 1 ? [1] + step + node : [1] + node + step)
            }
            (at, last) = (at >> 1, last >> 1)
        }
        return path.isEmpty ? node : nil
    }

    private static func hash(_ bytes: [UInt8]) -> [UInt8] {
        (try? Digest(hashing: bytes))?.rawRepresentation ?? []
    }
}
