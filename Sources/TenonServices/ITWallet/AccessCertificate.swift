// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension ITWallet {
    /// Binds a fresh key, and asks for a certificate of that very key.
    func accessCertificate(_ use: ServiceUse) async throws(TenonError) -> WalletAttestation {
        let call = WalletCall.relyingParty
        guard dialect.calls.contains(call) else { throw .noSuchCall(call.name, dialect) }
        return try await perform(use) { () throws(TenonError) in
            try await accessCertificateOnce(call, use)
        }
    }

    private func accessCertificateOnce(
        _ call: WalletCall, _ use: ServiceUse
    ) async throws(TenonError) -> WalletAttestation {
        let (assertion, key, file) = try await bind(call, use)
        let bound = try await post(call.path, ["assertion": .string(assertion)], use)
        guard bound.status == 204 else { throw refusal(of: bound) }
        let request = try await CertificationRequest.make(for: key)
        let answer = try await post(
            "/access-certificate", ["csr": .string(TextEncoding.base64url.encode(request))], use)
        guard answer.status == 200, let text = answer.members?["access_certificate"]?.string, !text.isEmpty else {
            throw refusal(of: answer)
        }
        guard let leaf = (try? CertificateFile.decode(Array(text.utf8)))?.first,
            (try? PublicKey(ofCertificate: leaf)) == key.publicKey
        else { throw WalletAttestation.refusal("is no certificate of this key in PEM") }
        let certificate = WalletAttestation(
            call: "access-certificate", text: text, key: key.publicKey, keyFile: file, issuedAt: nil, expiresAt: nil)
        var kept = try await kept(use)
        kept.replace(certificate)
        try await use.keep(kept.encoded())
        return certificate
    }
}

/// PKCS #10 (RFC 2986): a request without a subject and without attributes, in DER.
package enum CertificationRequest {
    /// ecdsa-with-SHA256 (RFC 5758, 3.2).
    private static let algorithm: [UInt8] = [0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]

    package static func make(for key: any DeviceKey) async throws(TenonError) -> [UInt8] {
        let info = element(0x30, [0x02, 0x01, 0x00, 0x30, 0x00] + key.publicKey.derRepresentation + [0xa0, 0x00])
        let signature = try await key.signature(for: .certificationRequest(info))
        return element(0x30, info + algorithm + element(0x03, [0] + signature.derRepresentation))
    }

    /// X.690, 8.1.3: the length in its shortest form; nothing here has 65,536 bytes.
    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)] : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xff)]
        return [tag] + length + content
    }
}
