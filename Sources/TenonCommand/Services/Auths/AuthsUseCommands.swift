// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuths
internal import TenonCommandLine

/// `tenon auths sign`.
enum AuthsSignCommand {
    private static let longest = 16 << 20

    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        // Read first: a pipe that fails costs no use of the TPM.
        let data = try SmallFile.read("-", atMost: longest)
        let signature = try await setting.identity().signPlain(data)
        let hex = TextEncoding.hex.encode(signature.rawRepresentation)
        return Answer(lines: [hex], json: ["signature": .string(hex)])
    }
}

/// `tenon auths present`.
enum AuthsPresentCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let arguments = setting.arguments
        let identity = try setting.identity()
        let known = try setting.identities().compactMap(\.name).first { $0.appID == identity.appID }
        guard let name = known else { throw TenonError(.notRegistered, message: "This device is not registered.") }
        let origin = try HTTPURL(parsing: name.baseURL).origin
        let audience = try arguments.value("--audience") ?? origin
        let nonce: [UInt8]
        if let given = try arguments.value("--nonce") {
            nonce = try TextEncoding.base64url.decode(given)
        } else {
            nonce = try await challenge(name.baseURL, setting)
        }
        let value = try await identity.presentation(
            credential: arguments.value("--credential"), audience: audience, nonce: nonce)
        return Answer(
            lines: ["Authorization: \(value)"], json: ["name": "Authorization", "value": .string(value)])
    }

    private static func challenge(_ baseURL: String, _ setting: Setting) async throws(TenonError) -> [UInt8] {
        let request = HTTPRequest(
            method: "GET", url: baseURL + "/v1/auth/challenge", headers: [("Accept", "application/json")])
        let answer = try await setting.transport().exchange(request, deadline: .now + setting.limits().exchange)
        guard answer.status == 200, let text = (try? JSON(parsing: answer.body))?["nonce"]?.string,
            let nonce = try? TextEncoding.base64url.decode(text)
        else {
            throw TenonError(
                .serviceAnswer, message: "The service gave no nonce (HTTP \(answer.status)).",
                mend: "Take a nonce of the verifier: --nonce BASE64URL", httpStatus: answer.status)
        }
        return nonce
    }
}
