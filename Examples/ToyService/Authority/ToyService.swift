// SPDX-License-Identifier: Apache-2.0
internal import Tenon
package import TenonAuthority

extension HostedService {
    /// A service to read beside a real one: forms in the place of JSON, one header that signs a request, and a table.
    /// Its apps are told apart by the path, and none attests anything.
    package static let toy = HostedService(
        name: "toy",
        routes: [
            ServiceRoute("/toy/{app}/nonce", "POST", maxBody: 0) { call throws(Refusal) in
                try await ToySteps(call).nonce()
            },
            ServiceRoute("/toy/{app}/enrol", "POST", maxBody: 1_024) { call throws(Refusal) in
                try await ToySteps(call).enrol()
            },
            ServiceRoute("/toy/{app}/visit", "POST") { call throws(Refusal) in try await ToySteps(call).visit() },
        ],
        settings: { section, _ throws(TenonError) in
            ToySettings(longestName: try section.integer("longest_name", 1...64, default: 32))
        },
        tables: ["CREATE TABLE toy_devices (device TEXT PRIMARY KEY, name TEXT NOT NULL, visits BIGINT NOT NULL)"],
        refusal: { refusal, _ in
            let word = refusal.code.rawValue.lowercased().replacing("_", with: "-")
            return ToyForm.answer(["error": word, "text": refusal.message], status: refusal.status)
        })
}

private struct ToySettings: ServiceSettings { let longestName: Int }

private struct ToySteps {
    let engine: AuthorityEngine
    let request: AuthorityRequest
    let app: AppRecord
    let settings: ToySettings

    init(_ call: ServiceCall) throws(Refusal) {
        guard let app = call.app, let settings = app.settings(ToySettings.self) else { throw .unknownApp }
        (engine, request, self.app, self.settings) = (call.engine, call.request, try call.engine.app(app.id), settings)
    }

    func nonce() async throws(Refusal) -> AuthorityAnswer {
        let issued = try await engine.issueChallenge(to: app, by: request, dialect: "toy")
        return ToyForm.answer(["nonce": issued.text])
    }

    func enrol() async throws(Refusal) -> AuthorityAnswer {
        let form = try ToyForm(parsing: String(decoding: request.body, as: UTF8.self))
        let (nonce, keyText, name) = (try form.text("nonce"), try form.text("key"), try form.text("name"))
        guard name.utf8.count <= settings.longestName else { throw Refusal(.invalidRequest, "The name is too long.") }
        let entry = try await engine.redeem(nonce, for: app, at: engine.origin(of: request))
        let key = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try PublicKey(derRepresentation: TextEncoding.base64.decode(keyText))
        }
        let evidence = KeyEvidence(
            challenge: nonce, keyText: keyText, proof: nil, activation: nil, isDevelopment: false
        ) { () throws(TenonError) in try Digest(bindingChallenge: nonce, toKeyText: keyText) }
        let assurance = try await engine.assurance(of: key, by: evidence, redeeming: entry, for: app)
        let device = try await engine.register(
            key, assurance, for: app, redeeming: nonce, platform: nil, localID: nil
        ) { device, connection throws(TenonError) in
            try connection.run(
                "INSERT INTO toy_devices VALUES (?, ?, 0) ON CONFLICT (device) DO UPDATE SET name=excluded.name",
                .text(device.id), .text(name))
        }
        return ToyForm.answer(["id": device.id])
    }

    func visit() async throws(Refusal) -> AuthorityAnswer {
        let header = try request.header("Authorization") ?? ""
        let form = try ToyForm(parsing: header.hasPrefix("Toy ") ? String(header.dropFirst(4)) : "")
        let (id, nonce, time) = (try form.text("id"), try form.text("nonce"), try form.text("time"))
        let encoded = try form.text("signature")
        let signature = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try Signature(derRepresentation: TextEncoding.base64.decode(encoded))
        }
        guard let seconds = Int64(time) else { throw Refusal(.invalidRequest, "The time is not a number.") }
        let signed = DeviceRequest(
            app: app.id, device: id, signature: signature, version: 1, timestamp: seconds, nonce: nonce
        ) { [request] () throws(Refusal) in
            try refusing(Refusal.init(form:)) { () throws(TenonError) in
                var message = try RequestMessage(method: request.method, path: request.path, timestamp: time)
                try message.update(request.body.span)
                return try message.finish()
            }
        }
        let device = try await engine.verify(signed).device
        let (name, visits) = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.step { connection throws(TenonError) in
                let rows = try connection.run(
                    "UPDATE toy_devices SET visits=visits+1 WHERE device=? RETURNING name, visits", .text(device.id))
                return (try rows.first?.text(0) ?? "", try rows.first?.integer(1) ?? 0)
            }
        }
        return ToyForm.answer(["name": name, "visits": String(visits)])
    }
}

private struct ToyForm {
    private var members: [Substring: String] = [:]

    init(parsing text: String) throws(Refusal) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, members[parts[0]] == nil else {
                throw Refusal(.invalidRequest, "The form is not well-formed.")
            }
            members[parts[0]] = try AuthorityRequest.unescaped(parts[1].replacing("+", with: " "))
        }
    }

    func text(_ name: String) throws(Refusal) -> String {
        guard let text = members[name[...]] else { throw Refusal(.invalidRequest, "\(name) is missing.") }
        return text
    }

    static func answer(_ members: KeyValuePairs<String, String>, status: Int = 200) -> AuthorityAnswer {
        let pairs = members.map { name, value in
            name + "="
                + value.utf8.map { byte in
                    let isPlain = 0x30...0x39 ~= byte || 0x41...0x5a ~= byte || 0x61...0x7a ~= byte || byte == 0x2d
                    return isPlain ? String(UnicodeScalar(byte)) : "%" + TextEncoding.hex.encode([byte])
                }.joined()
        }
        let type = (name: "Content-Type", value: "application/x-www-form-urlencoded")
        return AuthorityAnswer(status: status, headers: [type], body: Array(pairs.joined(separator: "&").utf8))
    }
}
