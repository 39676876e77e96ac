// SPDX-License-Identifier: Apache-2.0

/// What holds the keys of a device: a TPM. The registrar names a key by its ``KeyFacts`` and nothing else, so a vault
/// may keep keys loaded, or load them for each use.
///
/// Asynchronous functions block no thread of the cooperative pool.
package protocol KeyVault: Sendable {
    /// Whether the private halves cannot leave the device.
    var isHardware: Bool { get }

    /// Makes a signing key. Its file is the registrar's to write, before anybody is told of the key.
    func makeKey() async throws(TenonError) -> KeyFacts

    /// The key that the facts are of.
    ///
    /// - Throws: an error of the category ``TenonError/Category/gone`` only for a key that is lost for good, seen twice
    ///   (decision: gone); with it the identity ends. So do its functions that sign.
    func key(_ facts: KeyFacts) async throws(TenonError) -> any DeviceKey

    /// The same on the caller's thread, which it blocks.
    func blockingKey(_ facts: KeyFacts) throws(TenonError) -> any DeviceKey

    /// What there is to know of the key in a file.
    func facts(ofFile pem: [UInt8]) async throws(TenonError) -> KeyFacts

    // What the following throw says nothing about a signing key, whatever category it has (decision: command-and-code).

    /// Makes an attestation key that lives and dies with a signing key.
    func makeAttestationKey(beside key: KeyFacts) async throws(TenonError) -> KeyFacts

    /// What a service is told of an attestation key.
    ///
    /// - Throws: an error of the category ``TenonError/Category/gone``, ``TenonError/Category/format`` or
    ///   ``TenonError/Category/rejected`` when the key has to be made anew.
    func publicArea(ofAttestationKey ak: KeyFacts) async throws(TenonError) -> PublicArea

    /// The endorsement key's certificate and those above it, leaf first (DER). They name the device for ever.
    ///
    /// - Throws: ``TenonError/Code/ekMissing`` when there is none.
    func endorsementCertificates() async throws(TenonError) -> [[UInt8]]

    /// SHA-256 of the endorsement key's SPKI, by which the device is known from another one.
    func endorsementKeyID() async throws(TenonError) -> Digest

    /// The same on the caller's thread, which it blocks.
    func blockingEndorsementKeyID() throws(TenonError) -> Digest

    /// Has it said that the key lives here.
    func proof(
        of key: KeyFacts, by ak: KeyFacts, qualifyingData: [UInt8], certificates: [[UInt8]]
    ) async throws(TenonError) -> Proof

    /// Answers a challenge that came with a credential for the endorsement key of this certificate.
    func activate(
        _ activation: Activation, with credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Digest

    /// Opens a credential for an attestation CA, which is told the secret itself.
    func secret(
        of credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Secret
}

// What only some identities ask of a vault.
extension KeyVault {
    package func facts(ofFile pem: [UInt8]) async throws(TenonError) -> KeyFacts { throw .noSuchStep }

    package func secret(
        of credential: Credential, certificate: [UInt8], by ak: KeyFacts
    ) async throws(TenonError) -> Secret { throw .noSuchStep }
}
