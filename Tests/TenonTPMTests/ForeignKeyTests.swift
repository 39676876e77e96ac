// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Tenon
import TenonTPM
import Testing

/// Keys that another tool made.
@Suite(.timeLimit(.minutes(1))) struct ForeignKeyTests {
    private var software: SoftwareTPM { OpenTPM.current.software }
    private var tpm: TPM { OpenTPM.current.tpm }

    @Test(.blockingTPM) func isImported() throws {
        let pem = try foreignKey(in: software, SUPPORT_SIGNING_FOREIGN)
        let key = try TPM.PrivateKey(importing: pem, in: tpm)
        #expect(key.isForeign)
        #expect(key.isHardware)
        #expect(key.witness == nil)
        #expect(key.parentName != nil, "known since the key loaded under it")
        let signature = try key.blockingSignature(for: .event(Sample.event))
        #expect(try key.publicKey.isValidSignature(signature, for: Digest(hashing: Sample.event)))
    }

    @Test(.blockingTPM) func isNotTakenForOurs() throws {
        let pem = try foreignKey(in: software, SUPPORT_SIGNING_FOREIGN)
        let error = errorThrown { try TPM.PrivateKey(dataRepresentation: pem, in: tpm) }
        #expect(error?.code == .keyAttributes)
    }

    @Test(.blockingTPM) func aRestrictedKeyIsRefused() throws {
        let pem = try foreignKey(in: software, SUPPORT_SIGNING_RESTRICTED)
        let error = errorThrown { try TPM.PrivateKey(importing: pem, in: tpm) }
        #expect(error?.code == .keyAttributes)
    }

    /// A key under the owner's primary, as a TSS2 PRIVATE KEY.
    private func foreignKey(in software: SoftwareTPM, _ template: support_template) throws -> [UInt8] {
        var parent: UInt32 = 0
        var blob = support_blob()
        try #require(support_create_primary(software.device, SUPPORT_RH_OWNER, nil, SUPPORT_SRK_H2, &parent) == 0)
        try #require(support_create(software.device, parent, template, nil, &blob) == 0)
        try #require(support_flush(software.device, parent) == 0)
        let area = withUnsafeBytes(of: blob.area.bytes) { Array($0.prefix(blob.area.n)) }
        let secret = withUnsafeBytes(of: blob.secret) { Array($0.prefix(blob.secret_n)) }
        let loadableKey: [UInt8] = [0x06, 0x06, 0x67, 0x81, 0x05, 0x0a, 0x01, 0x03]
        let emptyAuth: [UInt8] = [0xa0, 0x03, 0x01, 0x01, 0xff]
        let owner: [UInt8] = [0x02, 0x04, 0x40, 0x00, 0x00, 0x01]
        let file = element(
            0x30, loadableKey + emptyAuth + owner + element(0x04, sized(area)) + element(0x04, sized(secret)))
        let text = TextEncoding.base64.encode(file.span)
        return Array("-----BEGIN TSS2 PRIVATE KEY-----\n\(lines(text))-----END TSS2 PRIVATE KEY-----\n".utf8)
    }

    private func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] = count < 128 ? [UInt8(count)] : count < 256 ? [0x81, UInt8(count)] : [0x82] + size(count)
        return [tag] + length + content
    }

    private func sized(_ content: [UInt8]) -> [UInt8] { size(content.count) + content }

    private func size(_ count: Int) -> [UInt8] { [UInt8(count >> 8), UInt8(count & 0xff)] }

    private func lines(_ text: String) -> String {
        var rest = text[...]
        var lines = ""
        while !rest.isEmpty {
            lines += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return lines
    }
}
