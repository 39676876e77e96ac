// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonSynheart

/// How a registration ended.
public enum RegistrationStatus: String, Sendable {
    /// The service registered the device.
    case success
    /// The device was registered before; nothing was sent.
    case alreadyRegistered
    /// The device is not registered; the result says why.
    case failed
}

/// The result of ``SynheartAuth/registerDevice(appId:)``.
public struct RegistrationResult: Sendable {
    /// How the registration ended.
    public let status: RegistrationStatus
    /// The device's id at the service; nil when the registration failed.
    public let deviceId: String?
    /// Why it failed.
    public let error: SynheartAuthError?

    /// A result, for example for an app's own tests.
    public init(status: RegistrationStatus, deviceId: String? = nil, error: SynheartAuthError? = nil) {
        self.status = status
        self.deviceId = deviceId
        self.error = error
    }
}

/// How a rotation ended.
public enum RotationStatus: String, Sendable {
    /// The service accepted the new key.
    case success
    /// The device goes on signing with the key that the service holds, as far as that is known.
    case failed
}

/// The result of ``SynheartAuth/rotateKey(appId:)``.
public struct RotationResult: Sendable {
    /// How the rotation ended.
    public let status: RotationStatus
    /// Why it failed.
    public let error: SynheartAuthError?

    /// A result, for example for an app's own tests.
    public init(status: RotationStatus, error: SynheartAuthError? = nil) {
        self.status = status
        self.error = error
    }
}

/// The six headers of a signed request. Each is sent once.
public struct SignedHeaders: Sendable, Equatable {
    /// `X-App-ID`.
    public let appId: String
    /// `X-Device-ID`.
    public let deviceId: String
    /// `X-Synheart-Signature`: base64 of DER.
    public let signature: String
    /// `X-Synheart-Timestamp`: Unix seconds.
    public let timestamp: String
    /// `X-Synheart-Nonce`.
    public let nonce: String
    /// `X-Synheart-Sig-Version`.
    public let signatureVersion: String

    /// Headers of the given values.
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

    /// The headers by the names under which they are sent. A build with the trait `DevMode` adds one.
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
