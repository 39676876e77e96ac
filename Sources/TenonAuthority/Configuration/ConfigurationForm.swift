// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The forms that texts of the configuration have.
enum ConfigurationForm {
    static func path(_ json: JSON) -> String? {
        json.string.flatMap { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }
    }

    static func name(_ json: JSON) -> String? {
        json.string.flatMap { text in
            let isName = text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
            return isName && 1...64 ~= text.utf8.count ? text : nil
        }
    }

    /// Decision: ids.
    static func appID(_ json: JSON) -> String? {
        json.string.flatMap { text in
            1...200 ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7e ~= $0 } ? text : nil
        }
    }

    /// A SHA-256 in hex.
    static func digest(_ json: JSON) -> Digest? {
        guard let text = json.string, let bytes = try? TextEncoding.hex.decode(text) else { return nil }
        return try? Digest(rawRepresentation: bytes)
    }

    /// A text as an AK certificate holds it.
    static func word(_ json: JSON) -> String? {
        json.string.flatMap { text in
            1...64 ~= text.utf8.count && text.utf8.allSatisfy { 0x20...0x7e ~= $0 } ? text : nil
        }
    }

    static func address(_ json: JSON) -> String? {
        json.string.flatMap { Address.isNumeric($0) ? $0 : nil }
    }

    /// An address in its one form, or what stands for whoever comes by a unix socket, whose file the operator guards.
    static func proxy(_ json: JSON) -> String? {
        json.string.flatMap { $0 == "unix" ? $0 : Address.canonical($0) }
    }

    static func host(_ json: JSON) -> String? {
        json.string.flatMap { Address.isHost($0) ? $0 : nil }
    }

    /// "" or a path that begins with a slash and does not end with one, as it stands in a request.
    static func mount(_ json: JSON) -> String? {
        json.string.flatMap { text in
            let isPath = text.hasPrefix("/") && !text.hasSuffix("/") && !text.contains("//")
            let isPlain = text.utf8.allSatisfy {
                0x21...0x7e ~= $0 && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
            }
            return text.isEmpty || isPath && isPlain && text.utf8.count <= 200 ? text : nil
        }
    }
}
