// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON message that came from somebody, each asked for by its name, type and size.
///
/// Members that nobody asks for are not looked at, as who sends them may be newer, unless ``allow(only:)`` is asked. What is asked for and is of another
/// type or size, `null` too, is ``TenonError/Code/messageMember``; bytes are standard base64, or its own codes.
package struct MessageObject: Sendable {
    private let members: JSONObject
    private let path: String

    /// Reads a message; the codes are those of the JSON reader.
    package init(parsing bytes: [UInt8], maxBytes: Int) throws(TenonError) {
        let json = try JSON(parsing: bytes, maxBytes: maxBytes, maxValues: 256)
        guard let members = json.object else {
            throw TenonError(.messageMember, message: "The message is not a JSON object.")
        }
        self.members = members
        path = ""
    }

    private init(_ members: JSONObject, path: String) {
        self.members = members
        self.path = path
    }

    /// The names of all members.
    package var names: [String] { members.members.map(\.key) }

    /// The object's members; nil when it is not there, as with all that follow.
    package func object(_ name: String) throws(TenonError) -> MessageObject? {
        guard let value = members[name] else { return nil }
        guard let object = value.object else { throw refusal(name, "is not an object") }
        return MessageObject(object, path: path + name + ".")
    }

    /// A text without NUL.
    package func text(_ name: String, maxBytes: Int) throws(TenonError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string else { throw refusal(name, "is not a string") }
        guard text.utf8.count <= maxBytes else { throw refusal(name, "is longer than \(maxBytes) bytes") }
        // No text of ours has one, and for C and PostgreSQL a text ends there.
        guard !text.utf8.contains(0) else { throw refusal(name, "has a NUL") }
        return text
    }

    /// Texts without NUL.
    package func texts(_ name: String, maxCount: Int, maxBytes: Int) throws(TenonError) -> [String]? {
        guard let value = members[name] else { return nil }
        guard let array = value.array else { throw refusal(name, "is not an array") }
        guard array.count <= maxCount else { throw refusal(name, "has more than \(maxCount) elements") }
        var texts: [String] = []
        for element in array {
            guard let text = element.string, text.utf8.count <= maxBytes, !text.utf8.contains(0) else {
                throw refusal(name, "has an element that is not a string of at most \(maxBytes) bytes")
            }
            texts.append(text)
        }
        return texts
    }

    package func integer(_ name: String) throws(TenonError) -> Int64? {
        guard let value = members[name] else { return nil }
        guard let integer = value.integer else { throw refusal(name, "is not an integer") }
        return integer
    }

    /// Integers that differ from each other.
    package func integers(_ name: String, maxCount: Int) throws(TenonError) -> [Int64]? {
        guard let value = members[name] else { return nil }
        guard let array = value.array else { throw refusal(name, "is not an array") }
        let integers = array.compactMap(\.integer)
        guard integers.count == array.count, integers.count <= maxCount, Set(integers).count == integers.count else {
            throw refusal(name, "is not a list of at most \(maxCount) different integers")
        }
        return integers
    }

    package func bool(_ name: String) throws(TenonError) -> Bool? {
        guard let value = members[name] else { return nil }
        guard let bool = value.bool else { throw refusal(name, "is neither true nor false") }
        return bool
    }

    package func bytes(_ name: String, sizes: ClosedRange<Int>) throws(TenonError) -> [UInt8]? {
        guard let value = members[name] else { return nil }
        return try bytes(value, name, sizes)
    }

    package func byteStrings(_ name: String, maxCount: Int, sizes: ClosedRange<Int>) throws(TenonError) -> [[UInt8]]? {
        guard let value = members[name] else { return nil }
        guard let array = value.array else { throw refusal(name, "is not an array") }
        guard array.count <= maxCount else { throw refusal(name, "has more than \(maxCount) elements") }
        var strings: [[UInt8]] = []
        for (index, element) in array.enumerated() { strings.append(try bytes(element, "\(name)[\(index)]", sizes)) }
        return strings
    }

    /// A chain of certificates, DER.
    package func certificates(_ name: String) throws(TenonError) -> [[UInt8]]? {
        try byteStrings(name, maxCount: CertificateLimits.count, sizes: MessageObject.certificateSizes)
    }

    static let certificateSizes = 1...CertificateLimits.size

    /// Refuses members with other names, for a message that must not have any.
    package func allow(only names: [String]) throws(TenonError) {
        guard members.members.allSatisfy({ names.contains($0.key) }) else {
            throw TenonError(.messageMember, message: "The message has a member that is not known.")
        }
    }

    /// For a required member.
    package func missing(_ name: String) -> TenonError { refusal(name, "is missing") }

    package func refusal(_ name: String, _ what: String) -> TenonError {
        TenonError(.messageMember, message: "The message's \(path)\(name) \(what).")
    }

    private func bytes(_ value: JSON, _ name: String, _ sizes: ClosedRange<Int>) throws(TenonError) -> [UInt8] {
        guard let text = value.string else { throw refusal(name, "is not base64 text") }
        // Before it is decoded.
        guard text.utf8.count <= (sizes.upperBound + 2) / 3 * 4 else { throw refusal(name, sizeText(sizes)) }
        let bytes: [UInt8]
        do throws(TenonError) {
            bytes = try TextEncoding.base64.decode(text)
        } catch {
            throw TenonError(error.code, message: "The message's \(path)\(name): \(error.message)")
        }
        guard sizes.contains(bytes.count) else { throw refusal(name, sizeText(sizes)) }
        return bytes
    }

    private func sizeText(_ sizes: ClosedRange<Int>) -> String {
        "does not have \(sizes.lowerBound) to \(sizes.upperBound) bytes"
    }
}

extension JSON {
    /// Bytes as messages carry them.
    init(base64 bytes: [UInt8]) { self = .string(TextEncoding.base64.encode(bytes)) }

    init(base64 byteStrings: [[UInt8]]) { self = .array(byteStrings.map(JSON.init(base64:))) }
}

extension TenonError.Code {
    /// A member of a message is missing, or has the wrong type or size; the message names it.
    public static let messageMember = Self(0x0240_0002, "TENON_ERROR_MESSAGE_MEMBER")
}
