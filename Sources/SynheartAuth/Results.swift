// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonSynheart

/// How a registration ended.
public enum RegistrationStatus: String, Sendable {
    case success
    /// It was registered; nothing was sent.
    case alreadyRegistered
    case failed
}

public struct RegistrationResult: Sendable {
    public let status: RegistrationStatus
    public let deviceId: String?
    /// Why it failed.
    public let error: SynheartAuthError?

    public init(status: RegistrationStatus, deviceId: String? = nil, error: SynheartAuthError? = nil) {
        self.status = status
        self.deviceId = deviceId
        self.error = error
    }
}

/// How a rotation ended.
public enum RotationStatus: String, Sendable {
    case success
    /// The device signs on, with the key that the service holds as far as that is known.
    case failed
}

public struct RotationResult: Sendable {
    public let status: RotationStatus
    /// Why it failed.
    public let error: SynheartAuthError?

    public init(status: RotationStatus, error: SynheartAuthError? = nil) {
        self.status = status
        self.error = error
    }
}

/// The six headers of a signed request. Each is sent once.
public struct SignedHeaders: Sendable, Equatable {
    public let appId: String
    public let deviceId: String
    /// Base64 of DER.
    public let signature: String
    /// Unix seconds.
    public let timestamp: String
    public let nonce: String
    public let signatureVersion: String

    public init(
        appId: String, deviceId: String, signature: String, timestamp: String, nonce: String,
        signatureVersion: String = "1"
    ) {
        self.appId = appId
        self.deviceId = deviceId
        self.signature = signature
        self.timestamp = timestamp
        self.nonce = nonce
        self.signatureVersion = signatureVersion
    }

    init(_ request: SignedRequest) {
        self.init(
            appId: request.appID, deviceId: request.deviceID, signature: request.signature,
            timestamp: request.timestamp, nonce: request.nonce, signatureVersion: request.signatureVersion)
    }

    /// By the names that they are sent under. A build with the trait `DevMode` says so in one more.
    public var dictionary: [String: String] {
        var headers = [
            "X-App-ID": appId, "X-Device-ID": deviceId, "X-Synheart-Signature": signature,
            "X-Synheart-Timestamp": timestamp, "X-Synheart-Nonce": nonce,
            "X-Synheart-Sig-Version": signatureVersion,
        ]
        for (name, value) in DevMode.headers { headers[name] = value }
        return headers
    }
}
