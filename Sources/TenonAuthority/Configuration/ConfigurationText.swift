// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The text of a configuration, which knows its lines.
struct ConfigurationText {
    private let bytes: [UInt8]
    let json: JSON

    private static let maxBytes = 1 << 20
    private static let maxValues = 1 << 16

    /// - Throws: ``TenonError/Code/configuration`` with the line where it is no JSON.
    init(_ bytes: [UInt8]) throws(TenonError) {
        self.bytes = bytes
        do throws(TenonError) {
            json = try JSON(
                parsing: bytes, maxBytes: ConfigurationText.maxBytes, maxValues: ConfigurationText.maxValues)
        } catch {
            let line = error.byteOffset.map { "line \(ConfigurationText.line(of: $0, in: bytes)): " } ?? ""
            throw TenonError(.configuration, message: "The configuration, \(line)\(error.message)")
        }
    }

    /// Says where somebody has to look, and what is wrong there.
    func mistake(_ what: String, at path: [JSON.Step], key: Bool = false) -> TenonError {
        let offset = JSON.offset(of: path, key: key, in: bytes) ?? 0
        let line = ConfigurationText.line(of: offset, in: bytes)
        let name = path.isEmpty ? "the whole" : ConfigurationText.name(of: path)
        return TenonError(.configuration, message: "The configuration, line \(line): \(name) \(what).")
    }

    private static func line(of offset: Int, in bytes: [UInt8]) -> Int {
        1 + bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") }
    }

    /// `apps[0].id`. A key that would spoil a line of a log is left out.
    private static func name(of path: [JSON.Step]) -> String {
        var name = ""
        for step in path {
            switch step {
            case .index(let index): name += "[\(index)]"
            case .key(let key):
                let isPlain = key.utf8.count <= 64 && key.utf8.allSatisfy { 0x21...0x7e ~= $0 }
                name += (name.isEmpty ? "" : ".") + (isPlain && !key.isEmpty ? key : "(a name that is not shown)")
            }
        }
        return name
    }
}
