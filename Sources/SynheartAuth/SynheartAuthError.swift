// SPDX-License-Identifier: Apache-2.0
public import FoundationEssentials
internal import Tenon

/// Apple's name for the numbers of its keychain; here it is the code of a `TenonError`.
public typealias OSStatus = Int32

/// The errors of the iOS SDK.
public enum SynheartAuthError: Error, Equatable, Sendable {
    /// The service did not answer, or its answer could not be understood. Call again; nothing was lost.
    case networkError(String)
    /// The service no longer accepts the challenge.
    case challengeExpired
    /// This device, or the service, cannot prove where the key is.
    case attestationUnavailable
    /// The key can never sign again; register again.
    case keyInvalidated
    /// The clocks of the device and the service differ too much.
    case clockSkew
    /// The device is registered for the app.
    case alreadyRegistered
    /// The device is not registered for the app.
    case notRegistered
    /// ``SynheartAuth/configure(baseUrl:)`` was not called, or not with a URL.
    case notConfigured
    /// Another call or process is changing the identity.
    case registrationInProgress
    /// The service refused, with this code.
    case serverError(code: String, message: String)
    /// The state of the identity cannot be read or written. It was not changed.
    case keychainError(OSStatus)
    /// The TPM failed, or the message cannot be signed.
    case cryptoError(String)
    /// The identity cannot change from the one state to the other.
    case invalidStateTransition(from: String, to: String)
}

extension SynheartAuthError: LocalizedError {
    /// The error for people: the cause and what to do.
    public var errorDescription: String? {
        switch self {
        case .networkError(let message), .serverError(_, let message), .cryptoError(let message): message
        case .challengeExpired: "The service no longer accepts the challenge."
        case .attestationUnavailable:
            """
            The attestation that the service needs cannot be made. Give configure(baseUrl:tpm:stateDirectory:...) the \
            disclosure .endorsement(), and an attestationService or the dialect .tenon, whichever the service has; \
            `tenon doctor --disclose-ek` shows whether the TPM has a certificate.
            """
        case .keyInvalidated: "The key of this identity can never sign again. Register again."
        case .clockSkew: "The service refuses the time of this device's requests. Compare the two clocks."
        case .alreadyRegistered: "The device is already registered for this app."
        case .notRegistered: "The device is not registered for this app. Call registerDevice."
        case .notConfigured: "Call configure(baseUrl:) with the service's URL first."
        case .registrationInProgress: "Another operation on this identity is running."
        case .keychainError(let status):
            "The identity's state cannot be used: \(Self.code(status))."
        case .invalidStateTransition(let from, let to): "The state cannot change from \(from) to \(to)."
        }
    }
}

extension SynheartAuthError {
    init(_ error: TenonError) {
        if let known = Self.known[error.code] {
            self = known
        } else if let (from, to) = error.stateTransition {
            self = .invalidStateTransition(from: from, to: to)
        } else if Self.isState(error.code) {
            self = .keychainError(error.code.rawValue)
        } else if let code = error.answerCode {
            self = .serverError(code: code, message: error.message)
        } else if error.code.category == .gone {
            self = .keyInvalidated
        } else if [.transient, .unknown].contains(error.code.category) {
            self = .networkError(error.message)
        } else {
            self = .cryptoError(error.message)
        }
    }

    /// The error for a result; errors that the SDK throws are thrown.
    func unlessThrown() throws(SynheartAuthError) -> SynheartAuthError {
        switch self {
        case .notConfigured, .notRegistered, .registrationInProgress, .keychainError, .invalidStateTransition:
            throw self
        default: return self
        }
    }

    private static let known: [TenonError.Code: SynheartAuthError] = [
        .challengeExpired: .challengeExpired, .attestationUnavailable: .attestationUnavailable,
        .keyInvalidated: .keyInvalidated, .clockSkew: .clockSkew, .notRegistered: .notRegistered,
        .registrationInProgress: .registrationInProgress, .stateBusy: .registrationInProgress,
    ]

    private static func isState(_ code: TenonError.Code) -> Bool { TenonError.Code.ofState.contains(code) }

    private static func code(_ status: OSStatus) -> TenonError.Code {
        TenonError.Code.ofState.first { $0.rawValue == status } ?? TenonError.Code(rawValue: status)
    }
}

extension TenonError {
    /// The code of a service that refused; a code of ours when the service gave none.
    fileprivate var answerCode: String? {
        switch code {
        case .deviceRevoked: "DEVICE_REVOKED"
        case .registrationRejected: "REGISTRATION_REJECTED"
        case .registrationPending: "REGISTRATION_PENDING"
        case .attestationFailed: "ATTESTATION_FAILED"
        case .rotationFailed: "ROTATION_FAILED"
        default: serverCode ?? (httpStatus == nil || code.category == .unknown ? nil : "HTTP_ERROR")
        }
    }
}
