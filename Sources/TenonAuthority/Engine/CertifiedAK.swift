// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What the certificate of an attestation key says. The core verified it before (tenon/verify.h, rules 22 to 29).
package struct CertifiedAK: Equatable, Sendable {
    package let publicKey: PublicKey
    /// Maker, model and version of the TPM, as the certificate names them.
    package let words: [String]

    /// Nil for another form than that of an AK certificate (RFC 5280, 4.1).
    package init?(certificate der: [UInt8]) {
        var outer = DERReader(der)
        guard var whole = outer.enter(0x30), var body = whole.enter(0x30), body.take(0xa0) != nil,
            body.take(0x02) != nil,
            // Algorithm, issuer, validity, subject.
            body.take(0x30) != nil, body.take(0x30) != nil, body.take(0x30) != nil, body.take(0x30) != nil,
            // The key, which the core reads.
            body.take(0x30) != nil, let publicKey = try? PublicKey(ofCertificate: der), var tagged = body.enter(0xa3),
            let extensions = tagged.enter(0x30),
            let words = CertifiedAK.words(in: extensions)
        else { return nil }
        (self.publicKey, self.words) = (publicKey, words)
    }

    /// Maker, model and version are the attributes 2.23.133.2.1 to 2.23.133.2.3 of the alternative name.
    private static func words(in extensions: DERReader) -> [String]? {
        var extensions = extensions
        let alternativeName: [UInt8] = [0x55, 0x1d, 0x11]
        while var one = extensions.enter(0x30) {
            guard let id = one.take(0x06) else { return nil }
            _ = one.take(0x01)
            guard let value = one.take(0x04) else { return nil }
            guard id.elementsEqual(alternativeName) else { continue }
            var names = DERReader(value)
            guard var all = names.enter(0x30), var directory = all.enter(0xa4), let name = directory.enter(0x30) else {
                return nil
            }
            let texts = texts(in: name)
            return texts.count == 3 ? [1, 2, 3].compactMap { texts[$0] } : nil
        }
        return nil
    }

    /// The texts by the last number of their attribute.
    private static func texts(in name: DERReader) -> [UInt8: String] {
        var name = name
        var texts: [UInt8: String] = [:]
        while var set = name.enter(0x31) {
            while var attribute = set.enter(0x30) {
                guard let id = attribute.take(0x06), id.dropLast().elementsEqual([0x67, 0x81, 0x05, 0x02]),
                    let number = id.last, let tag = attribute.tag, let text = attribute.take(tag)
                else { continue }
                texts[number] = String(decoding: text, as: UTF8.self)
            }
        }
        return texts
    }
}
