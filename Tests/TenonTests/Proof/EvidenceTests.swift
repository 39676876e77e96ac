// SPDX-License-Identifier: Apache-2.0
import Tenon
import TestEvidence
import Testing

@Suite struct EvidenceTests {
    @Test(arguments: 0...4)
    func thereAndBack(_ count: Int) throws {
        var evidence = try ProofRig().evidence()
        evidence.certificates = (0..<count).map { [UInt8](repeating: UInt8($0), count: 100 * $0) }
        let proof = try Proof(evidence)
        #expect(try proof.evidence() == evidence)
        #expect(try Proof(evidence) == proof)
    }

    @Test func emptyParts() throws {
        let empty = Evidence(publicArea: [], certified: [], signature: [])
        #expect(try Proof(empty).evidence() == empty)
        #expect(codeThrown { try empty.parsedSignature } == .signatureForm)
    }

    @Test func tooLarge() throws {
        let good = try ProofRig().evidence()
        let changes: [(inout Evidence) -> Void] = [
            { $0.publicArea = [UInt8](repeating: 0, count: 257) },
            { $0.certified = [UInt8](repeating: 0, count: 1 << 20) },
            { $0.signature = [UInt8](repeating: 0, count: 257) },
            { $0.certificates = [[UInt8]](repeating: [1], count: 5) },
            { $0.certificates = [[UInt8]](repeating: [], count: 100_000) },
            { $0.certificates = [[UInt8](repeating: 0, count: 4097)] },
            { $0.certificates = [[UInt8]](repeating: [UInt8](repeating: 0, count: 4096), count: 4) },
        ]
        for change in changes {
            var evidence = good
            change(&evidence)
            #expect(codeThrown { try Proof(evidence) } == .tooLarge)
        }
    }

    @Test func bytesThatAreNone() throws {
        let proof = try ProofRig().proof().dataRepresentation
        func code(_ bytes: [UInt8]) -> TenonError.Code? {
            codeThrown { try Proof(dataRepresentation: bytes).evidence() }
        }
        #expect(code(proof) == nil)
        #expect(code([]) == .cborTruncated)
        #expect(code(Array(proof.dropLast())) == .cborTruncated)
        #expect(code(proof + [0]) == .cborTrailing)
        #expect(code([UInt8](repeating: 0xa2, count: 16385)) == .tooLarge)
        #expect(code([UInt8](repeating: 0xa2, count: 1 << 24)) == .tooLarge)
    }

    @Test func signatures() throws {
        let evidence = try ProofRig().evidence()
        let der = try evidence.withDERSignature()
        #expect(try Signature(derRepresentation: der.signature) == evidence.parsedSignature)
        #expect(try der.parsedSignature == evidence.parsedSignature)
        #expect(try der.withDERSignature() == der)
        #expect(der.certified == evidence.certified && der.signature != evidence.signature)
        var wrong = evidence
        wrong.signature.append(0)
        #expect(codeThrown { try wrong.withDERSignature() } == .signatureForm)
        wrong.signature = Array(evidence.signature[..<6]) + [UInt8](repeating: 0, count: 32) + evidence.signature[38...]
        #expect(codeThrown { try wrong.parsedSignature } == .signatureRange)
    }
}

/// A TPM's statement about a key.
@Suite struct PublicAreaTests {
    @Test func isRead() throws {
        let rig = try ProofRig()
        let area = try PublicArea(dataRepresentation: rig.akArea)
        #expect(area.publicKey == rig.ak.publicKey)
        #expect(area.name == ProofRig.name(rig.akArea))
        #expect(area.dataRepresentation == rig.akArea)
        #expect(try area == PublicArea(dataRepresentation: rig.akArea))
        #expect(try Set([area, PublicArea(dataRepresentation: rig.keyArea)]).count == 2)
    }

    @Test func attestationKeys() throws {
        let rig = try ProofRig()
        try PublicArea(dataRepresentation: rig.akArea).verifyIsAttestationKey()
        let plain = try PublicArea(dataRepresentation: rig.keyArea)
        #expect(codeThrown { try plain.verifyIsAttestationKey() } == .rule29AK)
    }

    @Test func areasThatAreNone() throws {
        let area = try ProofRig().akArea
        func code(_ bytes: [UInt8]) -> TenonError.Code? {
            codeThrown { try PublicArea(dataRepresentation: bytes) }
        }
        #expect(code(area) == nil)
        for wrong in [[], [0], Array(area.dropLast()), area + [0], [UInt8](repeating: 0, count: 1 << 20)] {
            #expect(code(wrong) == .keyPublic)
        }
        #expect(code(changed(area, at: 3, to: 0x0c)) == .keyPublic)
        #expect(code(changed(area, at: 87, to: area[87] ^ 1)) == .pointOffCurve)
    }
}
