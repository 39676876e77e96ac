// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonSynheart

// libFuzzer over what a Synheart service may answer, and over the texts of dates and URLs: nothing traps, and what is
// taken has the form that it is taken for. The first byte says what the rest is, the second the status.

private let now = Moment(continuous: .now, sinceEpoch: .seconds(1_795_276_800))
private let service = try? Synheart(baseURL: "http://localhost/auth", appID: "app_1", dialect: .tenon)
private let key = try? SoftwareKey().publicKey
private let statuses = [200, 201, 204, 302, 400, 401, 403, 409, 429, 500, 503]

private func must(_ condition: Bool) { precondition(condition) }

private func isVisible(_ text: String, _ limit: Int) -> Bool {
    1...limit ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7e ~= $0 }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard input.count >= 2, let service, let key else { return 0 }
    let body = Array(input.dropFirst(2))
    let isJSON = input[1] & 0x80 == 0
    let answer = HTTPResponse(
        status: statuses[Int(input[1] & 0x7f) % statuses.count],
        headers: [
            ("Content-Type", isJSON ? "application/json" : "text/html"), ("Date", "Sat, 21 Nov 2026 16:00:00 GMT"),
        ], body: body, sent: now, received: now)
    let request = HTTPRequest(method: "POST", url: "http://localhost/")
    switch input[0] % 7 {
    case 0: check(service.challenge(in: answer))
    case 1: check(service.registration(in: answer, to: request), isJSON)
    case 2: check(service.rotation(in: answer, to: request), isJSON)
    case 3: must(isJSON || verdict(service.holding(in: answer, of: key)) == nil)
    case 4: must(isJSON || service.refusal(in: answer)?.verdict == nil)
    case 5: checkDates(String(decoding: body, as: UTF8.self))
    default: checkURL(String(decoding: body, as: UTF8.self))
    }
    return 0
}

private func verdict<Value>(_ answer: ServiceAnswer<Value>) -> ServiceVerdict? {
    if case .refused(let refusal) = answer { refusal.verdict } else { nil }
}

private func check(_ answer: ServiceAnswer<ServiceChallenge>) {
    guard case .accepted(let challenge) = answer else { return }
    must(isVisible(challenge.text, 1024) && challenge.text.utf8.count >= 43)
    must(challenge.life.map { $0 >= .zero } ?? true)
    if let credential = challenge.credential {
        must(credential.idObject.count > 2 && credential.encryptedSecret.count > 2)
    }
}

private func check(_ answer: ServiceAnswer<RegistrationOutcome>, _ isJSON: Bool) {
    if case .accepted(let outcome) = answer {
        must(isJSON)
        if case .registered(let deviceID, let certificates) = outcome {
            must(isVisible(deviceID, 128))
            must(certificates.count <= 4 && certificates.allSatisfy { 1...4096 ~= $0.count })
        }
    }
    must(isJSON || verdict(answer) == nil)
}

private func check(_ answer: ServiceAnswer<RotationOutcome>, _ isJSON: Bool) {
    if case .accepted(let outcome) = answer {
        must(isJSON)
        for time in [outcome.effectiveAt, outcome.answeredAt] { must(time.map { 1e9..<1e12 ~= $0 } ?? true) }
    }
    must(isJSON || verdict(answer) == nil)
}

private func checkDates(_ text: String) {
    let century = Duration.seconds(Int64(8_100) * 366 * 86_400)
    for date in [CivilDate.iso8601(text), CivilDate.http(text)] {
        must(date.map { Duration.seconds(-86_400)...century ~= $0 } ?? true)
    }
}

/// A value that is read and written is read again as the same.
private func checkURL(_ text: String) {
    if let base = (try? Synheart(baseURL: text, appID: "a"))?.declaration.baseURL {
        must(!base.hasSuffix("/"))
        must((try? Synheart(baseURL: base, appID: "a"))?.declaration.baseURL == base)
    }
    for isStripped in [false, true] {
        guard let path = try? SigningPath.of(text, strippingIngest: isStripped) else { continue }
        must(path.hasPrefix("/") && isVisible(path, Int.max) && !path.contains("?") && !path.contains("#"))
    }
}
