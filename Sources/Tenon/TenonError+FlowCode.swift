// SPDX-License-Identifier: Apache-2.0

// The codes of what is done with a service (bit 22 set, 01c0 to 01df).
extension TenonError.Code {
    /// The service has no such step.
    public static let serviceStep = Self(rawValue: 0x0140_01c0)
    /// The answer of the service cannot be understood: it may have done what was asked.
    public static let serviceAnswer = Self(rawValue: 0x0b40_01c1)
    /// The service refused, for a reason of its own.
    public static let serviceRefused = Self(rawValue: 0x0340_01c2)
    /// The service cannot just now.
    public static let serviceBusy = Self(rawValue: 0x0440_01c3)
    /// The challenge is too old, or was used: take another.
    public static let challengeExpired = Self(rawValue: 0x0440_01c4)
    /// The device, or the service, cannot do the attestation that is required.
    public static let attestationUnavailable = Self(rawValue: 0x0540_01c5)
    /// The service does not believe the attestation.
    public static let attestationFailed = Self(rawValue: 0x0340_01c6)
    /// The service has not decided about the device: register again later.
    public static let registrationPending = Self(rawValue: 0x0a40_01c7)
    /// The service does not want the device.
    public static let registrationRejected = Self(rawValue: 0x0340_01c8)
    /// The device is not registered.
    public static let notRegistered = Self(rawValue: 0x0a40_01c9)
    /// The service revoked the device: only a reset leaves that.
    public static let deviceRevoked = Self(rawValue: 0x0a40_01ca)
    /// The key of the identity can never sign again: register again.
    public static let keyInvalidated = Self(rawValue: 0x0840_01cb)
    /// The service refused the new key; both keys are kept.
    public static let rotationFailed = Self(rawValue: 0x0340_01cc)
    /// It was sent, and what came of it is not known: ask again, nothing was lost.
    public static let outcomeUnknown = Self(rawValue: 0x0b40_01cd)
    /// The service does not accept the signature of this key.
    public static let keyRefused = Self(rawValue: 0x0340_01ce)
    /// The clocks of device and service differ by more than may be mended here.
    public static let clockSkew = Self(rawValue: 0x0340_01cf)
    /// The service has seen this request.
    public static let nonceReplay = Self(rawValue: 0x0340_01d0)
    /// Another registration is on its way.
    public static let registrationInProgress = Self(rawValue: 0x0440_01d1)
    /// The state comes from another machine.
    public static let foreignTPM = Self(rawValue: 0x0a40_01d2)
    /// The service takes no signature of a key as old as this one: rotate it.
    public static let keyExpired = Self(rawValue: 0x0340_01d3)
    /// The service refuses the old key, and does not say that it holds the one that it was offered, which signs now.
    public static let rotationOpen = Self(rawValue: 0x0b40_01d8)

    /// The name in the manner of the C core.
    var flowName: String? {
        switch self {
        case .serviceStep: "TENON_ERROR_SERVICE_STEP"
        case .serviceAnswer: "TENON_ERROR_SERVICE_ANSWER"
        case .serviceRefused: "TENON_ERROR_SERVICE_REFUSED"
        case .serviceBusy: "TENON_ERROR_SERVICE_BUSY"
        case .challengeExpired: "TENON_ERROR_CHALLENGE_EXPIRED"
        case .attestationUnavailable: "TENON_ERROR_ATTESTATION_UNAVAILABLE"
        case .attestationFailed: "TENON_ERROR_ATTESTATION_FAILED"
        case .registrationPending: "TENON_ERROR_REGISTRATION_PENDING"
        case .registrationRejected: "TENON_ERROR_REGISTRATION_REJECTED"
        case .notRegistered: "TENON_ERROR_NOT_REGISTERED"
        case .deviceRevoked: "TENON_ERROR_DEVICE_REVOKED"
        case .keyInvalidated: "TENON_ERROR_KEY_INVALIDATED"
        case .rotationFailed: "TENON_ERROR_ROTATION_FAILED"
        case .outcomeUnknown: "TENON_ERROR_OUTCOME_UNKNOWN"
        case .keyRefused: "TENON_ERROR_KEY_REFUSED"
        case .clockSkew: "TENON_ERROR_CLOCK_SKEW"
        case .nonceReplay: "TENON_ERROR_NONCE_REPLAY"
        case .registrationInProgress: "TENON_ERROR_REGISTRATION_IN_PROGRESS"
        case .foreignTPM: "TENON_ERROR_FOREIGN_TPM"
        case .keyExpired: "TENON_ERROR_KEY_EXPIRED"
        case .rotationOpen: "TENON_ERROR_ROTATION_OPEN"
        default: nil
        }
    }
}
