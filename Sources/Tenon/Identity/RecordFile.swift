// SPDX-License-Identifier: Apache-2.0

/// The form of a record's file (decision: record-form): one line of JSON, and one with the SHA-256 of the first.
package enum RecordFile {
    /// Longer ones are no records: a message of the greatest length and all keys fit twice.
    package static let longest = 262_144

    package static func encode(_ record: IdentityRecord) throws(TenonError) -> [UInt8] {
        try encode(record, version: IdentityRecord.version)
    }

    /// In the form of an earlier version, which has no place for what came later.
    package static func encode(_ record: IdentityRecord, version: Int64) throws(TenonError) -> [UInt8] {
        try record.validate()
        let coder = RecordCoder(version: version, place: "record")
        _ = try IdentityRecord.coded(coder, record)
        let line = try JSON.object(coder.written).encoded() + [UInt8(ascii: "\n")]
        let bytes = try line + sum(of: line)
        guard bytes.count <= longest else {
            throw TenonError(.tooLarge, message: "A record may have at most \(longest) bytes.")
        }
        return bytes
    }

    /// Reads a record. Nothing is taken that ``encode(_:)`` would not have written.
    ///
    /// - Throws: ``TenonError/Code/recordForm``, ``TenonError/Code/recordSum``, ``TenonError/Code/recordVersion``.
    package static func decode(_ bytes: [UInt8]) throws(TenonError) -> IdentityRecord {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw IdentityRecord.malformed("no checksum") }
        let line = Array(bytes[...end])
        let rest = bytes[(end + 1)...]
        guard rest.count == 65 else { throw IdentityRecord.malformed("length of the checksum") }
        guard try rest.elementsEqual(sum(of: line)) else {
            throw TenonError(.recordSum, message: "The record was changed or damaged: its checksum is wrong.")
        }
        do throws(TenonError) {
            return try record(Array(line.dropLast()), bytes)
        } catch  where error.code == .recordForm || error.code == .recordVersion {
            throw error
        } catch {
            // The codes of what a record is made of tell a person nothing.
            throw IdentityRecord.malformed(error.message)
        }
    }

    private static func record(_ line: [UInt8], _ bytes: [UInt8]) throws(TenonError) -> IdentityRecord {
        let json = try JSON(parsing: line, maxBytes: longest)
        guard let members = json.object, let version = members["version"]?.integer else {
            throw IdentityRecord.malformed("version")
        }
        guard version <= IdentityRecord.version else {
            throw TenonError(
                .recordVersion, message: "A later version of Tenon wrote the record (\(version)). Use that version.")
        }
        let coder = RecordCoder(version: version, place: "record", reading: members)
        let record = try IdentityRecord.coded(coder, nil)
        // Also refuses members that are not asked for, white space, and whatever has two forms.
        guard version >= 1, try encode(record, version: version) == bytes else {
            throw IdentityRecord.malformed("unknown format")
        }
        return record
    }

    private static func sum(of line: [UInt8]) throws(TenonError) -> [UInt8] {
        Array(try Digest(hashing: line).description.utf8) + [UInt8(ascii: "\n")]
    }
}

/// Goes through the members of one object of a record and writes each of them, or reads it: so a member is declared once.
///
/// Each function takes the value that is written (nil while a record is read), and gives the value that was written or
/// read. A reader finds members that no row asks for by writing the record again and comparing the two.
final class RecordCoder {
    /// The version of the record.
    let version: Int64
    private let place: String
    /// The object that is read; nil while a record is written.
    private let source: JSONObject?
    private(set) var written = JSONObject()

    /// - Parameter place: what the object is called, for who looks for a mistake.
    init(version: Int64, place: String, reading source: JSONObject? = nil) {
        (self.version, self.place, self.source) = (version, place, source)
    }

    /// A member that is always there.
    func member<Value>(_ key: String, _ value: Value?, _ form: RecordForm<Value>) throws(TenonError) -> Value {
        guard let value = try optional(key, value, form) else { throw malformed(key) }
        return value
    }

    /// A member that may be null.
    ///
    /// - Parameter since: the first version that has it.
    func optional<Value>(
        _ key: String, _ value: Value?, _ form: RecordForm<Value>, since: Int64 = 1
    ) throws(TenonError) -> Value? {
        guard version >= since else { return nil }
        guard let source else {
            if let value {
                guard let json = try form.json(value, self) else { throw malformed(key) }
                written[key] = json
            } else {
                written[key] = .null
            }
            return value
        }
        guard let json = source[key] else { throw malformed(key) }
        if json.isNull { return nil }
        guard let value = try form.value(json, self, key) else { throw malformed(key) }
        return value
    }

    private func malformed(_ key: String) -> TenonError { IdentityRecord.malformed("\(place).\(key)") }
}

/// A part of a record that is an object there.
protocol RecordObject {
    /// - Parameter known: what is written; nil while a record is read.
    static func coded(_ coder: RecordCoder, _ known: Self?) throws(TenonError) -> Self
}

/// How a value stands in a record. Nil is a value, or a JSON, that no record has in this place.
struct RecordForm<Value> {
    let json: (Value, RecordCoder) throws(TenonError) -> JSON?
    let value: (JSON, RecordCoder, String) throws(TenonError) -> Value?
}

extension RecordForm where Value == String {
    static var text: Self { text { _ in true } }

    static func text(where isAllowed: @escaping (String) -> Bool) -> Self {
        Self(
            json: { (text, _) throws(TenonError) in isAllowed(text) ? .string(text) : nil },
            value: { (json, _, _) throws(TenonError) in json.string.flatMap { isAllowed($0) ? $0 : nil } })
    }
}

extension RecordForm where Value == Int64 {
    static var number: Self {
        Self(json: { (number, _) in .integer(number) }, value: { (json, _, _) in json.integer })
    }
}

extension RecordForm where Value == Int {
    /// A number that counts.
    static var count: Self {
        Self(
            json: { (count, _) in .integer(Int64(count)) },
            value: { (json, _, _) in json.integer.flatMap { 0...Int64(Int32.max) ~= $0 ? Int($0) : nil } })
    }
}

extension RecordForm where Value == Bool {
    static var flag: Self { Self(json: { (flag, _) in .bool(flag) }, value: { (json, _, _) in json.bool }) }
}

extension RecordForm where Value == [UInt8] {
    static var hex: Self { bytes(.hex) }
    static var base64: Self { bytes(.base64) }

    private static func bytes(_ encoding: TextEncoding) -> Self {
        Self(
            json: { (bytes, _) in .string(encoding.encode(bytes)) },
            value: { (json, _, _) throws(TenonError) in
                guard let text = json.string else { return nil }
                return try encoding.decode(text)
            })
    }
}

extension RecordForm where Value == Digest {
    static var digest: Self {
        Self(
            json: { (digest, _) in .string(digest.description) },
            value: { (json, _, _) throws(TenonError) in
                guard let text = json.string else { return nil }
                return try Digest(rawRepresentation: TextEncoding.hex.decode(text))
            })
    }
}

extension RecordForm where Value: RawRepresentable, Value.RawValue == String {
    static var choice: Self {
        Self(
            json: { (choice, _) in .string(choice.rawValue) },
            value: { (json, _, _) in json.string.flatMap(Value.init(rawValue:)) })
    }
}

extension RecordForm where Value: RecordObject {
    static var object: Self {
        Self(
            json: { (value, coder) throws(TenonError) in
                let part = RecordCoder(version: coder.version, place: "")
                _ = try Value.coded(part, value)
                return .object(part.written)
            },
            value: { (json, coder, key) throws(TenonError) in
                guard let object = json.object else { return nil }
                return try Value.coded(RecordCoder(version: coder.version, place: key, reading: object), nil)
            })
    }
}

extension RecordForm {
    static func list<Element>(_ form: RecordForm<Element>) -> Self where Value == [Element] {
        Self(
            json: { (list, coder) throws(TenonError) in
                var array: [JSON] = []
                for element in list {
                    guard let json = try form.json(element, coder) else { return nil }
                    array.append(json)
                }
                return .array(array)
            },
            value: { (json, coder, key) throws(TenonError) in
                guard let array = json.array else { return nil }
                var list: [Element] = []
                for element in array {
                    guard let value = try form.value(element, coder, key) else { return nil }
                    list.append(value)
                }
                return list
            })
    }
}
