// SPDX-License-Identifier: Apache-2.0
internal import Tenon
package import TenonAuthority

extension Refusal.Code {
    /// The codes that this service adds to those of the engine.
    package static let itWallet = [invalidAssertion, belowMinimum, unprocessable]

    /// A request for a use of the hardware key does not hold together.
    static let invalidAssertion = Refusal.Code("INVALID_ASSERTION", status: 403)
    /// The device does not meet what the app demands.
    static let belowMinimum = Refusal.Code("BELOW_MINIMUM", status: 403)
    /// The form is right, and the values make no sense together.
    static let unprocessable = Refusal.Code("UNPROCESSABLE", status: 422)
}

extension Refusal {
    static let unknownInstance = Refusal(.notFound, "The instance is unknown.", cause: "unknown_instance")
}

extension ITWalletSteps {
    /// The words that the specification has for refusals.
    package enum ErrorWord: String, CaseIterable, Sendable {
        case badRequest = "bad_request"
        case unauthorized
        case forbidden
        case integrityCheckError = "integrity_check_error"
        case invalidRequest = "invalid_request"
        case notFound = "not_found"
        case validationError = "validation_error"
        case serverError = "server_error"
        case temporarilyUnavailable = "temporarily_unavailable"
    }

    /// The causes for which a device that proved everything is still refused.
    private static let belowMinimum: Set = ["ak_certificate", "ek_denied", "too_many_devices"]

    /// The body of a refusal: a word of the specification, and a sentence.
    static func answer(refusing refusal: Refusal, at now: AuthorityInstant) -> AuthorityAnswer {
        let (status, word) = words(of: refusal)
        let json: JSON = ["error": .string(word.rawValue), "error_description": .string(refusal.message)]
        var answer = AuthorityAnswer(encoded: (try? json.encoded()) ?? [], status: status)
        if let seconds = refusal.retryAfter { answer.headers.append(("Retry-After", String(seconds))) }
        return answer
    }

    /// The specification has no 429: a device that came too often is told to come later.
    private static func words(of refusal: Refusal) -> (status: Int, word: ErrorWord) {
        switch refusal.code {
        case .invalidChallenge, .challengeExpired, .deviceRevoked, .invalidAssertion: (403, .invalidRequest)
        case .invalidAttestation, .registrationRejected:
            (403, belowMinimum.contains(refusal.cause) ? .integrityCheckError : .invalidRequest)
        case .belowMinimum: (403, .integrityCheckError)
        case .notFound, .unknownApp, .notRegistered: (404, .notFound)
        case .unknownBackend: (401, .unauthorized)
        case .notAllowed: (403, .forbidden)
        case .unprocessable: (422, .validationError)
        case .rateLimited, .unavailable, .outcomeUnknown: (503, .temporarilyUnavailable)
        case .internalError: (500, .serverError)
        default: (refusal.status, .badRequest)
        }
    }
}
