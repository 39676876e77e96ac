// SPDX-License-Identifier: Apache-2.0

/// Reads the members of one object of a record. What it does not ask for is found by whoever compares the record that
/// was made of it with what was read.
struct RecordMembers {
    private let object: JSONObject
    private let place: String

    init(_ value: JSON?, _ place: String) throws(TenonError) {
        guard let object = value?.object else { throw IdentityRecord.malformed(place) }
        self.object = object
        self.place = place
    }

    func text(_ key: String) throws(TenonError) -> String { try need(key, value(key).string) }
    func number(_ key: String) throws(TenonError) -> Int64 { try need(key, value(key).integer) }
    func flag(_ key: String) throws(TenonError) -> Bool { try need(key, value(key).bool) }
    func list(_ key: String) throws(TenonError) -> [JSON] { try need(key, value(key).array) }
    func members(_ key: String) throws(TenonError) -> RecordMembers { try RecordMembers(object[key], key) }

    /// A number that counts.
    func count(_ key: String) throws(TenonError) -> Int {
        let number = try number(key)
        return try need(key, 0...Int64(Int32.max) ~= number ? Int(number) : nil)
    }

    func choice<Value: RawRepresentable>(
        _ key: String, _ type: Value.Type = Value.self
    ) throws(TenonError) -> Value where Value.RawValue == String {
        try need(key, Value(rawValue: try text(key)))
    }

    func hex(_ key: String) throws(TenonError) -> [UInt8] { try TextEncoding.hex.decode(try text(key)) }
    func base64(_ key: String) throws(TenonError) -> [UInt8] { try TextEncoding.base64.decode(try text(key)) }
    func digest(_ key: String) throws(TenonError) -> Digest { try Digest(rawRepresentation: try hex(key)) }

    /// nil for null, else what `read` gives.
    func optional<Value>(
        _ key: String, _ read: (String) throws(TenonError) -> Value
    ) throws(TenonError) -> Value? {
        try value(key).isNull ? nil : try read(key)
    }

    /// The same of a member that earlier versions did not have. Whoever compares the forms sees to it that it is there
    /// where it has to be.
    func later<Value>(_ key: String, _ read: (String) throws(TenonError) -> Value) throws(TenonError) -> Value? {
        object[key] == nil ? nil : try optional(key, read)
    }

    private func value(_ key: String) throws(TenonError) -> JSON { try need(key, object[key]) }

    private func need<Value>(_ key: String, _ value: Value?) throws(TenonError) -> Value {
        guard let value else { throw IdentityRecord.malformed("\(place).\(key)") }
        return value
    }
}
