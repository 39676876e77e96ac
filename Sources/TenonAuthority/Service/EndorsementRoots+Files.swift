// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

extension EndorsementRoots {
    /// Reads the certificates of a PEM file, or of a folder's files that end with `.pem` or `.crt`. It blocks.
    ///
    /// - Throws: ``TenonError/Code/configuration``, whose message names the file.
    package init(reading path: String, requiresUsage: Bool) throws(TenonError) {
        var certificates: [[UInt8]] = []
        for file in EndorsementRoots.files(at: path) { certificates += try EndorsementRoots.certificates(in: file) }
        self.init(certificates: certificates, requiresUsage: requiresUsage)
    }

    private static let maxBytes = 1 << 20

    /// The file itself, or the folder's in the order of their names.
    private static func files(at path: String) -> [String] {
        guard let folder = opendir(path) else { return [path] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".pem") || name.hasSuffix(".crt") { names.append("\(path)/\(name)") }
        }
        return names.sorted()
    }

    private static func certificates(in path: String) throws(TenonError) -> [[UInt8]] {
        var certificates: [[UInt8]] = []
        // Of the open one; nil between two.
        var text: String?
        for line in try lines(of: path) {
            switch (line, text) {
            case ("-----BEGIN CERTIFICATE-----", nil): text = ""
            case ("-----END CERTIFICATE-----", let whole?):
                guard let bytes = try? TextEncoding.base64.decode(whole), !bytes.isEmpty else { throw mistake(path) }
                certificates.append(bytes)
                text = nil
            case (_, let begun?): text = begun + line
            default: break
            }
        }
        guard text == nil, !certificates.isEmpty else { throw mistake(path) }
        return certificates
    }

    private static func lines(of path: String) throws(TenonError) -> [String] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw mistake(path) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: maxBytes)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress.map { $0 + count }, $0.count - count)
            }
            guard more > 0 else { break }
            count += more
        }
        return bytes[..<count].split(separator: UInt8(ascii: "\n")).map { line in
            String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
    }

    private static func mistake(_ path: String) -> TenonError {
        TenonError(.configuration, message: "\(path) holds no certificates in PEM: correct the path in \"ek_roots\".")
    }
}
