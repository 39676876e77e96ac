// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Tenon
import TenonITWallet
import TenonTPM
import Testing

/// Each TPM command of an IT-Wallet instance fails once, at a running authority.
@Suite(.timeLimit(.minutes(5))) struct ServedWalletFaultTests {
    private var world: ServedWorld { .current }

    @Test("WP_140a: each TPM command of an initialization and of a use fails once", .world, arguments: [false, true])
    func eachCommandFailsOnce(_ isUse: Bool) async throws {
        let provider = try world.provider(.v14)
        var (number, hasFailed) = (0, true)
        while hasFailed {
            number += 1
            let place = "device\(number)"
            if isUse { try await world.hurriedWallet(.v14, in: place).register() }
            support_fail_code(world.software.wire, support_nth(SUPPORT_ANY, UInt32(number)), 0x101)
            let cut = try world.hurriedWallet(.v14, in: place)
            _ = await errorAwaited {
                if isUse { _ = try await cut.attest(.instance, at: provider) } else { try await cut.register() }
            }
            hasFailed = support_transport_pending(world.software.wire) == 0
            support_transport_forget_faults(world.software.wire)
            let again = try world.hurriedWallet(.v14, in: place)
            try await again.register()
            _ = try #require(try await again.attest(.instance, at: provider))
            #expect(try await world.devices("wallet").count == number, "command \(number)")
        }
        #expect(number > 3)
        print("it-wallet \(isUse ? "use" : "initialization"): \(number - 1) TPM commands failed once")
    }
}

/// A certificate for a key of a relying party's instance: from the device's request to what it keeps.
@Suite(.timeLimit(.minutes(2))) struct ServedWalletAccessTests {
    private var world: ServedWorld { .current }

    @Test("WP_026 WP_140f: an access certificate is for the bound key, and its chain holds", .world)
    func accessCertificate() async throws {
        let identity = try world.wallet(.v14)
        let tag = try await identity.register().deviceID
        let before = world.wire.paths.count
        let issued = try await identity.accessCertificate(at: world.provider(.v14))
        let ends = world.wire.paths.dropFirst(before).map { $0.split(separator: "/").last }
        #expect(ends == ["nonce", "key-binding", "access-certificate"])
        let kept = try #require(world.wallet(.v14).walletAttestations().first)
        #expect(kept == issued && kept.call == "access-certificate")
        let chain = try CertificateFile.decode(Array(kept.text.utf8))
        try #require(chain.count == 2)
        #expect(try PublicKey(ofCertificate: chain[0]) == kept.key)
        #expect(try isSigned(chain[0], by: PublicKey(ofCertificate: chain[1])))
        #expect(try isSigned(chain[1], by: PublicKey(ofCertificate: chain[1])))
        #expect(try !isSigned(chain[0], by: kept.key))
        #expect(String(decoding: chain[0], as: UTF8.self).contains(tag))
        // The file is that key's, in this TPM.
        let vault = TPMKeyVault(world.tpm)
        let key = try await vault.key(vault.facts(ofFile: kept.keyFile))
        let signature = try await key.signature(for: .clientData(Sample.clientData))
        #expect(key.publicKey == kept.key && kept.key.isValidSignature(signature, for: Sample.clientData))
    }

    @Test("WP_031 WP_152: what is for another key is not kept, and an unknown instance is initialized again", .world)
    func foreignCertificate() async throws {
        let (identity, _, provider) = try await world.instance()
        let first = try await identity.accessCertificate(at: provider)
        for text in [first.text, "certificate", String(first.text.dropFirst(100))] {
            world.wire.answer("/access-certificate", with: ["access_certificate": .string(text)])
            let error = await errorAwaited { try await identity.accessCertificate(at: provider) }
            #expect(error?.code == .serviceAnswer)
            #expect(try identity.walletAttestations() == [first])
        }
        world.wire.answer("/key-binding", 404, with: ["error": "not_found"])
        let second = try await identity.accessCertificate(at: provider)
        #expect(second.key != first.key)
        #expect(try identity.walletAttestations() == [second])
        #expect(world.wire.paths.filter { $0.hasSuffix("/instance-initialization") }.count == 2)
    }

    /// Whether the key signed the certificate (RFC 5280, 4.1): what stands before the algorithm, which has 12 bytes.
    private func isSigned(_ certificate: [UInt8], by key: PublicKey) throws -> Bool {
        try #require(certificate.prefix(2) == [0x30, 0x82] && certificate[4..<6] == [0x30, 0x82])
        let content = Array(certificate[4..<8 + (Int(certificate[6]) << 8 | Int(certificate[7]))])
        let value = certificate.dropFirst(4 + content.count + 12)
        try #require(Array(value.prefix(3)) == [0x03, UInt8(value.count - 2), 0])
        return key.isValidSignature(try Signature(derRepresentation: Array(value.dropFirst(3))), for: content)
    }
}
