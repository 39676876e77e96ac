// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension TPM {
    /// What a service may be shown of the TPM itself.
    public enum Disclosure: Hashable, Sendable {
        case nothing
        /// The certificate of its endorsement key, which names the machine for ever and is the same for all services,
        /// for a service that attests. With it go those above, leaf first (DER), which some services have not.
        case endorsement(above: [[UInt8]] = [])
        /// These instead, leaf first (DER), of a TPM that holds no certificate (decision: given-chain).
        case certificates([[UInt8]])
    }
}

extension DeviceIdentity.Keys {
    /// Keys that are born in a TPM and never leave it.
    ///
    /// - Parameters:
    ///   - tpm: nil is ``TPM/default()``.
    ///   - disclosure: whoever runs the device decides.
    public static func tpm(
        _ tpm: TPM? = nil, disclosure: TPM.Disclosure = .nothing
    ) throws(TenonError) -> DeviceIdentity.Keys {
        DeviceIdentity.Keys(TPMKeyVault(try TPM.given(tpm), disclosure))
    }
}
