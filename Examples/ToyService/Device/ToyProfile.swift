// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The toy service on the device: what it asks and answers, in forms.
package struct ToyProfile: ServiceProfile {
    package let declaration: ServiceDeclaration
    private let name: String

    package init(baseURL: String, name: String) {
        var declaration = ServiceDeclaration(profile: "toy", dialect: "toy", baseURL: baseURL, alias: "toy")
        declaration.isAttestationRequired = false
        declaration.verdicts = ["invalid-challenge": .challengeSpent, "device-revoked": .revoked]
        declaration.errorTypes = ["application/x-www-form-urlencoded"]
        (self.declaration, self.name) = (declaration, name)
    }

    package func text(of key: PublicKey) -> String { TextEncoding.base64.encode(key.derRepresentation) }

    package func challengeRequest(_ device: ServiceDevice, _ offer: AttestationOffer?) throws(TenonError) -> HTTPRequest
    {
        HTTPRequest(method: "POST", url: declaration.baseURL + "/nonce")
    }

    package func challenge(in answer: HTTPResponse) -> ServiceAnswer<ServiceChallenge> {
        guard answer.status == 200, let nonce = form(answer)["nonce"] else { return failure(answer) }
        return .accepted(ServiceChallenge(text: nonce))
    }

    package func registration(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> ServiceDraft {
        let body = encoded(["nonce": terms.challenge?.text ?? "", "key": text(of: terms.key), "name": name])
        return .ready(HTTPRequest(method: "POST", url: declaration.baseURL + "/enrol", body: Array(body.utf8)))
    }

    package func registration(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RegistrationOutcome> {
        guard answer.status == 200, let id = form(answer)["id"] else { return failure(answer) }
        return .accepted(.registered(deviceID: id, attestationCertificates: []))
    }

    package func headers(_ values: RequestHeaders) throws(TenonError) -> [(name: String, value: String)] {
        let value = encoded([
            "id": values.deviceID, "time": values.timestamp, "nonce": values.nonce, "signature": values.signature,
        ])
        return [("Authorization", "Toy " + value)]
    }

    private func failure<Value>(_ answer: HTTPResponse) -> ServiceAnswer<Value> {
        declaration.failure(answer, code: form(answer)["error"])
    }

    private func encoded(_ members: KeyValuePairs<String, String>) -> String {
        members.map { name, value in
            name + "="
                + value.replacing("%", with: "%25").replacing("&", with: "%26").replacing("+", with: "%2b")
                .replacing("=", with: "%3d").replacing(" ", with: "+")
        }.joined(separator: "&")
    }

    private func form(_ answer: HTTPResponse) -> [Substring: String] {
        var members: [Substring: String] = [:]
        for pair in String(decoding: answer.body, as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=")
            guard parts.count == 2 else { continue }
            let pieces = parts[1].split(separator: "%", omittingEmptySubsequences: false)
            let tails = pieces.dropFirst().flatMap { piece in
                ((try? TextEncoding.hex.decode(String(piece.prefix(2)))) ?? []) + Array(piece.dropFirst(2).utf8)
            }
            members[parts[0]] = String(decoding: Array(pieces[0].utf8) + tails, as: UTF8.self)
        }
        return members
    }
}
