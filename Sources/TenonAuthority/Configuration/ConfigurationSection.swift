// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// An object of the configuration. Each member that it may have is asked for; one that nobody asked for is a mistake.
struct ConfigurationSection {
    private let text: ConfigurationText
    private let path: [JSON.Step]
    private let object: JSONObject
    private var asked: Set<String> = []

    private init(_ text: ConfigurationText, _ path: [JSON.Step], _ json: JSON) throws(TenonError) {
        guard let object = json.object else { throw text.mistake("has to be an object", at: path) }
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

    /// The mistake that a member is, in words that go on behind its name; without a name, that the section is.
    func mistake(_ what: String, _ name: String? = nil) -> TenonError {
        text.mistake(what, at: path + (name.map { [.key($0)] } ?? []))
    }

    private mutating func member(_ name: String) -> JSON? {
        asked.insert(name)
        return object[name]
    }

    // MARK: Members

    /// A member that the transformation takes.
    mutating func optional<Value>(
        _ name: String, _ what: String, _ transform: (JSON) -> Value?
    ) throws(TenonError) -> Value? {
        guard let json = member(name) else { return nil }
        guard let value = transform(json) else { throw mistake("has to be \(what)", name) }
        return value
    }

    mutating func required<Value>(
        _ name: String, _ what: String, _ transform: (JSON) -> Value?
    ) throws(TenonError) -> Value {
        guard let value = try optional(name, what, transform) else {
            throw mistake("needs \"\(name)\", which is \(what)")
        }
        return value
    }

    mutating func bool(_ name: String, default value: Bool) throws(TenonError) -> Bool {
        try optional(name, "true or false", \.bool) ?? value
    }

    mutating func integer(
        _ name: String, _ range: ClosedRange<Int>, default value: Int
    ) throws(TenonError) -> Int {
        try optionalInteger(name, range) ?? value
    }

    mutating func optionalInteger(_ name: String, _ range: ClosedRange<Int>) throws(TenonError) -> Int? {
        try optional(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { json in
            json.integer.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// One of an enumeration's words.
    mutating func choice<Choice: ConfigurationChoice>(
        _ name: String, default value: Choice
    ) throws(TenonError) -> Choice {
        try optional(name, Choice.words) { $0.string.flatMap(Choice.init(rawValue:)) } ?? value
    }

    /// An array of what the transformation takes, each at most once.
    mutating func list<Value: Hashable>(
        _ name: String, _ what: String, _ transform: (JSON) -> Value?
    ) throws(TenonError) -> [Value] {
        var values: [Value] = []
        var seen: Set<Value> = []
        for (index, json) in try optional(name, "an array", \.array)?.enumerated() ?? [].enumerated() {
            let place = path + [.key(name), .index(index)]
            guard let value = transform(json) else { throw text.mistake("has to be \(what)", at: place) }
            guard seen.insert(value).inserted else { throw text.mistake("stands there twice", at: place) }
            values.append(value)
        }
        return values
    }

    /// An array of what the transformation takes, and of objects.
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
                guard let value = transform(json) else { throw text.mistake("has to be \(what)", at: place) }
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

/// The words of a member that is one of a few.
protocol ConfigurationChoice: RawRepresentable<String>, CaseIterable {}

extension ConfigurationChoice {
    static var words: String {
        allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
    }
}
