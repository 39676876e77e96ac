// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import Testing

/// The vectors of `Tests/Vectors`.
enum Vectors {
    /// The lines `name = value` of a file.
    static func lines(_ file: String) throws -> [(name: String, value: String)] {
        let folder = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let text = try String(decoding: contents("/\(folder)/Vectors/\(file)"), as: UTF8.self)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
            return (parts[0], parts.count == 2 ? line.drop { $0 != "=" }.dropFirst(2).description : "")
        }
    }

    /// The certificates (DER) of a file by their names.
    static func certificates(_ file: String) throws -> [String: [UInt8]] {
        try lines("certificates/\(file)").reduce(into: [:]) { $0[$1.name] = try hex($1.value) }
    }

    static func contents(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"), "\(path)")
        defer { fclose(file) }
        var contents: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { contents += piece[..<count] }
        return contents
    }
}
