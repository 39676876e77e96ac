// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// An object of the configuration. Its reader asks for each member that it may have; any other member is a mistake.
package struct ConfigurationSection {
    private let text: ConfigurationText
    private let path: [JSON.Step]
    private let object: JSONObject
    private var asked: Set<String> = []

    private init(_ text: ConfigurationText, _ path: [JSON.Step], _ json: JSON) throws(TenonError) {
        guard let object = json.object else { throw text.mistake("must be an object", at: path) }
        self.text = text
        self.path = path
        self.object = object
    }

    /// Reads a whole text.
    static func read<Value>(
        _ text: ConfigurationText, _ body: (inout ConfigurationSection) throws(TenonError) -> Value
    ) throws(TenonError) -> Value {
        var section = try ConfigurationSection(text, [], text.json)
        return try section.whole(body)
    }

    private mutating func whole<Value>(
        _ body: (inout ConfigurationSection) throws(TenonError) -> Value
    ) throws(TenonError) -> Value {
        let value = try body(&self)
        for member in object.members where !asked.contains(member.key) {
            throw text.mistake("is not known", at: path + [.key(member.key)], key: true)
        }
        return value
    }

    /// The error for a mistake, in words that continue the member's name; without a name, it is about the whole
    /// section.
    package func mistake(_ what: String, _ name: String? = nil) -> TenonError {
        text.mistake(what, at: path + (name.map { [.key($0)] } ?? []))
    }

    private mutating func member(_ name: String) -> JSON? {
        asked.insert(name)
        return object[name]
    }

    // MARK: Members

    /// A member that the transformation accepts.
    package mutating func optional<Value>(
        _ name: String, _ what: String, _ transform: (JSON) -> Value?
    ) throws(TenonError) -> Value? {
        guard let json = member(name) else { return nil }
        guard let value = transform(json) else { throw mistake("must be \(what)", name) }
        return value
    }

    package mutating func required<Value>(
        _ name: String, _ what: String, _ transform: (JSON) -> Value?
    ) throws(TenonError) -> Value {
        guard let value = try optional(name, what, transform) else {
            throw mistake("needs \"\(name)\", which is \(what)")
        }
        return value
    }

    package mutating func bool(_ name: String, default value: Bool) throws(TenonError) -> Bool {
        try optional(name, "true or false", \.bool) ?? value
    }

    package mutating func integer(
        _ name: String, _ range: ClosedRange<Int>, default value: Int
    ) throws(TenonError) -> Int {
        try optionalInteger(name, range) ?? value
    }

    package mutating func optionalInteger(_ name: String, _ range: ClosedRange<Int>) throws(TenonError) -> Int? {
        try optional(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { json in
            json.integer.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// One of the words of an enumeration.
    package mutating func choice<Choice: ConfigurationChoice>(
        _ name: String, default value: Choice
    ) throws(TenonError) -> Choice {
        try optional(name, Choice.words) { $0.string.flatMap(Choice.init(rawValue:)) } ?? value
    }

    /// An array of elements that the transformation accepts, without repetition.
    package mutating func list<Value: Hashable>(
        _ name: String, _ what: String, _ transform: (JSON) -> Value?
    ) throws(TenonError) -> [Value] {
        var values: [Value] = []
        var seen: Set<Value> = []
        for (index, json) in try optional(name, "an array", \.array)?.enumerated() ?? [].enumerated() {
            let place = path + [.key(name), .index(index)]
            guard let value = transform(json) else { throw text.mistake("must be \(what)", at: place) }
            guard seen.insert(value).inserted else { throw text.mistake("is listed twice", at: place) }
            values.append(value)
        }
        return values
    }

    /// An array of objects and of elements that the transformation accepts.
    mutating func mixed<Value>(
        _ name: String, _ what: String, _ transform: (JSON) -> Value?,
        _ body: (inout ConfigurationSection) throws(TenonError) -> Value
    ) throws(TenonError) -> [Value] {
        var values: [Value] = []
        for (index, json) in try optional(name, "an array", \.array)?.enumerated() ?? [].enumerated() {
            let place = path + [.key(name), .index(index)]
            if json.object != nil {
                var section = try ConfigurationSection(text, place, json)
                values.append(try section.whole(body))
            } else {
                guard let value = transform(json) else { throw text.mistake("must be \(what)", at: place) }
                values.append(value)
            }
        }
        return values
    }

    // MARK: Sections

    mutating func section<Value>(
        _ name: String, _ body: (inout ConfigurationSection) throws(TenonError) -> Value
    ) throws(TenonError) -> Value? {
        guard let json = member(name) else { return nil }
        var section = try ConfigurationSection(text, path + [.key(name)], json)
        return try section.whole(body)
    }

    /// An array of objects.
    mutating func sections<Value>(
        _ name: String, _ body: (inout ConfigurationSection) throws(TenonError) -> Value
    ) throws(TenonError) -> [Value] {
        var values: [Value] = []
        for (index, json) in try optional(name, "an array", \.array)?.enumerated() ?? [].enumerated() {
            var section = try ConfigurationSection(text, path + [.key(name), .index(index)], json)
            values.append(try section.whole(body))
        }
        return values
    }
}

/// A member with a few possible words.
package protocol ConfigurationChoice: RawRepresentable<String>, CaseIterable {}

extension ConfigurationChoice {
    /// The words, as an error lists them.
    package static var words: String {
        allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
    }
}

/// The text of a configuration, for finding the line of a mistake.
struct ConfigurationText {
    private let bytes: [UInt8]
    let json: JSON

    private static let maxBytes = 1 << 20
    private static let maxValues = 1 << 16

    /// - Throws: ``TenonError/Code/configuration`` with the line at which it is not JSON.
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

    /// The error for a mistake at a place in the text.
    func mistake(_ what: String, at path: [JSON.Step], key: Bool = false) -> TenonError {
        let offset = JSON.offset(of: path, key: key, in: bytes) ?? 0
        let line = ConfigurationText.line(of: offset, in: bytes)
        let name = path.isEmpty ? "the file" : ConfigurationText.name(of: path)
        return TenonError(.configuration, message: "The configuration, line \(line): \(name) \(what).")
    }

    private static func line(of offset: Int, in bytes: [UInt8]) -> Int {
        1 + bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") }
    }

    /// `apps[0].id`. Leaves out a key that would break a line of a log.
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

/// The forms of texts in the configuration.
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

    /// The id of an app (decision: ids).
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

    /// A text in the form of an AK certificate.
    static func word(_ json: JSON) -> String? {
        json.string.flatMap { text in
            1...64 ~= text.utf8.count && text.utf8.allSatisfy { 0x20...0x7e ~= $0 } ? text : nil
        }
    }

    static func address(_ json: JSON) -> String? {
        json.string.flatMap { Address.isNumeric($0) ? $0 : nil }
    }

    /// An address in its canonical form, or the name for clients of a unix socket, whose file the operator protects.
    static func proxy(_ json: JSON) -> String? {
        json.string.flatMap { $0 == "unix" ? $0 : Address.canonical($0) }
    }

    static func host(_ json: JSON) -> String? {
        json.string.flatMap { Address.isHost($0) ? $0 : nil }
    }

    /// A host, and a port if it is not the scheme's own.
    static func authority(_ json: JSON) -> String? {
        guard let text = json.string, let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") else {
            return host(json)
        }
        let digits = text[text.index(after: colon)...]
        guard Address.isHost(String(text[..<colon])), let port = UInt16(digits), port > 0, String(port) == digits,
            port != 443
        else { return nil }
        return text
    }

    /// "", or a path that begins with a slash and does not end with one, in the form of a request.
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
