// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension TPM {
    /// The certificate (DER) of the endorsement key of this kind, out of the TPM's memory. It names this TPM for ever:
    /// show it to no service that need not see it.
    ///
    /// - Throws: ``TenonError/Code/ekMissing`` when there is none.
    public func endorsementCertificate(_ kind: EndorsementKey.Kind) throws(TenonError) -> [UInt8] {
        try core.value.endorsementCertificate(kind)
    }

    /// The certificate (DER) of the endorsement key of this kind, out of the TPM's memory. It names this TPM for ever:
    /// show it to no service that need not see it.
    ///
    /// - Throws: ``TenonError/Code/ekMissing`` when there is none.
    public func endorsementCertificate(_ kind: EndorsementKey.Kind) async throws(TenonError) -> [UInt8] {
        try await thread.run { () throws(TenonError) in try self.core.value.endorsementCertificate(kind) }
    }
}
