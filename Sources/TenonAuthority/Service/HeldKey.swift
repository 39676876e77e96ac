// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The CA's key where a TPM has it (decision: authority-keys): what is kept of it, which only that TPM can use.
package struct HeldKey: Equatable, Sendable {
    /// Blocks, and may give what blocks.
    package typealias Opener = @Sendable (HeldKey) throws(TenonError) -> any DigestSigner

    /// By what the TPM is opened, like `device:/dev/tpmrm0`.
    package let tpm: String
    /// The key's file.
    package let file: [UInt8]
    package let publicKey: PublicKey

    package init(tpm: String, file: [UInt8], publicKey: PublicKey) {
        self.tpm = tpm
        self.file = file
        self.publicKey = publicKey
    }

    init?(_ json: JSON) {
        guard let tpm = json["name"]?.string, let file = json["file"]?.bytes, let bytes = json["public_key"]?.bytes,
            let key = try? PublicKey(derRepresentation: bytes)
        else { return nil }
        self.init(tpm: tpm, file: file, publicKey: key)
    }

    var json: JSON {
        ["name": .string(tpm), "file": .bytes(file), "public_key": .bytes(publicKey.derRepresentation)]
    }

    /// For who checks signatures, and makes none.
    package static let unopened: Opener = { held in UnopenedKey(publicKey: held.publicKey) }
}

private struct UnopenedKey: DigestSigner {
    let publicKey: PublicKey

    func signature(for digest: Digest) throws(TenonError) -> Signature {
        throw TenonError(.configuration, message: "The CA's key is in a TPM, which is not open here.")
    }
}
