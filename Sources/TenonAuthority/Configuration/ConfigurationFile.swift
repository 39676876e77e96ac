// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

// The file of a configuration.
extension Configuration {
    package static let fileName = "authority.json"

    /// Reads a file. Blocks on the disk.
    ///
    /// - Throws: ``TenonError/Code/storePermission`` when it cannot be read; ``TenonError/Code/configuration``.
    package init(file path: String, tls: Listener.TLS? = nil) throws(TenonError) {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Configuration.unreadable(path) }
        defer { Glibc.close(file) }
        var bytes = [UInt8](repeating: 0, count: Configuration.maxFileBytes)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes { bytes in
                Glibc.read(file, bytes.baseAddress.map { $0 + count }, bytes.count - count)
            }
            guard read >= 0 || errno == EINTR else { throw Configuration.unreadable(path) }
            if read == 0 { break }
            count += max(0, read)
        }
        try self.init(parsing: Array(bytes[..<count]), tls: tls)
    }

    /// Writes the configuration that the authority has when it was given none: app `demo`, loopback, attestation
    /// required, in the dialect that proves new keys, too. One that is there stays.
    ///
    /// - Parameters:
    ///   - hasTLS: whether it is to be started with a certificate.
    ///   - ekRoots: PEM files of the TPM makers' roots; with none, registrations are refused.
    /// - Returns: the text, for the operator to see.
    package static func writeDefault(
        in folder: AuthorityFolder, port: Int = 8420, hasTLS: Bool = false, ekRoots: [String] = []
    ) throws(TenonError) -> String {
        let text = try defaultText(port: port, hasTLS: hasTLS, ekRoots: ekRoots)
        let file = try folder.open(fileName, flags: O_EXCL)
        defer { Glibc.close(file) }
        let bytes = Array(text.utf8)
        guard write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
            throw TenonError(.storeFailed, message: "\(fileName) cannot be written: make room on its disk.")
        }
        return text
    }

    /// What ``writeDefault(in:port:hasTLS:ekRoots:)`` writes.
    package static func defaultText(
        port: Int = 8420, hasTLS: Bool = false, ekRoots: [String] = []
    ) throws(TenonError) -> String {
        let roots = try JSON.array(ekRoots.map { ["path": .string($0)] }).encoded()
        return """
            {
              "origins": ["\(hasTLS ? "https" : "http")://127.0.0.1:\(port)"],
              "public": {"address": "127.0.0.1", "port": \(port)},
              "admin": {"unix": "admin.sock"},
              "apps": [
                {
                  "id": "demo",
                  "dialects": ["tenon"],
                  "require_attestation": true,
                  "ek_admission": "chain",
                  "ek_roots": \(String(decoding: roots, as: UTF8.self)),
                  "max_devices_per_ek": 8
                }
              ]
            }

            """
    }

    /// More is refused as too large; one byte more than the reader takes shows that there was more.
    private static let maxFileBytes = (1 << 20) + 1

    private static func unreadable(_ path: String) -> TenonError {
        TenonError(.storePermission, message: "\(path) cannot be read: is it there, and may the authority read it?")
    }
}
