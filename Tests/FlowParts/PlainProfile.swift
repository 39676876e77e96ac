// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A service with the features that a test declares, in the simplest JSON.
package struct PlainProfile: ServiceProfile {
    package var declaration: ServiceDeclaration = {
        var declaration = ServiceDeclaration(
            profile: "plain", dialect: "plain", baseURL: "https://service.example", alias: "plain")
        declaration.attestation = .activation
        declaration.rotation = .signedByCurrent(isProven: true)
        declaration.settlements = [.ask, .resend]
        declaration.signatureVersions = [1, 2]
        declaration.verdicts = [
            "INVALID_CHALLENGE": .challengeSpent, "INVALID_ATTESTATION": .attestationRefused,
            "ATTESTATION_FAILED": .attestationFailed, "REJECTED": .rejected,
            "DEVICE_REVOKED": .revoked, "BAD_SIGNATURE": .keyRefused, "NOT_REGISTERED": .keyRefused,
            "CLOCK_SKEW": .clockSkew, "KEY_EXPIRED": .keyExpired, "NONCE_REPLAY": .nonceReplay,
            "ROTATION_FAILED": .rotationRefused, "SIGNATURE_FORM": .formRefused,
        ]
        return declaration
    }()

    package init() {}

    package func text(of key: PublicKey) -> String { TextEncoding.base64.encode(key.derRepresentation) }

    package func challengeRequest(_ device: ServiceDevice, _ offer: AttestationOffer?) throws(TenonError) -> HTTPRequest
    {
        try post("/challenge", ["app_id": .string(device.appID), "offer": .bool(offer != nil)])
    }

    package func challenge(in answer: HTTPResponse) -> ServiceAnswer<ServiceChallenge> {
        guard answer.status == 200, let json = json(answer), let text = json["challenge"]?.string else {
            return failure(answer)
        }
        let isActivated = json["credential"]?.bool ?? false
        return .accepted(
            ServiceChallenge(
                text: text, life: json["ttl"]?.integer.map { .seconds($0) },
                credential: isActivated ? Credential(idObject: Array(text.utf8), encryptedSecret: []) : nil))
    }

    package func qualifyingData(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> [UInt8] {
        try Digest(hashing: Array(((terms.challenge?.text ?? "") + text(of: terms.key)).utf8)).rawRepresentation
    }

    package func registration(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> ServiceDraft {
        var body = JSONObject()
        body["challenge"] = terms.challenge.map { .string($0.text) }
        body["public_key"] = .string(text(of: terms.key))
        body["local_id"] = .string(device.localID)
        body["next"] = terms.next.map { .string(text(of: $0)) }
        body["proof"] = terms.proof.map { .string(TextEncoding.base64.encode($0.dataRepresentation)) }
        body["activation"] = terms.activation.map { .string($0.description) }
        body["slot"] = terms.slot.map { .integer($0) }
        return .ready(try post("/register", .object(body)))
    }

    package func registration(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RegistrationOutcome> {
        guard 200...299 ~= answer.status, let json = json(answer) else { return failure(answer) }
        switch json["status"]?.string {
        case "registered":
            guard let id = json["device_id"]?.string else { return failure(answer) }
            return .accepted(.registered(deviceID: id, attestationCertificates: []))
        case "pending": return .accepted(.pending)
        case "rejected": return .accepted(.rejected)
        default: return failure(answer)
        }
    }

    package func qualifyingData(_ device: ServiceDevice, _ terms: RotationTerms) throws(TenonError) -> [UInt8] {
        try Digest(hashing: Array((terms.stamp.timestamp + text(of: terms.new)).utf8)).rawRepresentation
    }

    package func rotation(_ device: ServiceDevice, _ terms: RotationTerms) throws(TenonError) -> ServiceDraft {
        var body = JSONObject()
        body["device_id"] = device.deviceID.map { .string($0) }
        body["new_public_key"] = .string(text(of: terms.new))
        body["following"] = terms.following.map { .string(text(of: $0)) }
        body["proof"] = terms.proof.map { .string(TextEncoding.base64.encode($0.dataRepresentation)) }
        body["slot"] = terms.slot.map { .integer($0) }
        return try signed("POST", "/rotate", JSON.object(body).encoded(), device, terms.stamp)
    }

    package func rotation(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RotationOutcome> {
        guard 200...299 ~= answer.status, let json = json(answer), json["status"]?.string == "rotated" else {
            return failure(answer)
        }
        return .accepted(
            RotationOutcome(effectiveAt: json["effective_at"]?.number, answeredAt: json["server_time"]?.number))
    }

    package func question(_ device: ServiceDevice, _ stamp: RequestStamp) throws(TenonError) -> ServiceDraft {
        try signed("GET", "/self", [], device, stamp)
    }

    package func holding(in answer: HTTPResponse, of key: PublicKey) -> ServiceAnswer<KeyHolding> {
        guard answer.status == 200, let json = json(answer), let held = json["key"]?.string else {
            return failure(answer)
        }
        return .accepted(held == text(of: key) ? .held : .another)
    }

    package func headers(_ values: RequestHeaders) throws(TenonError) -> [(name: String, value: String)] {
        [
            ("X-Device-ID", values.deviceID), ("X-Signature", values.signature), ("X-Timestamp", values.timestamp),
            ("X-Nonce", values.nonce),
        ]
    }

    package func headers(_ values: SignatureHeaders) throws(TenonError) -> [(name: String, value: String)] {
        [("X-App-ID", values.base.appID), ("X-Device-ID", values.base.deviceID)] + values.standard
    }

    package func signing(in answer: HTTPResponse) -> SigningTerms? {
        guard let told = json(answer)?["signing"], let hosts = told["hosts"]?.array else { return nil }
        return SigningTerms(
            versions: told["versions"]?.array?.compactMap(\.integer) ?? [], hosts: hosts.compactMap(\.string),
            takesBatches: told["batches"]?.bool ?? true, mostMembers: told["batch_max"]?.integer)
    }

    package func refusal(in answer: HTTPResponse) -> ServiceRefusal? {
        let failure: ServiceAnswer<Never> = failure(answer)
        if case .refused(let refusal) = failure { return refusal } else { return nil }
    }

    private func signed(
        _ method: String, _ path: String, _ body: [UInt8], _ device: ServiceDevice, _ stamp: RequestStamp
    ) throws(TenonError) -> ServiceDraft {
        if device.isOnlyVersion2 {
            return .unsigned2(RequestTarget(method, authority: "service.example", path: path), body: body, stamp) {
                (values) throws(TenonError) in
                HTTPRequest(
                    method: method, url: declaration.baseURL + path, headers: try headers(values), body: body)
            }
        }
        var message = try RequestMessage(method: method, path: path, timestamp: stamp.timestamp)
        try message.update(body.span)
        return .unsigned(.request(message)) { (signature) throws(TenonError) in
            let values = try RequestHeaders(
                signature: signature, appID: device.appID, deviceID: device.deviceID ?? "",
                timestamp: stamp.timestamp, nonce: stamp.nonce)
            return HTTPRequest(
                method: method, url: declaration.baseURL + path, headers: try headers(values), body: body)
        }
    }

    private func post(_ path: String, _ body: JSON) throws(TenonError) -> HTTPRequest {
        HTTPRequest(method: "POST", url: declaration.baseURL + path, body: try body.encoded())
    }

    private func json(_ answer: HTTPResponse) -> JSON? { try? JSON(parsing: answer.body) }

    private func failure<Value>(_ answer: HTTPResponse) -> ServiceAnswer<Value> {
        let json = json(answer)
        return declaration.failure(answer, code: json?["code"]?.string, serverTime: json?["server_time"]?.number)
    }
}
