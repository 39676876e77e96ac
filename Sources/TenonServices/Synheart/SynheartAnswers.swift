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

    package func signing(in answer: HTTPResponse) -> SigningTerms? {
        guard signatureVersions.contains(2), 200...299 ~= answer.status,
            let announced = Envelope(answer)?.payload?["signing"]
        else { return nil }
        return announced.signingTerms
    }

    package func refusal(in answer: HTTPResponse) -> ServiceRefusal? {
        guard !(200...299 ~= answer.status) else { return nil }
        let failure: ServiceAnswer<Never> = read(answer) { _ in nil }
        return if case .refused(let refusal) = failure { refusal } else { nil }
    }

    /// Reads an answer; the transport guarantees that it comes from the configured service.
    ///
    /// - Parameter take: reads the payload of a success; it returns nil when the payload is not what was asked for.
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
        .challengeForm, message: "The service's challenge is not base64 of at least 32 bytes, so it could be guessed.")
}

extension HTTPResponse {
    /// The value of a header that appears exactly once.
    fileprivate func only(_ name: String) -> String? {
        let values = values(of: name)
        return values.count == 1 ? values[0].trimmed : nil
    }

    /// The server's clock, to the second.
    fileprivate var date: Duration? { only("Date").flatMap(CivilDate.http) }
}

/// A body that is a JSON object, and the envelope around its payload (docs/synheart.md).
struct Envelope {
    private let object: JSON

    /// nil for a body that is not declared as JSON, or is not a JSON object.
    init?(_ answer: HTTPResponse) {
        let types = answer.values(of: "Content-Type")
        guard types.count == 1, Self.isJSON(types[0]), let object = try? JSON(parsing: answer.body),
            object.object != nil
        else { return nil }
        self.object = object
    }

    /// The `data` member, or the whole object without one; nil when the body reports a failure.
    var payload: JSON? {
        guard object["success"].isAbsent || object["success"] == true, !tellsFailure else { return nil }
        guard let data = object["data"], !data.isNull else { return object }
        return data.object == nil ? nil : data
    }

    /// The code of a failure: the first known code, or else the first code.
    var code: String? {
        let codes = places.flatMap { place in
            place.string.map { [$0] } ?? ["error_code", "code", "error"].compactMap { place[$0]?.string }
        }.filter { $0.isVisible(atMost: 64) }
        return codes.first { Synheart.verdicts[$0] != nil } ?? codes.first
    }

    /// The service's time in seconds since 1970.
    var serverTime: Double? { places.lazy.compactMap { $0["server_timestamp"]?.number }.first }

    /// The time at which the service says it answered.
    var answeredAt: Double? {
        places.lazy.compactMap { $0["server_timestamp"]?.unixSeconds ?? $0["timestamp"]?.unixSeconds }.first
    }

    /// The places that may report a failure, the most likely first.
    private var places: [JSON] {
        [object, object["error"], object["data"], object["data"]?["error"], object["detail"]].compactMap { $0 }
    }

    private var tellsFailure: Bool {
        let empty: [JSON?] = [nil, .null, false, ""]
        return !empty.contains(object["error"]) || !empty.contains(object["error_code"])
            || code.flatMap { Synheart.verdicts[$0] } != nil
    }

    private static func isJSON(_ type: String) -> Bool {
        type.prefix { $0 != ";" }.trimmed.lowercased() == "application/json"
    }
}

extension JSON? {
    /// Whether the member is missing or null.
    var isAbsent: Bool { self?.isNull ?? true }
}

extension StringProtocol {
    /// The text without the spaces and tabs around it.
    var trimmed: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }

    /// Whether the text has 1 to `limit` bytes, each 0x21-0x7E, so that it may appear in a header.
    func isVisible(atMost limit: Int) -> Bool {
        1...limit ~= utf8.count && utf8.allSatisfy { 0x21...0x7e ~= $0 }
    }
}
