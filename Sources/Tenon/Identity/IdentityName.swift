// SPDX-License-Identifier: Apache-2.0

/// The three things that tell identities apart: the kind of service, the service, and the app.
package struct IdentityName: Hashable, Sendable {
    /// The kind of service: the name of its profile.
    package let profile: String
    /// Without a slash at its end.
    package let baseURL: String
    package let appID: String
    /// The beginning of the names of its files. No text of a service or an app is ever part of one (W21).
    package let id: String

    /// - Throws: ``TenonError/Code/appID`` for an app id that is not 1 to 200 bytes 0x21-0x7E,
    ///   ``TenonError/Code/statePath`` for another text that no such name can be.
    package init(profile: String, baseURL: String, appID: String) throws(TenonError) {
        guard appID.isVisible(atMost: 200) else {
            throw TenonError(.appID, message: "An app id must have 1 to 200 ASCII characters without spaces.")
        }
        var base = Substring(baseURL)
        while base.hasSuffix("/") { base.removeLast() }
        guard profile.isVisible(atMost: 64), base.isVisible(atMost: 2048) else {
            throw TenonError(.statePath, message: "The profile and the URL of a service must be visible ASCII.")
        }
        self.profile = profile
        self.baseURL = String(base)
        self.appID = appID
        let text = "tenon-identity\n\(profile)\n\(base)\n\(appID)"
        id = String(try Digest(hashing: Array(text.utf8)).description.prefix(32))
    }

    /// Whether a service may have given this id to a device: 1 to 128 bytes 0x21-0x7E (decision: ids).
    package static func isDeviceID(_ text: String) -> Bool { text.isVisible(atMost: 128) }
}

/// A key's file.
package enum KeyFile: Hashable, Comparable, Sendable {
    case generation(Int)
    case attestation
}

// The names of its files (decision: record-form).
extension IdentityName {
    package var record: String { id + ".record" }
    /// The messages that the service took, where messages have numbers.
    package var log: String { id + ".log" }
    package var lock: String { id + ".lock" }
    package var attestationCertificate: String { id + ".ak.crt" }
    /// Their common prefix.
    var prefix: String { id + "." }

    package func file(_ key: KeyFile) -> String { stem(key) + ".pem" }

    /// The key that a file of this name holds; nil for any other file.
    func key(of file: String) -> KeyFile? {
        if file == self.file(.attestation) { return .attestation }
        guard file.hasPrefix(prefix + "g"), file.hasSuffix(".pem") else { return nil }
        guard let number = Int(file.dropFirst(prefix.count + 1).dropLast(4)), number > 0 else { return nil }
        return file == self.file(.generation(number)) ? .generation(number) : nil
    }

    /// The name in the attic, before anything that makes it unique: generation and parent (decision: attic), behind the
    /// identity, as one attic serves all.
    func atticName(_ key: KeyFile, parent: [UInt8]?) -> String {
        "\(stem(key))-\(parent.map { TextEncoding.hex.encode($0) } ?? "unknown").pem"
    }

    private func stem(_ key: KeyFile) -> String {
        switch key {
        case .generation(let number): "\(prefix)g\(number)"
        case .attestation: "\(prefix)ak"
        }
    }
}

extension StringProtocol {
    /// 1 to so many bytes, each 0x21-0x7E.
    func isVisible(atMost limit: Int) -> Bool {
        1...limit ~= utf8.count && utf8.allSatisfy { 0x21...0x7e ~= $0 }
    }
}

extension String {
    /// Whether it is a UUID of version 4 in lower case (RFC 9562, 5.4).
    var isUUID4: Bool {
        let bytes = Array(utf8)
        guard bytes.count == 36 else { return false }
        for (index, byte) in bytes.enumerated() {
            let fits =
                switch index {
                case 8, 13, 18, 23: byte == UInt8(ascii: "-")
                case 14: byte == UInt8(ascii: "4")
                case 19: "89ab".utf8.contains(byte)
                default: "0123456789abcdef".utf8.contains(byte)
                }
            guard fits else { return false }
        }
        return true
    }
}
