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
            throw TenonError(.tooLarge, message: "A record has at most \(longest) bytes.")
        }
        return bytes
    }

    /// Reads a record. Nothing is taken that ``encode(_:)`` would not have written.
    ///
    /// - Throws: ``TenonError/Code/recordForm``, ``TenonError/Code/recordSum``, ``TenonError/Code/recordVersion``.
    package static func decode(_ bytes: [UInt8]) throws(TenonError) -> IdentityRecord {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw IdentityRecord.malformed("no sum") }
        let line = Array(bytes[...end])
        let rest = bytes[(end + 1)...]
        guard rest.count == 65 else { throw IdentityRecord.malformed("length of the sum") }
        guard try rest.elementsEqual(sum(of: line)) else {
            throw TenonError(.recordSum, message: "The record is not what was written: its sum is wrong.")
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
                .recordVersion, message: "A later version of Tenon wrote the record (\(version)): use that one.")
        }
        let coder = RecordCoder(version: version, place: "record", reading: members)
        let record = try IdentityRecord.coded(coder, nil)
        // Also refuses members that are not asked for, white space, and whatever has two forms.
        guard version >= 1, try encode(record, version: version) == bytes else {
            throw IdentityRecord.malformed("another form")
        }
        return record
    }

    private static func sum(of line: [UInt8]) throws(TenonError) -> [UInt8] {
        Array(try Digest(hashing: line).description.utf8) + [UInt8(ascii: "\n")]
    }
}
