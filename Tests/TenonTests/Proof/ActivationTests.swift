// SPDX-License-Identifier: Apache-2.0
import Tenon
import TestEvidence
import Testing

/// The bound values of an activation, taken from the C tests.
@Suite struct ActivationTests {
    private let bytes = [UInt8](0..<128)
    private let ekID: Digest
    private let akName: [UInt8]
    private let activation = Activation(
        origin: "https://auth.example", appID: "app", challenge: "challenge", keyText: "cHVibGljIGtleQ==")

    init() throws {
        ekID = try Digest(rawRepresentation: Array(bytes[32..<64]))
        akName = [0x00, 0x0b] + bytes[64..<96]
    }

    private func secret(_ count: Int) -> Secret {
        let bytes = Array(bytes[..<count])
        return Secret(copying: bytes.span)
    }

    @Test func vectors() throws {
        let derived = try Activation.secret(forChallenge: "challenge", ekID: ekID, akName: akName, key: secret(32))
        #expect(
            derived.withBytes { TextEncoding.hex.encode($0) }
                == "9c6a22e039456ccef8a07daa3a3139258a8f49d73e54a30367ebb492fd461f2b")
        let other = try Activation.secret(forChallenge: "c", ekID: ekID, akName: akName, key: secret(100))
        #expect(
            other.withBytes { TextEncoding.hex.encode($0) }
                == "503da21c1dce08f6a6defe2f531905ee00b328e2773da264adfe711e74793f29")
        let value = try activation.value(secret: secret(32), ekID: ekID, akName: akName)
        #expect(value.description == "a1cab34b41f350424c68138b322d97b110e596a53cac14b80500e3febf565553")
        let nonce = try Digest.rotationNonce(
            origin: "https://auth.example", appID: "app", deviceID: "device", oldKeyText: "b2xk", newKeyText: "bmV3",
            timestamp: "1700000000")
        #expect(nonce.description == "cdfb83ce0422a42d27c8bb391a63a85135984991e4d0dc8715c96a0fdff903d7")
    }

    @Test func eachFieldIsBound() throws {
        let value = try activation.value(secret: secret(32), ekID: ekID, akName: akName).rawRepresentation
        func code(
            _ secret: Secret, _ ekID: Digest, _ akName: [UInt8], _ change: (inout Activation) -> Void = { _ in }
        ) -> TenonError.Code? {
            var activation = activation
            change(&activation)
            return codeThrown { try activation.verify(value, secret: secret, ekID: ekID, akName: akName) }
        }
        let same = secret(32)
        #expect(code(same, ekID, akName) == nil)
        #expect(code(same, ekID, akName) { $0.origin = "https://evil.example" } == .activation)
        #expect(code(same, ekID, akName) { $0.appID = "App" } == .activation)
        #expect(code(same, ekID, akName) { $0.challenge += " " } == .activation)
        #expect(code(same, ekID, akName) { $0.keyText.removeLast() } == .activation)
        #expect(try code(same, Digest(hashing: []), akName) == .activation)
        #expect(code(same, ekID, changed(akName, at: 33, to: 0)) == .activation)
        let wrong = changed(Array(bytes[..<32]), at: 31, to: 0)
        #expect(code(Secret(copying: wrong.span), ekID, akName) == .activation)
    }

    @Test func valuesThatAreNone() throws {
        let value = try activation.value(secret: secret(32), ekID: ekID, akName: akName).rawRepresentation
        for wrong in [
            [], Array(value.dropLast()), value + [0], changed(value, at: 0, to: ~value[0]),
            [UInt8](repeating: 0, count: 1 << 20),
        ] {
            let code = codeThrown { try activation.verify(wrong, secret: secret(32), ekID: ekID, akName: akName) }
            #expect(code == .activation)
        }
    }

    @Test func arguments() throws {
        let same = secret(32)
        func value(_ secret: Secret, _ name: [UInt8], _ change: (inout Activation) -> Void) -> TenonError.Code? {
            var activation = activation
            change(&activation)
            return codeThrown { try activation.value(secret: secret, ekID: ekID, akName: name) }
        }
        for count in [0, 31, 33, 100] { #expect(value(secret(count), akName, { _ in }) == .credentialForm) }
        #expect(value(same, akName) { $0.origin = "" } == .empty)
        #expect(value(same, akName) { $0.keyText = "" } == .empty)
        #expect(value(same, akName) { $0.challenge = String(repeating: "a", count: 65536) } == .tooLarge)
        #expect(value(same, [], { _ in }) == .options)
        #expect(value(same, akName + [0], { _ in }) == .options)
        func derive(_ key: Secret, _ challenge: String, _ name: [UInt8]) -> TenonError.Code? {
            codeThrown { try Activation.secret(forChallenge: challenge, ekID: ekID, akName: name, key: key) }
        }
        #expect(derive(secret(31), "c", akName) == .options)
        #expect(derive(secret(0), "c", akName) == .options)
        #expect(derive(same, "", akName) == .empty)
        #expect(derive(same, "c", []) == .options)
        #expect(derive(same, String(repeating: "a", count: 1 << 20), akName) == .tooLarge)
        #expect(
            codeThrown {
                try Digest.rotationNonce(
                    origin: "o", appID: "a", deviceID: "", oldKeyText: "k", newKeyText: "k", timestamp: "1")
            } == .empty)
    }
}

/// Credentials as bytes. Tests with a TPM show that it opens them.
@Suite struct CredentialTests {
    @Test func isMade() throws {
        let certificates = try Vectors.certificates("swtpm.txt")
        let area = try PublicArea(dataRepresentation: ProofRig().akArea)
        let bytes = [UInt8](1...32)
        for (name, limit) in [("ek-rsa2048", 32), ("ek-p384", 48)] {
            let ek = try EndorsementKey(unverified: #require(certificates[name]))
            let first = try Credential(Secret(copying: bytes.span), for: ek, akName: area.name)
            let second = try Credential(Secret(copying: bytes.span), for: ek, akName: area.name)
            for part in [first.idObject, first.encryptedSecret] {
                #expect(part.count > 2 && Int(part[0]) << 8 | Int(part[1]) == part.count - 2)
            }
            #expect(first.idObject != second.idObject && first.encryptedSecret != second.encryptedSecret)
            func code(_ count: Int, _ name: [UInt8]) -> TenonError.Code? {
                codeThrown { try Credential(Secret(count: count) { _ in }, for: ek, akName: name) }
            }
            #expect(code(1, area.name) == nil && code(limit, area.name) == nil)
            #expect(code(0, area.name) == .empty)
            #expect(code(limit + 1, area.name) == .tooLarge)
            #expect(code(32, []) == .options)
            #expect(code(32, Array(area.name.dropLast())) == .options)
            #expect(code(32, [UInt8](repeating: 0, count: 1 << 20)) == .options)
        }
    }
}
