// SPDX-License-Identifier: Apache-2.0

/// The meaning of a service's answer.
package enum ServiceAnswer<Value: Sendable>: Sendable {
    case accepted(Value)
    /// It understood, and says no.
    case refused(ServiceRefusal)
    /// It could not just now: 408, 425, 429, 5xx. Whether it did something is not said.
    case later(TenonError)
    /// Anything else; it may have done it.
    case unclear(TenonError)
}

extension ServiceAnswer {
    /// Does what the service decided; throws where it has not, or did not say so.
    func settled<Outcome>(
        accepted: (Value) async throws(TenonError) -> Outcome,
        refused: (ServiceRefusal) async throws(TenonError) -> Outcome
    ) async throws(TenonError) -> Outcome {
        switch self {
        case .accepted(let value): return try await accepted(value)
        case .refused(let refusal): return try await refused(refusal)
        case .later(let error), .unclear(let error): throw error
        }
    }

    /// The same answer to another question.
    func map<Other>(_ body: (Value) -> Other) -> ServiceAnswer<Other> {
        switch self {
        case .accepted(let value): .accepted(body(value))
        case .refused(let refusal): .refused(refusal)
        case .later(let error): .later(error)
        case .unclear(let error): .unclear(error)
        }
    }

    /// The accepted value; throws the error of any other answer.
    package func get() throws(TenonError) -> Value {
        switch self {
        case .accepted(let value): return value
        case .refused(let refusal): throw refusal.error
        case .later(let error), .unclear(let error): throw error
        }
    }
}

package struct ServiceRefusal: Sendable {
    /// nil for a code that is not in the declaration.
    package var verdict: ServiceVerdict?
    /// For people, with the status and the code of the answer.
    package var error: TenonError
    /// The service's clock, Unix seconds, where it gives it with ``ServiceVerdict/clockSkew``.
    package var serverTime: Double?

    package init(verdict: ServiceVerdict?, error: TenonError, serverTime: Double? = nil) {
        self.verdict = verdict
        self.error = error
        self.serverTime = serverTime
    }
}

/// The result of a registration.
package enum RegistrationOutcome: Sendable {
    /// - Parameter attestationCertificates: for the attestation key, leaf first (DER), when the service issued one.
    case registered(deviceID: String, attestationCertificates: [[UInt8]])
    /// The service has not decided.
    case pending
    /// It has, against the device.
    case rejected
}

/// The result of an accepted rotation.
package struct RotationOutcome: Sendable {
    /// From when on the new key counts, Unix seconds on the service's clock; nil is now.
    package var effectiveAt: Double?
    /// When the service answered, as the body says it, on the same clock.
    package var answeredAt: Double?

    package init(effectiveAt: Double? = nil, answeredAt: Double? = nil) {
        (self.effectiveAt, self.answeredAt) = (effectiveAt, answeredAt)
    }
}

/// Whether the service holds the key that signed the question.
package enum KeyHolding: Sendable {
    case held
    /// The signature was good, and yet another key is the current one.
    case another
    case revoked
}

extension ServiceDeclaration {
    /// The meaning of an answer that is not a success: by its code first, its status second.
    ///
    /// - Parameters:
    ///   - code: the code in the body or a header; nil when there is none.
    ///   - serverTime: Unix seconds, where the answer has them.
    package func failure<Value>(
        _ answer: HTTPResponse, code: String?, serverTime: Double? = nil
    ) -> ServiceAnswer<Value> {
        let meant = isBelieved(answer) ? verdict(answer.status, code) : nil
        // An answer with a status of success, or of a passing fault, ends nothing.
        let verdict = meant?.isGrave == true && !answer.isDefinite ? nil : meant
        let error = TenonError(answer, code: code, verdict)
        if verdict == .busy || (verdict == nil && answer.isTransient) { return .later(error) }
        if verdict != nil || 400...499 ~= answer.status {
            return .refused(ServiceRefusal(verdict: verdict, error: error, serverTime: serverTime))
        }
        return .unclear(error)
    }

    private func verdict(_ status: Int, _ code: String?) -> ServiceVerdict? {
        code.flatMap { exactVerdicts[AnswerKind(status, $0)] ?? verdicts[$0] } ?? exactVerdicts[AnswerKind(status)]
    }

    private func isBelieved(_ answer: HTTPResponse) -> Bool {
        let types = answer.values(of: "Content-Type")
        guard types.count == 1 else { return false }
        let type = types[0].prefix { $0 != ";" }.trimmingSpaces.lowercased()
        return errorTypes.contains(type)
    }
}

extension ServiceVerdict {
    /// Whether a key, or the device, may end by it.
    fileprivate var isGrave: Bool { self == .revoked || self == .rejected || self == .keyRefused }
}

extension HTTPResponse {
    /// Whether the request is refused for good.
    var isDefinite: Bool { 400...499 ~= status && !isTransient }

    /// Whether the same request may succeed later.
    var isTransient: Bool { [408, 425, 429].contains(status) || 500...599 ~= status }

    /// In seconds. A service that asks for a longer pause does not want another request.
    private static let longestPause = 1_000_000_000

    /// How long its `Retry-After` asks to wait (RFC 9110, 10.2.3). A date is compared with the answer's own, so that
    /// the clock of this device has no say in it.
    var retryAfter: Duration? {
        let (waits, dates) = (values(of: "Retry-After"), values(of: "Date"))
        guard waits.count == 1 else { return nil }
        let text = waits[0]
        if !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
            return .seconds(min(Int(text) ?? .max, HTTPResponse.longestPause))
        }
        guard dates.count == 1, let now = CivilDate.http(dates[0]), let end = CivilDate.http(text) else { return nil }
        return max(end - now, .zero)
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

extension TenonError {
    /// The error for an answer that is not a success.
    init(_ answer: HTTPResponse, code: String?, _ verdict: ServiceVerdict?) {
        let (ours, message): (Code, String) =
            switch verdict {
            case .challengeSpent: (.challengeExpired, "The service no longer accepts the challenge.")
            case .attestationRefused, .attestationFailed:
                (.attestationFailed, "The service did not accept the attestation.")
            case .rejected: (.registrationRejected, "The service rejected this device.")
            case .revoked: (.deviceRevoked, "The service revoked this device. Reset the identity to start again.")
            case .keyRefused: (.keyRefused, "The service refused the signature of this key.")
            case .clockSkew:
                (.clockSkew, "The service refuses the time of this device's requests. Compare the two clocks.")
            case .keyExpired: (.keyExpired, "The key is older than the service allows.")
            case .formRefused: (.serviceRefused, "The service does not take this form of signature here.")
            case .nonceReplay: (.nonceReplay, "The service says that it has already seen this request.")
            case .rotationRefused: (.rotationFailed, "The service refused the new key; both keys are kept.")
            case .numberRefused:
                (.serviceRefused, "The service holds another log of this identity. Nothing new was signed.")
            case .busy: (.serviceBusy, "The service cannot answer now. Try again later.")
            case nil where answer.isTransient: (.serviceBusy, "The service cannot answer now. Try again later.")
            case nil where 400...499 ~= answer.status:
                (.serviceRefused, "The service refused the request. See its code.")
            case nil: (.serviceAnswer, "The service's answer could not be understood. Check the base URL.")
            }
        self.init(
            ours, message: message, httpStatus: answer.status, serverCode: code, retryAfter: answer.retryAfter)
    }
}
