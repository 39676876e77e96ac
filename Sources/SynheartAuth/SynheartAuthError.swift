// SPDX-License-Identifier: Apache-2.0
public import FoundationEssentials
internal import Tenon

/// The name that Apple gives the numbers of its keychain; here it is the code of a `TenonError`.
public typealias OSStatus = Int32

/// What goes wrong, in the words of the iOS SDK.
public enum SynheartAuthError: Error, Equatable, Sendable {
    /// Nobody answered, or not so that it could be understood. Do the same again; nothing was lost.
    case networkError(String)
    case challengeExpired
    /// This device, or the service, cannot prove where the key is.
    case attestationUnavailable
    /// The key can never sign again; register again.
    case keyInvalidated
    case clockSkew
    case alreadyRegistered
    case notRegistered
    case notConfigured
    case registrationInProgress
    /// The service refused, by this code.
    case serverError(code: String, message: String)
    /// The state of the identity cannot be read or written; it is not touched.
    case keychainError(OSStatus)
    /// The TPM, or what was to be signed.
    case cryptoError(String)
    case invalidStateTransition(from: String, to: String)
}

extension SynheartAuthError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .networkError(let message), .serverError(_, let message), .cryptoError(let message): message
        case .challengeExpired: "The service does not take the challenge any more."
        case .attestationUnavailable:
            """
            The attestation that the service wants cannot be made. Give configure(baseUrl:tpm:stateDirectory:...) the \
            disclosure .endorsement(), and an attestationService or the dialect .tenon, whichever the service has; \
            `tenon doctor --disclose-ek` shows whether the TPM has a certificate.
            """
        case .keyInvalidated: "The key of this identity can never sign again: register again."
        case .clockSkew: "The clock of this device is not the service's: set it."
        case .alreadyRegistered: "The device is registered for this app."
        case .notRegistered: "The device is not registered for this app: call registerDevice."
        case .notConfigured: "Call configure(baseUrl:) with the URL of the service first."
        case .registrationInProgress: "Others are at work on this identity."
        case .keychainError(let status):
            "The state of the identity cannot be used: \(Self.code(status))."
        case .invalidStateTransition(let from, let to): "The state may not change from \(from) to \(to)."
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

    /// The error of a result; what the SDK throws is thrown.
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
    /// The code of a service that refused; ours where the service has none.
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
