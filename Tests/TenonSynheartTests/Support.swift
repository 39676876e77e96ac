// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonSynheart

/// 2026-11-21 16:00:00.
let now = Duration.seconds(1_795_276_800)
let nowText = "Sat, 21 Nov 2026 16:00:00 GMT"

func service(_ dialect: Dialect = .docs) throws -> Synheart {
    try Synheart(baseURL: "http://localhost/auth", appID: "app_1", dialect: dialect)
}

/// An answer that took a second.
func answer(
    _ status: Int, _ body: String, type: String? = "application/json", date: String? = nowText,
    headers: [(name: String, value: String)] = []
) -> HTTPResponse {
    let sent = Moment(continuous: .now, sinceEpoch: now)
    let received = Moment(continuous: sent.continuous + .seconds(1), sinceEpoch: now + .seconds(1))
    let common = [type.map { ("Content-Type", $0) }, date.map { ("Date", $0) }].compactMap { $0 }
    return HTTPResponse(
        status: status, headers: common + headers, body: Array(body.utf8), sent: sent, received: received)
}

/// The result of an answer, for comparison.
enum Outcome: Equatable {
    case accepted
    case refused(ServiceVerdict?)
    case later
    case unclear

    init<Value>(_ answer: ServiceAnswer<Value>) {
        switch answer {
        case .accepted: self = .accepted
        case .refused(let refusal): self = .refused(refusal.verdict)
        case .later: self = .later
        case .unclear: self = .unclear
        }
    }
}

extension ServiceAnswer {
    var value: Value? {
        if case .accepted(let value) = self { value } else { nil }
    }

    var error: TenonError? {
        switch self {
        case .accepted: nil
        case .refused(let refusal): refusal.error
        case .later(let error), .unclear(let error): error
        }
    }

    var refusal: ServiceRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}

/// 32 bytes and 31, in base64.
let challengeText = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
let shortText = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg=="
