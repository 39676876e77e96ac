// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A value of DER (X.690): its tag, its length in the shortest form, and its content.
func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    let length: [UInt8] =
        count < 0x80
        ? [UInt8(count)] : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xff)]
    return [tag] + length + content
}

private enum Form {
    /// ecdsa-with-SHA256 (RFC 5758, 3.2).
    static let algorithm: [UInt8] = der(0x30, [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02])

    /// What was signed, with its signature.
    static func signed(_ content: [UInt8], _ signature: Signature) -> [UInt8] {
        der(0x30, content + algorithm + der(0x03, [0] + signature.derRepresentation))
    }
}

/// A request for a certificate (PKCS #10, RFC 2986) in the one form that is accepted: without a subject and without
/// attributes, for a P-256 key. It is compared with what it has to be, so nothing in it is parsed.
struct CertificationRequest {
    let key: PublicKey

    private static let size = 180...190
    /// Where the key and the signature are in this form.
    private static let (keyPlace, signaturePlace) = (10..<101, 118)

    /// - Throws: ``TenonError/Code/messageMember`` for another form, ``TenonError/Code/signatureInvalid``.
    init(parsing bytes: [UInt8]) throws(TenonError) {
        let form = TenonError(
            .messageMember, message: "The csr must be for a P-256 key, with neither a subject nor attributes.")
        guard CertificationRequest.size.contains(bytes.count) else { throw form }
        guard let key = try? PublicKey(derRepresentation: bytes[CertificationRequest.keyPlace]),
            let signature = try? Signature(derRepresentation: bytes[CertificationRequest.signaturePlace...])
        else { throw form }
        let content = der(0x30, [0x02, 0x01, 0x00, 0x30, 0x00] + key.derRepresentation + [0xa0, 0x00])
        guard Form.signed(content, signature) == bytes else { throw form }
        try key.verify(signature, for: Digest(hashing: content))
        self.key = key
    }
}

/// Issues the access certificates of an app: X.509 (RFC 5280), below a root of its own that anyone may make again from
/// the key.
struct AccessAuthority {
    /// At most 64 bytes.
    let name: String
    /// Signs one text always with one signature, so that there is one root.
    let key: SoftwareKey

    /// From 2026 to the date that means no end (RFC 5280, 4.1.2.5).
    private static let rootDates = der(
        0x30, der(0x17, Array("260101000000Z".utf8)) + der(0x18, Array("99991231235959Z".utf8)))

    /// The self-signed root.
    func root() throws(TenonError) -> [UInt8] {
        let serial = try Digest(hashing: key.publicKey.derRepresentation).rawRepresentation.prefix(16)
        return try certificate(
            Array(serial), AccessAuthority.rootDates, name, key.publicKey,
            constraints: [0x01, 0x01, 0xff, 0x02, 0x01, 0x00],
            usage: [0x01, 0x06])
    }

    /// A certificate for the key of an instance.
    func certificate(
        for key: PublicKey, of tag: InstanceTag, serial: [UInt8], from: Int64, to: Int64
    ) throws(TenonError) -> [UInt8] {
        let dates = der(0x30, AccessAuthority.time(from) + AccessAuthority.time(to))
        return try certificate(serial, dates, tag.id, key, constraints: [], usage: [0x07, 0x80])
    }

    private func certificate(
        _ serial: [UInt8], _ dates: [UInt8], _ subject: String, _ subjectKey: PublicKey, constraints: [UInt8],
        usage: [UInt8]
    ) throws(TenonError) -> [UInt8] {
        let extensions = [
            extensionOf(19, isCritical: true, der(0x30, constraints)),
            extensionOf(15, isCritical: true, der(0x03, usage)),
            extensionOf(14, isCritical: false, der(0x04, try identifier(of: subjectKey))),
            extensionOf(35, isCritical: false, der(0x30, der(0x80, try identifier(of: key.publicKey)))),
        ].flatMap { $0 }
        let content = [
            [0xa0, 0x03, 0x02, 0x01, 0x02], AccessAuthority.number(serial), Form.algorithm, AccessAuthority.name(name),
            dates, AccessAuthority.name(subject), subjectKey.derRepresentation, der(0xa3, der(0x30, extensions)),
        ].flatMap { $0 }
        let whole = der(0x30, content)
        return Form.signed(whole, try key.signature(for: Digest(hashing: whole)))
    }

    /// Positive, and without zeros that are not needed: the first bit is cleared, and the next one is set.
    private static func number(_ serial: [UInt8]) -> [UInt8] {
        der(0x02, [(serial.first ?? 0) & 0x7f | 0x40] + serial.dropFirst())
    }

    /// A common name.
    private static func name(_ text: String) -> [UInt8] {
        der(0x30, der(0x31, der(0x30, [0x06, 0x03, 0x55, 0x04, 0x03] + der(0x0c, Array(text.utf8)))))
    }

    /// UTCTime; the authority's clock is not that of 2050.
    private static func time(_ seconds: Int64) -> [UInt8] {
        let digits = CivilDate.iso8601(seconds).utf8.filter { 0x30...0x39 ~= $0 }.dropFirst(2)
        return der(0x17, Array(digits) + [UInt8(ascii: "Z")])
    }

    private func extensionOf(_ number: UInt8, isCritical: Bool, _ value: [UInt8]) -> [UInt8] {
        der(0x30, [0x06, 0x03, 0x55, 0x1d, number] + (isCritical ? [0x01, 0x01, 0xff] : []) + der(0x04, value))
    }

    /// RFC 7093, 2, method 1.
    private func identifier(of key: PublicKey) throws(TenonError) -> [UInt8] {
        Array(try Digest(hashing: key.x963Representation).rawRepresentation.prefix(20))
    }
}
