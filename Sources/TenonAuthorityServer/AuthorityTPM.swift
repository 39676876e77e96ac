// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority
internal import TenonTPM

/// The TPM that holds the CA's key, where there is one (decision: authority-keys). An operator names it, a software one
/// too: what it keeps is as safe as it is itself.
enum AuthorityTPM {
    /// Makes a key. Blocks.
    static func makeKey(_ name: String) throws(TenonError) -> HeldKey {
        let key = try TPM.PrivateKey(in: tpm(name), options: .signsDigests)
        return HeldKey(tpm: name, file: key.dataRepresentation, publicKey: key.publicKey)
    }

    /// Blocks.
    static let open: HeldKey.Opener = { held throws(TenonError) in
        let key = try TPM.PrivateKey(dataRepresentation: held.file, in: tpm(held.tpm), options: .signsDigests)
        guard key.publicKey == held.publicKey else {
            throw TenonError(.storeCorrupt, message: "ca.json has parts of two keys: restore it from a backup.")
        }
        return key
    }

    private static func tpm(_ name: String) throws(TenonError) -> TPM {
        try TPM(name, options: TPM.Options(allowSimulator: true))
    }
}
