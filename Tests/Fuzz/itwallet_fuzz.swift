// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonITWallet

// libFuzzer over what an IT-Wallet provider may answer, and over the tokens that it issues: nothing traps, and what is
// taken has the form that it is taken for. The first byte says what the rest is, the second the status.

private let now = Moment(continuous: .now, sinceEpoch: .seconds(1_795_276_800))
private let key = try? SoftwareKey().publicKey
private let statuses = [200, 201, 204, 302, 400, 401, 403, 404, 409, 422, 429, 500, 503]
private let types = ["application/json", "application/problem+json", "text/html"]

private func must(_ condition: Bool) { precondition(condition) }

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard input.count >= 2, let key else { return 0 }
    let dialect = WalletDialect.all[Int(input[0] >> 4) % WalletDialect.all.count]
    guard let service = try? ITWallet(baseURL: "http://localhost/it", appID: "app", dialect: dialect) else { return 0 }
    let body = Array(input.dropFirst(2))
    let type = types[Int(input[1] >> 5) % types.count]
    let answer = HTTPResponse(
        status: statuses[Int(input[1] & 0x1f) % statuses.count], headers: [("Content-Type", type)], body: body,
        sent: now, received: now)
    switch input[0] & 0xf {
    case 0: check(service.challenge(in: answer), isJSON: type != types[2])
    case 1:
        let request = HTTPRequest(method: "POST", url: "http://localhost/", body: body)
        check(service.registration(in: answer, to: request), answer)
    case 2: checkToken(String(decoding: body, as: UTF8.self), key)
    default: if let json = try? JSON(parsing: body), let found = PublicKey(jwk: json) { checkKey(found) }
    }
    return 0
}

private func check(_ answer: ServiceAnswer<ServiceChallenge>, isJSON: Bool) {
    guard case .accepted(let challenge) = answer else { return }
    must(isJSON && ClientData.isNonce(challenge.text))
    let data = try? ClientData.use("nonce", nonce: challenge.text, thumbprint: "t")
    let read = data.flatMap { try? JSON(parsing: $0) }
    // What is hashed is JSON, and a reader of it finds the nonce as it came.
    must(read?["nonce"]?.string == challenge.text)
}

private func check(_ answer: ServiceAnswer<RegistrationOutcome>, _ response: HTTPResponse) {
    switch answer {
    case .accepted(.registered(let deviceID, _)): must(response.status == 204 && !deviceID.isEmpty)
    case .accepted: preconditionFailure("there is no other outcome")
    case .refused(let refusal): must(refusal.verdict != .revoked && refusal.verdict != .rejected)
    case .later, .unclear: break
    }
}

private func checkToken(_ text: String, _ key: PublicKey) {
    guard let token = try? JWS(parsing: text) else { return }
    must(token.header["alg"]?.string == "ES256" && text.split(separator: ".").count == 3)
    must(!token.isSigned(by: key))
}

private func checkKey(_ key: PublicKey) { must(PublicKey(jwk: key.jwk) == key) }
