// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// The reason why a request was refused, as the client is told.
package struct Refusal: Error, Equatable, Sendable {
    /// The code of a refusal. A service may add codes, and decides how it sends them.
    package struct Code: Hashable, Sendable {
        package let rawValue: String
        /// The status if no other one is given.
        package let status: Int

        package init(_ rawValue: String, status: Int) {
            self.rawValue = rawValue
            self.status = status
        }

        package static let invalidRequest = Code("INVALID_REQUEST", status: 400)
        package static let notFound = Code("NOT_FOUND", status: 404)
        package static let methodNotAllowed = Code("METHOD_NOT_ALLOWED", status: 405)
        package static let unknownApp = Code("UNKNOWN_APP", status: 403)
        package static let invalidChallenge = Code("INVALID_CHALLENGE", status: 400)
        package static let challengeExpired = Code("CHALLENGE_EXPIRED", status: 400)
        package static let invalidAttestation = Code("INVALID_ATTESTATION", status: 400)
        package static let registrationRejected = Code("REGISTRATION_REJECTED", status: 403)
        package static let notRegistered = Code("NOT_REGISTERED", status: 401)
        package static let deviceRevoked = Code("DEVICE_REVOKED", status: 403)
        package static let keyExpired = Code("KEY_EXPIRED", status: 403)
        package static let clockSkew = Code("CLOCK_SKEW", status: 401)
        package static let signatureForm = Code("SIGNATURE_FORM", status: 400)
        package static let invalidSignature = Code("INVALID_SIGNATURE", status: 401)
        package static let nonceReplay = Code("NONCE_REPLAY", status: 409)
        package static let rotationFailed = Code("ROTATION_FAILED", status: 409)
        package static let notAllowed = Code("NOT_ALLOWED", status: 403)
        package static let unknownBackend = Code("UNKNOWN_BACKEND", status: 401)
        package static let rateLimited = Code("RATE_LIMITED", status: 429)
        package static let unavailable = Code("UNAVAILABLE", status: 503)
        package static let outcomeUnknown = Code("OUTCOME_UNKNOWN", status: 503)
        package static let internalError = Code("INTERNAL_ERROR", status: 500)

        /// The engine's own codes.
        package static let engine = [
            invalidRequest, notFound, methodNotAllowed, unknownApp, invalidChallenge, challengeExpired,
            invalidAttestation, registrationRejected, notRegistered, deviceRevoked, keyExpired, clockSkew,
            signatureForm, invalidSignature, nonceReplay, rotationFailed, notAllowed, unknownBackend, rateLimited,
            unavailable,
            outcomeUnknown, internalError,
        ]
    }

    package let code: Code
    package let status: Int
    /// One sentence, without anything from the request.
    package let message: String
    /// Seconds until a retry makes sense; nil if the refusal does not say.
    package let retryAfter: Int64?
    /// For operators; more exact than the code if several causes share one: the number of a rule, as `rule_24`, or one
    /// of a few words of this service. It contains nothing from the request.
    package let cause: String
    /// The forms of version 2 that are taken, if the request had another.
    package var forms: [String]?

    /// - Parameters:
    ///   - status: replaces the code's own status.
    ///   - cause: replaces the code as the cause.
    package init(_ code: Code, _ message: String, status: Int? = nil, retryAfter: Int64? = nil, cause: String? = nil) {
        self.code = code
        self.status = status ?? code.status
        self.message = message
        self.retryAfter = retryAfter
        self.cause = cause ?? code.rawValue.lowercased()
    }

    /// The number of the broken rule in tenon/verify.h, tenon/activate.h or tenon/keri.h, or else the core's own word.
    package static func cause(of code: TenonError.Code) -> String {
        if code == .proofForm { return "rule_3" }
        let words = code.description.split(separator: "_")
        guard words.count > 2, words[0] == "TENON" else { return "other" }
        switch words[1] {
        case "RULE": return "rule_" + words[2].lowercased()
        case "KERI": return "event_rule_" + words[2]
        case "ERROR" where words[2] == "CBOR": return "rule_2"
        default: return words[2...].joined(separator: "_").lowercased()
        }
    }

    /// Refuses because a store or the core failed: no result is promised.
    package init(_ error: TenonError) {
        if error.code == .quotaReached {
            self.init(.rateLimited, error.message, cause: "quota")
            return
        }
        switch error.code.category {
        case .transient, .unavailable, .permission, .auth, .state, .unknown:
            let seconds = error.retryAfter.map { max(1, $0.components.seconds) } ?? 1
            self.init(.unavailable, "The service cannot answer now. Try again soon.", retryAfter: seconds)
        default:
            self.init(.internalError, "The service could not answer.")
        }
    }

    /// The same for an operator, who is told the name of the store and that nothing was done.
    init(operator error: TenonError) {
        let refusal = Refusal(error)
        self.init(
            refusal.code, "Nothing was done. \(error.message)", status: refusal.status, retryAfter: refusal.retryAfter)
    }

    package static let unknownApp = Refusal(.unknownApp, "The app is unknown.")
    static let unknownBackend = Refusal(.unknownBackend, "The backend's token is unknown.")

    /// Refuses a malformed message, in the words of its reader.
    package init(form error: TenonError) { self.init(.invalidRequest, error.message) }
}

/// Runs a body that throws an error of Tenon, and throws a refusal in its place.
package func refusing<Value>(
    _ refusal: (TenonError) -> Refusal = Refusal.init(_:), _ body: () throws(TenonError) -> Value
) throws(Refusal) -> Value {
    do throws(TenonError) { return try body() } catch { throw refusal(error) }
}

/// The same for a body that waits, for example for a store.
package func waiting<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(TenonError) -> Value
) async throws(Refusal) -> Value {
    do throws(TenonError) { return try await body() } catch { throw Refusal(error) }
}

/// Tells an operator why requests are refused, with one line for each. Lines are limited, because anybody can cause
/// refusals. Refusals without a line are counted, and metrics count all refusals by cause.
final class RefusalLog: Sendable {
    /// The limits in all and for one cause, so that a flood of one cause hides no other.
    private static let linesPerSecond = 10
    private static let linesOfCause = 3
    /// The most lines that may wait to be written, because their reader may have stopped.
    private static let mostWaiting = 100

    private struct State {
        var second: Int64 = .min
        var lines = 0
        var ofCause: [String: Int] = [:]
        var leftOut = 0
        var waiting = 0

        /// The number of refusals before this one that got no line; nil if this one gets none either.
        mutating func enter(_ cause: String, at second: Int64) -> Int? {
            if self.second != second { (self.second, lines, ofCause) = (second, 0, [:]) }
            guard lines < linesPerSecond, ofCause[cause, default: 0] < linesOfCause, waiting < mostWaiting else {
                leftOut += 1
                return nil
            }
            lines += 1
            waiting += 1
            ofCause[cause, default: 0] += 1
            defer { leftOut = 0 }
            return leftOut
        }
    }

    private let write: (@Sendable (String) -> Void)?
    private let state = Mutex(State())
    private let thread = WorkThread()

    /// - Parameter write: takes a line; it may block, and is called on one thread.
    init(_ write: (@Sendable (String) -> Void)?) { self.write = write }

    /// - Parameter app: finds the app; called only if a line is going to be written.
    func tell(
        _ refusal: Refusal, _ label: String, from peer: String, at now: AuthorityInstant, app: () -> String?
    ) {
        guard let write else { return }
        let before = state.withLock { $0.enter("\(label) \(refusal.cause)", at: now.boot / 1_000) }
        guard let before else { return }
        let asker = peer.isEmpty ? "a unix socket" : peer
        let cause = refusal.cause.replacing("_", with: " ")
        let line =
            "refused: \(label), app \(app() ?? "unknown"), from \(asker): "
            + "\(refusal.status) \(refusal.code.rawValue), \(cause): \(refusal.message)"
        do throws(TenonError) {
            try thread.queue.add(thread.queue.ticket()) { [self] _ in
                if before > 0 { write(RefusalLog.text(before)) }
                write(line)
                state.withLock { $0.waiting -= 1 }
            }
        } catch {
            state.withLock { state in
                state.waiting -= 1
                state.leftOut += before + 1
            }
        }
    }

    /// Writes the waiting lines, and the number of refusals without a line.
    func close() async {
        guard let write else { return }
        let left = state.withLock { state in
            defer { state.leftOut = 0 }
            return state.leftOut
        }
        _ = try? await thread.run { () throws(TenonError) in
            if left > 0 { write(RefusalLog.text(left)) }
        }
    }

    private static func text(_ count: Int) -> String {
        "\(count) more \(count == 1 ? "refusal has" : "refusals have") no line: the metrics count them by cause"
    }
}
