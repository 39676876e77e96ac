// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuthority

/// Small files that an operator names.
enum TextFile {
    private static let maxBytes = 1 << 20

    /// - Throws: ``TenonError/Code/configuration``.
    static func read(_ path: String) throws(TenonError) -> String {
        guard let file = fopen(path, "re") else { throw mistake(path) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: maxBytes)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0, count > 0, count < bytes.count else { throw mistake(path) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    private static func mistake(_ path: String) -> TenonError {
        TenonError(.configuration, message: "\(path) cannot be read, is empty, or is larger than 1 MiB.")
    }
}
