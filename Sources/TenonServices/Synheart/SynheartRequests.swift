// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension Synheart: ServiceProfile {
    package var declaration: ServiceDeclaration {
        var declaration = ServiceDeclaration(
            profile: "synheart", dialect: dialect.name, baseURL: service.text, alias: "synheart_auth_\(appID)")
        declaration.attestation = dialect.attestation
        declaration.isAttestationRequired = requiresAttestation
        declaration.rotation = dialect.rotation
        declaration.settlements = dialect.settlements
        declaration.verdicts = Self.verdicts
        declaration.signatureVersions = signatureVersions
        return declaration
    }

    /// The key as base64 of its SubjectPublicKeyInfo (docs/synheart.md).
    package func text(of key: PublicKey) -> String { TextEncoding.base64.encode(key.derRepresentation) }

    package func challengeRequest(
        _ device: ServiceDevice, _ offer: AttestationOffer?
    ) throws(TenonError) -> HTTPRequest {
        let body = JSON.members([
            ("app_id", .string(device.appID)),
            ("ek_certificates", offer.map { .array($0.endorsementCertificates.map(JSON.base64)) }),
            ("ak_public", offer.map { .base64($0.attestationKey.dataRepresentation) }),
            // Only `tenon` knows it; another service ignores it.
            ("parent_name", offer?.parent.map { .base64($0) }),
        ])
        return Endpoint.challenge.request(at: service, try body.encoded())
    }

    /// The hash of the challenge and the key, exactly as they are sent.
    package func qualifyingData(
        _ device: ServiceDevice, _ terms: RegistrationTerms
    ) throws(TenonError) -> [UInt8] {
        try Digest(bindingChallenge: terms.challenge?.text ?? "", toKeyText: text(of: terms.key)).rawRepresentation
    }

    package func registration(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> ServiceDraft {
        guard let challenge = terms.challenge else { throw .missing("a challenge") }
        guard let proof = terms.proof.map({ TextEncoding.base64url.encode($0.dataRepresentation) }) ?? DevMode.noProof
        else { throw TenonError(.attestationUnavailable, message: "A device cannot register without a proof.") }
        let body = JSON.members([
            ("app_id", .string(device.appID)), ("challenge", .string(challenge.text)),
            ("public_key", .string(text(of: terms.key))), ("platform", .string(declaration.platform)),
            ("proof", .string(proof)), ("device_local_id", .string(device.localID)),
            ("activation_proof", terms.activation.map { .base64($0.rawRepresentation) }),
            ("sig_versions", offeredVersions),
        ])
        return .ready(Endpoint.register.request(at: service, try body.encoded()))
    }

    /// The hash that a rotation's proof carries (decision: attested-rotation).
    package func qualifyingData(_ device: ServiceDevice, _ terms: RotationTerms) throws(TenonError) -> [UInt8] {
        try Digest.rotationNonce(
            origin: service.origin, appID: device.appID, deviceID: device.deviceID ?? "",
            oldKeyText: text(of: terms.current), newKeyText: text(of: terms.new), timestamp: terms.stamp.timestamp
        ).rawRepresentation
    }

    package func rotation(_ device: ServiceDevice, _ terms: RotationTerms) throws(TenonError) -> ServiceDraft {
        let deviceID = try device.registeredID()
        let body = JSON.members([
            ("app_id", .string(device.appID)), ("device_id", .string(deviceID)),
            ("new_public_key", .string(text(of: terms.new))),
            ("proof", terms.proof.map { .string(TextEncoding.base64url.encode($0.dataRepresentation)) }),
            ("parent_name", terms.parent.map { .base64($0) }),
            ("sig_versions", offeredVersions),
        ])
        return try draft(.rotateKey, try body.encoded(), device, terms.stamp)
    }

    package func question(_ device: ServiceDevice, _ stamp: RequestStamp) throws(TenonError) -> ServiceDraft {
        try draft(.own, [], device, stamp)
    }

    package func headers(_ values: RequestHeaders) -> [(name: String, value: String)] { values.lines + DevMode.headers }

    package func headers(_ values: SignatureHeaders) -> [(name: String, value: String)] {
        values.lines + DevMode.headers
    }

    /// Not sent where there is no choice, as the documented fields are then all.
    private var offeredVersions: JSON? {
        signatureVersions == [1] ? nil : .array(signatureVersions.map { .integer($0) })
    }

    /// The draft of a request that a key of the device signs.
    private func draft(
        _ endpoint: Endpoint, _ body: [UInt8], _ device: ServiceDevice, _ stamp: RequestStamp
    ) throws(TenonError) -> ServiceDraft {
        let deviceID = try device.registeredID()
        if device.isOnlyVersion2 { return draft2(endpoint, body, stamp) }
        var message = try RequestMessage(
            method: endpoint.method, path: endpoint.path(at: service), timestamp: stamp.timestamp)
        try message.update(body)
        return .unsigned(.request(message)) { [service] signature throws(TenonError) in
            let headers = try RequestHeaders(
                signature: signature, appID: device.appID, deviceID: deviceID, timestamp: stamp.timestamp,
                nonce: stamp.nonce)
            return endpoint.request(at: service, body, signed: headers.lines)
        }
    }
}

extension Synheart {
    /// The same by version 2, which covers the host and the content type, too.
    private func draft2(_ endpoint: Endpoint, _ body: [UInt8], _ stamp: RequestStamp) -> ServiceDraft {
        let target = RequestTarget(
            endpoint.method, authority: String(service.origin.drop { $0 != "/" }.dropFirst(2)),
            path: endpoint.path(at: service), contentType: endpoint.contentType)
        return .unsigned2(target, body: body, stamp) { [service] values throws(TenonError) in
            endpoint.request(at: service, body, signed: values.lines)
        }
    }
}

extension ServiceDevice {
    fileprivate func registeredID() throws(TenonError) -> String {
        guard let deviceID else { throw .missing("a device id") }
        return deviceID
    }
}

extension TenonError {
    fileprivate static func missing(_ what: String) -> TenonError {
        TenonError(.serviceStep, message: "This step of the service needs \(what).")
    }
}

extension JSON {
    /// An object of the members that are not nil.
    fileprivate static func members(_ members: [(String, JSON?)]) -> JSON {
        var object = JSONObject()
        for (key, value) in members { object[key] = value }
        return .object(object)
    }

    fileprivate static func base64(_ bytes: [UInt8]) -> JSON { .string(TextEncoding.base64.encode(bytes)) }
}

/// The endpoints of the auth service (docs/synheart.md), and `self` (decision: own-endpoints).
enum Endpoint: String, CaseIterable {
    case challenge
    case register
    case rotateKey = "rotate-key"
    case own = "self"

    var method: String { self == .own ? "GET" : "POST" }

    /// nil for a request without a body.
    var contentType: String? { self == .own ? nil : "application/json" }

    /// The path that is sent and signed.
    func path(at service: ServiceURL) -> String { "\(service.path)/v1/device/\(rawValue)" }

    /// A request to the endpoint, with the headers of its signature if it is signed.
    func request(
        at service: ServiceURL, _ body: [UInt8] = [], signed: [(name: String, value: String)] = []
    ) -> HTTPRequest {
        var headers = [(name: "Accept", value: "application/json")] + DevMode.headers + signed
        if let contentType { headers.append(("Content-Type", contentType)) }
        return HTTPRequest(method: method, url: service.origin + path(at: service), headers: headers, body: body)
    }
}

extension RequestHeaders {
    /// The six headers of a signed request (docs/synheart.md).
    var lines: [(name: String, value: String)] {
        [
            ("X-App-ID", appID), ("X-Device-ID", deviceID), ("X-Synheart-Signature", signature),
            ("X-Synheart-Timestamp", timestamp), ("X-Synheart-Nonce", nonce),
            ("X-Synheart-Sig-Version", signatureVersion),
        ]
    }
}

extension SignatureHeaders {
    /// The six headers of a signed request of version 2 (docs/signing.md).
    var lines: [(name: String, value: String)] {
        [("X-App-ID", base.appID), ("X-Device-ID", base.deviceID), ("X-Synheart-Sig-Version", "2")] + standard
    }
}
