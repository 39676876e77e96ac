// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// A file of PEM blocks that the configuration names.
struct PEMFile {
    let path: String

    private static let maxBytes = 1 << 24

    /// The file itself, or the folder's files that end so, in the order of their names.
    static func all(at path: String, suffixes: [String]) -> [PEMFile] {
        guard let folder = opendir(path) else { return [PEMFile(path: path)] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if suffixes.contains(where: name.hasSuffix) { names.append("\(path)/\(name)") }
        }
        return names.sorted().map(PEMFile.init)
    }

    /// What stands between `BEGIN` and `END` of this label, at least once.
    ///
    /// - Throws: ``TenonError/Code/configuration``.
    func blocks(_ label: String, member: String) throws(TenonError) -> [[UInt8]] {
        let mistake = TenonError(
            .configuration, message: "\(path) holds no \(label) in PEM: correct the path in \"\(member)\".")
        guard let lines = lines() else { throw mistake }
        var blocks: [[UInt8]] = []
        // Of the open one; nil between two.
        var text: [Substring]?
        for line in lines {
            switch (line, text) {
            case ("-----BEGIN \(label)-----", nil): text = []
            case ("-----END \(label)-----", let whole?):
                guard let bytes = try? TextEncoding.base64.decode(whole.joined()), !bytes.isEmpty else { throw mistake }
                blocks.append(bytes)
                text = nil
            case (_, .some): text?.append(line)
            default: break
            }
        }
        guard text == nil, !blocks.isEmpty else { throw mistake }
        return blocks
    }

    private func lines() -> [Substring]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file, &part, part.count), count > 0 {
            bytes += part[..<count]
            guard bytes.count <= PEMFile.maxBytes else { return nil }
        }
        return String(decoding: bytes, as: UTF8.self).split { $0 == "\n" || $0 == "\r\n" }
    }
}
