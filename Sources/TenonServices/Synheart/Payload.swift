// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// An optional member. An `Optionally?` is nil when the member is present and malformed.
struct Optionally<Value> {
    let value: Value?
}

/// The members of a challenge (docs/synheart.md).
extension JSON {
    /// The text of the challenge, under the first of its names that is present.
    var challengeText: String? {
        let names = ["challenge", "challenge_nonce", "challenge_id"]
        guard let first = names.lazy.compactMap({ self[$0] }).first(where: { !$0.isNull }) else { return nil }
        return first.string.flatMap { $0.isVisible(atMost: 1024) ? $0 : nil }
    }

    /// How long the challenge is valid: the first of three forms that can be read. A date is compared with the
    /// server's own clock.
    func life(date: Duration?) -> Duration? {
        for key in ["ttl_seconds", "expires_in"] {
            if let seconds = self[key]?.number { return .seconds(min(max(seconds, 0), 86_400)) }
        }
        guard let end = self["expires_at"]?.string.flatMap(CivilDate.iso8601), let date else { return nil }
        return max(end - date, .zero)
    }

    /// The credential for the device's TPM: two TPM2B structures, each of its declared length.
    var credential: Optionally<Credential>? {
        guard let activation = self["activation"], !activation.isNull else { return Optionally(value: nil) }
        guard let idObject = activation["credential"]?.sized, let secret = activation["secret"]?.sized else {
            return nil
        }
        return Optionally(value: Credential(idObject: idObject, encryptedSecret: secret))
    }

    private var sized: [UInt8]? {
        guard let bytes = string.flatMap({ try? TextEncoding.base64.decode($0) }), bytes.count > 2,
            bytes.count - 2 == Int(bytes[0]) << 8 + Int(bytes[1])
        else { return nil }
        return bytes
    }
}

/// The members of other answers.
extension JSON {
    /// The device's id; it must be fit for a header (decision: ids).
    var deviceID: Optionally<String>? {
        guard let value = self["device_id"], !value.isNull else { return Optionally(value: nil) }
        guard let text = value.string, text.isVisible(atMost: 128) else { return nil }
        return Optionally(value: text)
    }

    /// The time from which a new key is valid, in Unix seconds.
    var effectiveAt: Double? { self["effective_at"]?.unixSeconds }

    /// The number as Unix seconds; nil for a number that cannot be, for example milliseconds.
    var unixSeconds: Double? { number.flatMap { 1e9..<1e12 ~= $0 ? $0 : nil } }

    /// Up to four certificates of at most 4 KiB; empty when they are malformed. A bad certificate costs the next
    /// attestation, never the identity (decision: ak-certificate).
    var certificates: [[UInt8]] {
        guard let texts = self["ak_certificate"]?.array, texts.count <= 4 else { return [] }
        let certificates = texts.compactMap { $0.string.flatMap { try? TextEncoding.base64.decode($0) } }
        guard certificates.count == texts.count, certificates.allSatisfy({ 1...4096 ~= $0.count }) else { return [] }
        return certificates
    }
}

extension JSON {
    /// How the service takes requests (docs/signing.md); nil if a member that is needed is not as it should be.
    var signingTerms: SigningTerms? {
        guard let versions = self["versions"]?.array, let hosts = self["hosts"]?.array else { return nil }
        let (numbers, names) = (versions.compactMap(\.integer), hosts.compactMap(\.string))
        guard numbers.count == versions.count, names.count == hosts.count else { return nil }
        let (forms, most) = (self["forms"]?.array, self["batch_max"])
        guard most.isAbsent || most?.integer != nil else { return nil }
        return SigningTerms(
            versions: numbers, hosts: names, takesBatches: forms?.contains("tenon-batch") ?? true,
            mostMembers: most?.integer)
    }
}

/// The outcome of a registration (docs/synheart.md).
enum RegistrationStatus {
    case registered, pending, rejected

    /// nil for an unknown word, for no word, and for members that contradict each other (W8).
    init?(_ payload: JSON) {
        let (word, flag) = (payload["status"], payload["registered"])
        guard flag.isAbsent || flag?.bool != nil else { return nil }
        switch word?.string {
        case "registered", "success", "ok": self = .registered
        case "pending": self = .pending
        case "rejected": self = .rejected
        case nil where word.isAbsent && flag == true: self = .registered
        default: return nil
        }
        if let flag = flag?.bool, flag != (self == .registered) { return nil }
    }
}

extension String {
    /// Whether the text is base64 of at least 32 bytes, in either alphabet, padded or not.
    var isLongBase64: Bool {
        let digits = utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        guard utf8.count - digits.count <= 2 else { return false }
        let url = digits.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        let bytes = try? TextEncoding.base64url.decode(String(decoding: url, as: UTF8.self))
        return bytes.map { $0.count >= 32 } ?? false
    }
}
