// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon

/// Where the flows go, by the words of the command line.
struct Place {
    let authority: String
    let tpmState: String
    /// The certificate above the EK's, DER.
    let issuer: [UInt8]
    /// The authority's CA.
    let root: [UInt8]
    let isSmoke: Bool

    static let usage = "usage: FlowBench URL CA_ROOT TPM_STATE [--smoke]\n"

    /// - Throws: ``TenonError/Code/options``.
    init(_ words: [String]) throws(TenonError) {
        guard words.count >= 3 else { throw TenonError(.options, message: Place.usage) }
        (authority, tpmState) = (words[0], words[2])
        isSmoke = words.contains("--smoke")
        root = try Place.certificate(words[1])
        issuer = try Place.certificate(tpmState + "/issuer.pem")
    }

    private static func certificate(_ path: String) throws(TenonError) -> [UInt8] {
        guard let file = fopen(path, "r") else { throw TenonError(.options, message: "There is no \(path).") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = fread(&bytes, 1, bytes.count, file)
        let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
            .drop { $0 != "-----BEGIN CERTIFICATE-----" }.dropFirst()
        return try TextEncoding.base64.decode(lines.prefix { $0 != "-----END CERTIFICATE-----" }.joined())
    }
}
