// SPDX-License-Identifier: Apache-2.0

/// What an attestation CA remembers of a credential until its secret comes back: under the secret's SHA-256, so that who
/// reads the memory learns no secret, and how long a search takes says nothing of one. Who writes to it has certificates
/// made. All of it is bytes and a number, for memories outside of the process.
public struct PendingActivation: Hashable, Sendable {
    /// The AK that the certificate will be for.
    public let ak: PublicArea
    /// The endorsement key's certificate, DER, which was verified.
    public let ekCertificate: [UInt8]
    /// Unix seconds at which the secret is worth nothing any more.
    public let deadline: Int64

    public init(ak: PublicArea, ekCertificate: [UInt8], deadline: Int64) {
        self.ak = ak
        self.ekCertificate = ekCertificate
        self.deadline = deadline
    }
}
