// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension AuthorityEngine {
    // Operators ask over the admin socket, whose peer is authenticated there (decision: listeners).

    /// `?app=ID&state=pending&from=PLACE&limit=N`. Each may be left out, and `after=DEVICE` may replace `from`.
    func devices(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        var values: [Substring: Substring] = [:]
        for part in (request.query ?? "").split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, ["app", "state", "from", "after", "limit"].contains(pair[0]), values[pair[0]] == nil
            else {
                throw Refusal(.invalidRequest, "The query is malformed.")
            }
            values[pair[0]] = pair[1]
        }
        guard values["from"] == nil || values["after"] == nil else {
            throw Refusal(.invalidRequest, "The query gives the start twice.")
        }
        var from = try values["from"].map { text throws(Refusal) in try number(text, 0...Int64.max) }
        if let id = try values["after"].map(AuthorityRequest.unescaped) { from = try await place(behind: id) }
        let limit = try values["limit"].map { text throws(Refusal) in try number(text, 1...1_000) } ?? 100
        let app = try values["app"].map(AuthorityRequest.unescaped)
        guard values["state"] == nil || values["state"] == "pending" else {
            throw Refusal(.invalidRequest, "The state in the query must be pending.")
        }
        let isPending = values["state"] != nil
        let page = try await waiting { [from] () throws(TenonError) in
            isPending
                ? try await stores.devices.pendingDevices(app: app, from: from, limit: Int(limit))
                : try await stores.devices.devices(app: app, from: from, limit: Int(limit))
        }
        return try AuthorityAnswer([
            "devices": .array(page.devices.map { $0.listed }), "next": page.next.map(JSON.integer),
            "damaged": page.damaged.isEmpty ? nil : .array(page.damaged.map(JSON.string)),
        ])
    }

    private func place(behind id: String) async throws(Refusal) -> Int64 {
        let place = try await waiting { () throws(TenonError) in try await stores.devices.place(ofDevice: id) }
        guard let place else { throw Refusal(.notFound, "The device to start after does not exist.") }
        return place + 1
    }

    private func number(_ text: Substring, _ range: ClosedRange<Int64>) throws(Refusal) -> Int64 {
        guard let number = Int64(text), range ~= number else {
            throw Refusal(.invalidRequest, "A number in the query is invalid.")
        }
        return number
    }

    func authorities() throws(Refusal) -> AuthorityAnswer {
        try AuthorityAnswer([
            "issuer": .bytes(keys.issuer.certificate), "roots": .array(keys.roots.map(JSON.bytes)),
        ])
    }

    /// Takes one of `device_id` with `app_id`, `serial` and `ek_id`; the reason is for the audit log. With `dry_run`,
    /// it only says what would happen. Devices come in pages; `dry_run` with `from` asks for the next page.
    func revoke(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let message = try request.message()
        let revocation = try refusing(Refusal.init(form:)) { () throws(TenonError) in try named(message) }
        let reason = try refusing(Refusal.init(form:)) { () throws(TenonError) in try message.reason() }
        let (isDry, from) = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            (try message.bool("dry_run") ?? false, try message.integer("from") ?? 0)
        }
        guard from == 0 || isDry && from > 0 else {
            throw Refusal(.invalidRequest, "\"from\" needs dry_run.")
        }
        let now = clock.now()
        let outcome = try await changing { () throws(TenonError) in
            isDry
                ? try await stores.devices.preview(revocation, at: now)
                : try await stores.devices.revoke(revocation, reason: reason, at: now)
        }
        guard outcome.found || isEK(revocation) else { throw Refusal(.notFound, "Nothing with this name is stored.") }
        let page = outcome.devices.dropFirst(Int(from)).prefix(Self.revokedOfPage)
        return try AuthorityAnswer([
            "found": .bool(outcome.found), "certificates": .integer(Int64(outcome.certificates)),
            "device": outcome.device.map { $0.listed }, "devices": .array(page.map { $0.named }),
            "devices_in_all": .integer(Int64(outcome.devices.count)),
            "next": page.endIndex < outcome.devices.endIndex ? .integer(Int64(page.endIndex)) : nil,
            "tpm": outcome.tpm.map { .string($0.rawValue) }, "dry_run": isDry ? true : nil,
        ])
    }

    /// An answer has at most 64 KiB.
    private static let revokedOfPage = 50

    /// Tells an operator whether a change was made, or that this is not known.
    private func changing<Value: Sendable>(
        _ body: () async throws(TenonError) -> Value
    ) async throws(Refusal) -> Value {
        do throws(TenonError) {
            return try await body()
        } catch {
            guard error.code == .outcomeUnknown else { throw Refusal(operator: error) }
            throw Refusal(
                .outcomeUnknown,
                "It is not known whether this was done. \(error.message) The same command again does it only once, and "
                    + "`tenon-authority devices` shows what is stored.", retryAfter: 1)
        }
    }

    /// Whether an EK is named, which may be denied before it is known.
    private func isEK(_ revocation: Revocation) -> Bool {
        if case .ek = revocation { true } else { false }
    }

    private func named(_ message: MessageObject) throws(TenonError) -> Revocation {
        let device = try message.text("device_id", maxBytes: 128)
        let serial = try message.text("serial", maxBytes: 64)
        let ek = try message.text("ek_id", maxBytes: 64)
        switch (device, serial, ek) {
        case (let device?, nil, nil):
            guard let app = try message.text("app_id", maxBytes: 200) else { throw message.missing("app_id") }
            return .device(app: app, id: device, compromised: try message.bool("compromised") ?? false)
        case (nil, let serial?, nil): return .certificate(serial: try TextEncoding.hex.decode(serial))
        case (nil, nil, let ek?): return .ek(try hidden(ek))
        default: throw message.refusal("device_id", "or serial or ek_id must be given, and only one of them")
        }
    }

    private func hidden(_ ekID: String) throws(TenonError) -> Digest {
        let bytes = try TextEncoding.hex.decode(ekID)
        return try keys.hidden(Digest(rawRepresentation: bytes))
    }

    /// Takes `device_id` and `decision`, which is `approve` or `reject`; the reason is for the audit log.
    func decide(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let message = try request.message()
        let (id, approval, reason) = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            guard let id = try message.text("device_id", maxBytes: 128) else { throw message.missing("device_id") }
            guard let word = try message.text("decision", maxBytes: 16) else { throw message.missing("decision") }
            guard let approval = Approval(rawValue: word) else {
                throw message.refusal("decision", "must be approve or reject")
            }
            return (id, approval, try message.reason())
        }
        let outcome = try await waiting { () throws(TenonError) in
            try await stores.devices.decide(approval, device: id, reason: reason)
        }
        switch outcome {
        case .decided(let device): return try AuthorityAnswer(["device": device.listed, "changed": true])
        case .already(let device): return try AuthorityAnswer(["device": device.listed, "changed": false])
        case .unknownDevice: throw Refusal(.notFound, "Nothing with this name is stored.")
        case .notPending(let device):
            throw Refusal(
                .notAllowed, "The device is not waiting for a decision: it is \(device.state.rawValue).", status: 409)
        case .ekDenied:
            throw Refusal(
                .notAllowed, "The device's TPM has been revoked. Reject the device, or allow the TPM.", status: 409)
        }
    }

    func allow(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let message = try request.message()
        let (ek, reason) = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            guard let ek = try message.text("ek_id", maxBytes: 64) else { throw message.missing("ek_id") }
            return (try hidden(ek), try message.reason())
        }
        let wasDenied = try await changing { () throws(TenonError) in
            try await stores.devices.allow(ek: ek, reason: reason)
        }
        return try AuthorityAnswer(["found": .bool(wasDenied)])
    }
}

extension MessageObject {
    /// The reason, limited by its length in the audit log, where a control character takes six bytes.
    fileprivate func reason() throws(TenonError) -> String {
        let reason = try text("reason", maxBytes: 1_000) ?? ""
        guard try JSON.string(reason).encoded().count <= 1_002 else {
            throw refusal("reason", "is longer than 1000 bytes in the audit log")
        }
        return reason
    }
}

extension Device {
    /// The members whose values the authority itself chose, so that they are short.
    fileprivate var named: JSON {
        [
            "device_id": .string(id), "app_id": .string(app), "state": .string(state.rawValue),
            "attestation": .string(level.rawValue), "key_thumbprint": .string(thumbprint),
            "registered_at": .integer(registeredAt),
        ]
    }

    /// The members that operators see of a device, which do not include its TPM.
    fileprivate var listed: JSON {
        var object = JSONObject()
        object["device_id"] = .string(id)
        object["app_id"] = .string(app)
        object["state"] = .string(state.rawValue)
        object["attestation"] = .string(level.rawValue)
        object["key_thumbprint"] = .string(thumbprint)
        object["ak_serial"] = akSerial.map { .string(TextEncoding.hex.encode($0)) }
        object["platform"] = platform.map(JSON.string)
        object["device_local_id"] = localID.map(JSON.string)
        object["registered_at"] = .integer(registeredAt)
        object["key_rotated_at"] = keyRotatedAt.map(JSON.integer)
        object["revoked_at"] = revokedAt.map(JSON.integer)
        return .object(object)
    }
}
