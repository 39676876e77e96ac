// SPDX-License-Identifier: Apache-2.0
internal import CTestSupport
package import Tenon

/// Proofs like those of a TPM, made by the code of the C tests. Each field may be changed before the proof is made.
package struct ProofRig {
    package var key: PublicKey
    package let ak: SoftwareKey
    package var nonce: Digest
    package var attributes = UInt32(SUPPORT_KEY_ATTRIBUTES)
    package var akAttributes = UInt32(SUPPORT_AK_ATTRIBUTES)
    package var magic: UInt32 = 0xff54_4347
    package var isClockSafe = true
    package var parentQualifiedName = [0x00, 0x0b] + [UInt8](repeating: 5, count: 32)
    /// The qualified Name of the EK above the AK, in the endorsement hierarchy.
    package var ekName = [0x00, 0x0b] + [UInt8](repeating: 9, count: 32)
    package var firmware: UInt64 = 0x0001_0002_0003_0004
    package var certificates: [[UInt8]] = []

    package init(key: PublicKey, ak: SoftwareKey, nonce: Digest) {
        self.key = key
        self.ak = ak
        self.nonce = nonce
    }

    package init() throws(TenonError) {
        self.init(
            key: try SoftwareKey().publicKey, ak: try SoftwareKey(signsDigests: true),
            nonce: try Digest(hashing: Array("nonce".utf8)))
    }

    /// TPMT_PUBLIC (TPM 2.0 Part 2, 12.2.4); the scheme of an AK is ECDSA with SHA-256.
    package static func area(_ key: PublicKey, _ attributes: UInt32, attests: Bool = false) -> [UInt8] {
        var area = support_area_of(key.rawRepresentation, attributes, attests)
        return support_area_write(&area).array
    }

    package var keyArea: [UInt8] { Self.area(key, attributes) }
    package var akArea: [UInt8] { Self.area(ak.publicKey, akAttributes, attests: true) }

    package static func name(_ area: [UInt8]) -> [UInt8] {
        var area = support_bytes(area)
        return support_object_name(&area, nil).array
    }

    /// TPMS_ATTEST (Part 2, 10.12.12).
    package func certified() -> [UInt8] {
        var area = support_bytes(keyArea)
        var parent = support_bytes(parentQualifiedName)
        var ek = support_bytes(ekName)
        var qualifiedEK = support_qualified_ek(&ek)
        var akArea = support_bytes(akArea)
        var attest = support_attest_of(&area, nonce.rawRepresentation)
        attest.magic = magic
        attest.safe = isClockSafe ? 1 : 0
        attest.firmware = firmware
        attest.qualified = support_qualified(&parent, &area)
        attest.signer = support_qualified(&qualifiedEK, &akArea)
        return support_attest_write(&attest).array
    }

    package func evidence() throws(TenonError) -> Evidence {
        let certified = certified()
        var signature = support_ecdsa_of(try ak.signature(for: Digest(hashing: certified)).rawRepresentation)
        return Evidence(
            publicArea: keyArea, certified: certified, signature: support_ecdsa_write(&signature).array,
            certificates: certificates)
    }

    package func proof() throws(TenonError) -> Proof { try Proof(evidence()) }
}

extension support_bytes {
    fileprivate init(_ bytes: [UInt8]) {
        self.init()
        support_bytes_set(&self, bytes, bytes.count)
    }

    fileprivate var array: [UInt8] { withUnsafeBytes(of: bytes) { Array($0.prefix(n)) } }
}
