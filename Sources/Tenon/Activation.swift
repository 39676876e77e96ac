// SPDX-License-Identifier: Apache-2.0

/// What a device binds together when it answers a challenge that came with a ``Credential``: the texts as they are on
/// the wire. With the endorsement key and the attestation key they give a value that only that TPM can compute, for
/// this service and application only.
public struct Activation: Hashable, Sendable {
    /// `scheme://host[:port]` in lower case, without a default port. A service takes its own, never the request's.
    public var origin: String
    public var appID: String
    /// The challenge as it came.
    public var challenge: String
    /// The base64 text of the public key exactly as it is sent.
    public var keyText: String

    public init(origin: String, appID: String, challenge: String, keyText: String) {
        self.origin = origin
        self.appID = appID
        self.challenge = challenge
        self.keyText = keyText
    }
}
