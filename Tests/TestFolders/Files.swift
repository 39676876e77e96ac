// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The content of a file.
package func readFile(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "re") else { throw FileFault(path: path, errno: errno) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
    return bytes
}

/// Writes a file that belongs to its owner alone.
package func writeFile(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw FileFault(path: path, errno: errno) }
    defer { close(file) }
    guard write(file, bytes, bytes.count) == bytes.count else { throw FileFault(path: path, errno: errno) }
}

extension String {
    package func write(to path: String) throws { try writeFile(Array(utf8), to: path) }
}

/// The names of what is in a folder, in order.
package func fileNames(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        names.append(
            withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names.filter { $0 != "." && $0 != ".." }.sorted()
}

private struct FileFault: Error {
    let path: String
    let errno: Int32
}
