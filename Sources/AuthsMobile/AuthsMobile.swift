// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuths

/// Makes the KERI identity of this device, or finds the one that was made before: its two keys are in the TPM, and its
/// inception is signed and on disk before this returns. Nothing is sent: the app sends the inception to its server.
///
/// The same identity and the same bytes come back in each later call, also after a crash. It blocks its thread until the
/// TPM has answered; where asynchronous code leaves no other thread, it throws rather than waits for ever.
///
/// - Parameter deviceName: a name for people; it is not part of the identity.
/// - Throws: `TenonError`, for example when there is no TPM, or when it was cleared since.
public func createIdentity(deviceName: String) throws -> IdentityResult {
    let identity = try AuthsDevice.identity()
    let events = try waiting { () throws(TenonError) in
        try await identity.register()
        return try await identity.events()
    }
    guard let first = events.first, let prefix = identity.deviceID else {
        throw TenonError(.notRegistered, message: "This device has no identity.")
    }
    var log = KeyEventLog()
    try log.append(KeyEvent(bytes: first.event, attachment: first.attachment))
    let key = log.key.map { TextEncoding.hex.encode($0.compressedRepresentation) } ?? ""
    return IdentityResult(
        prefix: prefix, did: try log.did, deviceName: deviceName, currentPublicKeyHex: key,
        inceptionEventJson: String(decoding: first.event, as: UTF8.self), inceptionAttachment: first.attachment)
}

/// Signs data with the current key of the identity, and blocks until the TPM has signed.
///
/// - Parameter data: any bytes that cannot be taken for a message of the device: no JSON object and no NUL, for example.
/// - Returns: r and s in 128 hexadecimal digits.
/// - Throws: `TenonError`: for example ``TenonError/Code/notRegistered`` before ``createIdentity(deviceName:)``.
public func signWithIdentity(_ data: some Sequence<UInt8>) throws -> String {
    let signed = try AuthsDevice.identity().sign(.plainData(Array(data)))
    return TextEncoding.hex.encode(signed.signature.rawRepresentation)
}

/// An identity of this device, with what a server is told of it.
public struct IdentityResult: Sendable {
    /// The identifier: the digest of the inception.
    public let prefix: String
    /// `did:keri:` and the prefix.
    public let did: String
    /// The name that the caller gave.
    public let deviceName: String
    /// The current public key: 33 bytes, compressed, in hex.
    public let currentPublicKeyHex: String
    /// The inception event, exactly as it was signed. Send it as a text.
    public let inceptionEventJson: String
    /// The signature of the inception, as a CESR attachment. A server needs it to know who made the event.
    public let inceptionAttachment: String

    /// Does not exist: the key is in the TPM and cannot be exported.
    @available(
        *, unavailable, message: "The private key is in the TPM and cannot be exported. There is nothing to save."
    )
    public var currentKeyPkcs8Hex: String { "" }

    /// Does not exist: the key is in the TPM and cannot be exported.
    @available(
        *, unavailable, message: "The private key is in the TPM and cannot be exported. There is nothing to save."
    )
    public var nextKeyPkcs8Hex: String { "" }
}
