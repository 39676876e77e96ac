// SPDX-License-Identifier: Apache-2.0

// The codes of what is done with a service (01c0 to 01e0).
extension TenonError.Code {
    /// The service has no such step.
    public static let serviceStep = Self(0x0140_01c0, "TENON_ERROR_SERVICE_STEP")
    /// The answer of the service cannot be understood: it may have done what was asked.
    public static let serviceAnswer = Self(0x0b40_01c1, "TENON_ERROR_SERVICE_ANSWER")
    /// The service refused, for a reason of its own.
    public static let serviceRefused = Self(0x0340_01c2, "TENON_ERROR_SERVICE_REFUSED")
    /// The service cannot just now.
    public static let serviceBusy = Self(0x0440_01c3, "TENON_ERROR_SERVICE_BUSY")
    /// The challenge is too old, or was used: take another.
    public static let challengeExpired = Self(0x0440_01c4, "TENON_ERROR_CHALLENGE_EXPIRED")
    /// The device, or the service, cannot do the attestation that is required.
    public static let attestationUnavailable = Self(0x0540_01c5, "TENON_ERROR_ATTESTATION_UNAVAILABLE")
    /// The service did not accept the attestation.
    public static let attestationFailed = Self(0x0340_01c6, "TENON_ERROR_ATTESTATION_FAILED")
    /// The service has not decided about the device: register again later.
    public static let registrationPending = Self(0x0a40_01c7, "TENON_ERROR_REGISTRATION_PENDING")
    /// The service rejected the device.
    public static let registrationRejected = Self(0x0340_01c8, "TENON_ERROR_REGISTRATION_REJECTED")
    /// The device is not registered.
    public static let notRegistered = Self(0x0a40_01c9, "TENON_ERROR_NOT_REGISTERED")
    /// The service revoked the device: only a reset leaves that.
    public static let deviceRevoked = Self(0x0a40_01ca, "TENON_ERROR_DEVICE_REVOKED")
    /// The key of the identity can never sign again: register again.
    public static let keyInvalidated = Self(0x0840_01cb, "TENON_ERROR_KEY_INVALIDATED")
    /// The service refused the new key; both keys are kept.
    public static let rotationFailed = Self(0x0340_01cc, "TENON_ERROR_ROTATION_FAILED")
    /// The request was sent, but its outcome is unknown: ask again, nothing was lost.
    public static let outcomeUnknown = Self(0x0b40_01cd, "TENON_ERROR_OUTCOME_UNKNOWN")
    /// The service refused the signature of this key.
    public static let keyRefused = Self(0x0340_01ce, "TENON_ERROR_KEY_REFUSED")
    /// The clocks of device and service differ by more than the device may correct.
    public static let clockSkew = Self(0x0340_01cf, "TENON_ERROR_CLOCK_SKEW")
    /// The service has seen this request.
    public static let nonceReplay = Self(0x0340_01d0, "TENON_ERROR_NONCE_REPLAY")
    /// Another registration is on its way.
    public static let registrationInProgress = Self(0x0440_01d1, "TENON_ERROR_REGISTRATION_IN_PROGRESS")
    /// The state comes from another machine.
    public static let foreignTPM = Self(0x0a40_01d2, "TENON_ERROR_FOREIGN_TPM")
    /// The service refuses signatures by a key as old as this one: rotate it.
    public static let keyExpired = Self(0x0340_01d3, "TENON_ERROR_KEY_EXPIRED")
    /// The service refuses the old key, and does not say that it holds the one that it was offered, which signs now.
    public static let rotationOpen = Self(0x0b40_01d8, "TENON_ERROR_ROTATION_OPEN")
    /// The service's base URL is malformed.
    public static let serviceURL = Self(0x0140_01e0, "TENON_ERROR_SERVICE_URL")
}
