// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension Synheart {
    package func challenge(in answer: HTTPResponse) -> ServiceAnswer<ServiceChallenge> {
        read(answer) { payload in
            guard let text = payload.challengeText, let credential = payload.credential else { return nil }
            guard text.isLongBase64 else { return .refused(ServiceRefusal(verdict: nil, error: .challengeForm)) }
            return .accepted(
                ServiceChallenge(text: text, life: payload.life(date: answer.date), credential: credential.value))
        }
    }

    package func registration(
        in answer: HTTPResponse, to request: HTTPRequest
    ) -> ServiceAnswer<RegistrationOutcome> {
        read(answer) { payload in
            guard let status = RegistrationStatus(payload), let deviceID = payload.deviceID else { return nil }
            switch status {
            case .rejected: return .accepted(.rejected)
            case .pending: return .accepted(.pending)
            case .registered:
                guard let deviceID = deviceID.value else { return nil }
                return .accepted(.registered(deviceID: deviceID, attestationCertificates: payload.certificates))
            }
        }
    }

    package func rotation(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RotationOutcome> {
        read(answer) { payload in
            guard let status = payload["status"]?.string, ["rotated", "ok", "success"].contains(status) else {
                return nil
            }
            let answeredAt = Envelope(answer)?.answeredAt
            return .accepted(RotationOutcome(effectiveAt: payload.effectiveAt, answeredAt: answeredAt))
        }
    }

    package func holding(in answer: HTTPResponse, of key: PublicKey) -> ServiceAnswer<KeyHolding> {
        read(answer) { payload in
            guard let held = payload["key_thumbprint"]?.string, let thumbprint = try? key.thumbprint else { return nil }
            switch payload["status"]?.string {
            case "revoked": return .accepted(.revoked)
            case "registered", "active": return .accepted(held == thumbprint ? .held : .another)
            default: return nil
            }
        }
    }

    package func refusal(in answer: HTTPResponse) -> ServiceRefusal? {
        guard !(200...299 ~= answer.status) else { return nil }
        let failure: ServiceAnswer<Never> = read(answer) { _ in nil }
        return if case .refused(let refusal) = failure { refusal } else { nil }
    }

    /// Reads an answer of the configured service: the transport has seen to it that nobody else gave it.
    ///
    /// - Parameter take: what a success says; nil when it does not say what was asked for.
    private func read<Value>(
        _ answer: HTTPResponse, _ take: (JSON) -> ServiceAnswer<Value>?
    ) -> ServiceAnswer<Value> {
        let body = Envelope(answer)
        if 200...299 ~= answer.status, let payload = body?.payload, let taken = take(payload) { return taken }
        let told = body?.code
        let header = answer.only("X-Synheart-Error").flatMap { $0.isVisible(atMost: 64) ? $0 : nil }
        let isKnown = told.flatMap { Self.verdicts[$0] } != nil
        return declaration.failure(
            answer, code: isKnown ? told : header ?? told,
            serverTime: body?.serverTime ?? answer.only("X-Server-Timestamp").flatMap(Self.seconds))
    }

    private static func seconds(_ text: String) -> Double? {
        text.utf8.count <= 12 && text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Double(text) : nil
    }
}

extension TenonError {
    fileprivate static let challengeForm = TenonError(
        .challengeForm, message: "The service's challenge is not base64 of at least 32 bytes: it could be guessed.")
}

extension HTTPResponse {
    /// The value of a header that is there once.
    fileprivate func only(_ name: String) -> String? {
        let values = values(of: name)
        return values.count == 1 ? values[0].trimmed : nil
    }

    /// The server's clock, to the second.
    fileprivate var date: Duration? { only("Date").flatMap(CivilDate.http) }
}
