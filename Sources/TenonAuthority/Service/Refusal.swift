// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// Why a request was refused, as it is told.
package struct Refusal: Error, Equatable, Sendable {
    /// The codes of docs/synheart.md, and what this service adds where that has none.
    package enum Code: String, CaseIterable, Sendable {
        case invalidRequest = "INVALID_REQUEST"
        case notFound = "NOT_FOUND"
        case methodNotAllowed = "METHOD_NOT_ALLOWED"
        case unknownApp = "UNKNOWN_APP"
        case invalidChallenge = "INVALID_CHALLENGE"
        case challengeExpired = "CHALLENGE_EXPIRED"
        case invalidAttestation = "INVALID_ATTESTATION"
        case registrationRejected = "REGISTRATION_REJECTED"
        case notRegistered = "NOT_REGISTERED"
        case deviceRevoked = "DEVICE_REVOKED"
        case keyExpired = "KEY_EXPIRED"
        case clockSkew = "CLOCK_SKEW"
        case invalidSignature = "INVALID_SIGNATURE"
        case nonceReplay = "NONCE_REPLAY"
        case rotationFailed = "ROTATION_FAILED"
        case unknownBackend = "UNKNOWN_BACKEND"
        case notAllowed = "NOT_ALLOWED"
        case requestIDReused = "REQUEST_ID_REUSED"
        case rateLimited = "RATE_LIMITED"
        case unavailable = "UNAVAILABLE"
        case outcomeUnknown = "OUTCOME_UNKNOWN"
        case internalError = "INTERNAL_ERROR"

        /// Where no other is told.
        var status: Int {
            switch self {
            case .invalidRequest, .invalidChallenge, .challengeExpired, .invalidAttestation: 400
            case .notRegistered, .clockSkew, .invalidSignature, .unknownBackend: 401
            case .unknownApp, .registrationRejected, .deviceRevoked, .keyExpired, .notAllowed: 403
            case .notFound: 404
            case .methodNotAllowed: 405
            case .nonceReplay, .rotationFailed, .requestIDReused: 409
            case .rateLimited: 429
            case .internalError: 500
            case .unavailable, .outcomeUnknown: 503
            }
        }
    }

    package let code: Code
    package let status: Int
    /// One sentence; it holds nothing of what was sent.
    package let message: String
    /// Seconds.
    package let retryAfter: Int64?
    /// For operators, more exact than the code where several causes have one: a rule's number, as `rule_24`, or one of
    /// the few words of this service. It holds nothing of what was sent.
    package let cause: String

    init(_ code: Code, _ message: String, status: Int? = nil, retryAfter: Int64? = nil, cause: String? = nil) {
        self.code = code
        self.status = status ?? code.status
        self.message = message
        self.retryAfter = retryAfter
        self.cause = cause ?? code.rawValue.lowercased()
    }

    /// The rule that did not hold, by its number in tenon/verify.h and tenon/activate.h; else the core's own word.
    static func cause(of code: TenonError.Code) -> String {
        if code == .proofForm { return "rule_3" }
        let words = code.description.split(separator: "_")
        guard words.count > 2, words[0] == "TENON" else { return "other" }
        switch words[1] {
        case "RULE": return "rule_" + words[2].lowercased()
        case "ERROR" where words[2] == "CBOR": return "rule_2"
        default: return words[2...].joined(separator: "_").lowercased()
        }
    }

    /// What a store, or the core, could not do: nothing has happened that anybody may rely on.
    init(_ error: TenonError) {
        switch error.code.category {
        case .transient, .unavailable, .permission, .auth, .state, .unknown:
            let seconds = error.retryAfter.map { max(1, $0.components.seconds) } ?? 1
            self.init(.unavailable, "The service cannot answer now: try again soon.", retryAfter: seconds)
        default:
            self.init(.internalError, "The service could not answer.")
        }
    }

    /// The same for an operator, who is told which store it is and that nothing was done.
    init(operator error: TenonError) {
        let refusal = Refusal(error)
        self.init(
            refusal.code, "Nothing was done. \(error.message)", status: refusal.status, retryAfter: refusal.retryAfter)
    }

    /// What is wrong with a message, in the words of its reader.
    init(form error: TenonError) { self.init(.invalidRequest, error.message) }
}

/// Runs what throws an error of Tenon where a refusal is to be thrown.
func refusing<Value>(
    _ refusal: (TenonError) -> Refusal = Refusal.init(_:), _ body: () throws(TenonError) -> Value
) throws(Refusal) -> Value {
    do throws(TenonError) { return try body() } catch { throw refusal(error) }
}

/// The same for what waits: a store.
func waiting<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(TenonError) -> Value
) async throws(Refusal) -> Value {
    do throws(TenonError) { return try await body() } catch { throw Refusal(error) }
}
