// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// What is answered; what frames the body, and the date, are the sockets'.
package struct AuthorityAnswer: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A body of JSON with the members that are not nil; nobody keeps it: it is about one device, now.
    init(_ members: KeyValuePairs<String, JSON?>) throws(Refusal) {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        try self.init(object)
    }

    init(_ object: JSONObject) throws(Refusal) {
        self.init(encoded: try refusing { () throws(TenonError) in try JSON.object(object).encoded() })
    }

    /// The same of a body that is encoded.
    init(encoded body: [UInt8], status: Int = 200) {
        self.init(
            status: status, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")], body: body)
    }

    /// As docs/synheart.md has it: the code, a sentence, and the time by which a device may set its clock right.
    init(_ refusal: Refusal, at now: AuthorityInstant) {
        let json: JSON = [
            "error_code": .string(refusal.code.rawValue), "message": .string(refusal.message),
            "server_timestamp": .integer(now.seconds),
        ]
        self.init(encoded: (try? json.encoded()) ?? [], status: refusal.status)
        headers += [("x-server-timestamp", String(now.seconds)), ("x-synheart-error", refusal.code.rawValue)]
        if let seconds = refusal.retryAfter { headers.append(("Retry-After", String(seconds))) }
    }
}
