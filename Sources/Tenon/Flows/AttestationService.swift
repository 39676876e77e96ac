// SPDX-License-Identifier: Apache-2.0

extension DeviceIdentity {
    /// An attestation CA, which gives the device's attestation key a certificate, for services that ask for one.
    ///
    /// It is shown the certificate of the TPM's endorsement key.
    public struct AttestationService: Hashable, Sendable {
        /// Where `/attest` and `/secret` are.
        public var url: String
        /// The certificates (DER) to which its own have to chain.
        public var roots: [[UInt8]]

        public init(url: String, roots: [[UInt8]]) {
            self.url = url
            self.roots = roots
        }
    }
}

/// The certificate of an attestation key, as it lies in its file: PEM (RFC 7468), leaf first.
package enum CertificateFile {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    package static func encode(_ chain: [[UInt8]]) -> [UInt8] {
        var text = ""
        for certificate in chain {
            var rest = TextEncoding.base64.encode(certificate)[...]
            text += begin + "\n"
            while !rest.isEmpty {
                text += rest.prefix(64) + "\n"
                rest = rest.dropFirst(64)
            }
            text += end + "\n"
        }
        return Array(text.utf8)
    }

    package static func decode(_ bytes: [UInt8]) throws(TenonError) -> [[UInt8]] {
        var chain: [[UInt8]] = []
        var text: String?
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            switch (line, text) {
            case (begin[...], nil): text = ""
            case (end[...], let whole?):
                chain.append(try TextEncoding.base64.decode(whole))
                text = nil
            case (_, let whole?): text = whole + line
            case (_, nil): throw TenonError(.pemForm, message: "The file of certificates is none.")
            }
        }
        return chain
    }
}
