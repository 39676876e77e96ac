// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct VerifierTests {
    @Test func acceptsTheVectorAndNothingNear() throws {
        let key = try RFC6979.publicKey()
        let verifier = try Verifier(key)
        let signature = try RFC6979.signature()
        let digest = try Digest(hashing: Array("sample".utf8))
        let other = try Digest(hashing: Array("Sample".utf8))
        #expect(verifier.publicKey == key)
        try verifier.verify(signature, for: digest)
        try key.verify(signature, for: digest)
        #expect(verifier.isValidSignature(signature, for: digest))
        #expect(key.isValidSignature(signature, for: digest))

        #expect(!verifier.isValidSignature(signature, for: other))
        #expect(!key.isValidSignature(signature, for: other))
        #expect(codeThrown { try verifier.verify(signature, for: other) } == .signatureInvalid)
        #expect(codeThrown { try key.verify(signature, for: other) } == .signatureInvalid)
    }

    @Test func manyTasksShareOne() async throws {
        let verifier = try Verifier(RFC6979.publicKey())
        let signature = try RFC6979.signature()
        let digest = try Digest(hashing: Array("sample".utf8))
        let valid = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { verifier.isValidSignature(signature, for: digest) } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(valid == 8)
    }
}
