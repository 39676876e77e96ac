// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine

/// `tenon status`.
enum StatusCommand {
    static func answer(_ setting: Setting) throws(TenonError) -> Answer {
        let known = try setting.identities()
        if setting.arguments.has("--check") { return try CheckCommand.answer(known, setting) }
        guard !known.isEmpty else {
            return Answer(
                lines: ["no identity in \(try setting.folderPath())"], json: ["identities": []], category: .state)
        }
        let category = known.count == 1 ? self.category(known[0]) : nil
        return Answer(
            lines: known.map { rows($0).joined(separator: "\n") + (known.count > 1 ? "\n" : "") },
            json: ["identities": .array(known.map(json))], category: category)
    }

    /// The category for an identity that may not sign.
    static func category(_ status: IdentityStatus) -> TenonError.Category? {
        if status.isRegistered { return nil }
        return status.state == .keyInvalid ? .gone : .state
    }

    private static func category(_ known: KnownIdentity) -> TenonError.Category? {
        switch known.record {
        case .found(let record): category(record.status)
        case .absent: .state
        case .unreadable(let error): error.code.category
        }
    }

    private static func rows(_ known: KnownIdentity) -> [String] {
        var rows: [(name: String, value: String?)] = [("app", known.name?.appID), ("service", known.name?.baseURL)]
        switch known.record {
        case .found(let record):
            rows += [
                ("state", Format.status(record.status)), ("device", record.status.deviceID),
                ("dialect", record.dialect),
                ("registered", record.registeredAt.map(Format.date)),
                ("attestation", record.attestation?.rawValue),
                ("key", key(record)),
                ("rotated", record.keyRotatedAt.map(Format.date)), ("build", record.isDev ? "dev" : nil),
            ]
        case .absent: rows.append(("state", "absent"))
        case .unreadable(let error): rows.append(("state", "unreadable: \(error.message)"))
        }
        return Answer.rows(rows + [("files", known.id)])
    }

    /// The key that signs, and the current key if it is another one.
    private static func key(_ record: IdentityRecord) -> String? {
        guard let current = record.key(.current) else { return nil }
        let signer = (try? record.activeKey(at: FlowClock.system.bootMoment)) ?? current
        let kept = signer == current ? "" : "; generation \(current.generation) is kept"
        return "generation \(signer.generation)\(kept)"
    }

    private static func json(_ known: KnownIdentity) -> JSON {
        var object = JSONObject()
        object["id"] = .string(known.id)
        object["app_id"] = .or(known.name?.appID)
        object["service"] = .or(known.name?.baseURL)
        guard case .found(let record) = known.record else {
            if case .unreadable(let error) = known.record { object["unreadable"] = .string(error.code.description) }
            return .object(object)
        }
        let status = record.status
        object["state"] = .string(status.state.rawValue)
        object["reason"] = .or(status.reason?.rawValue)
        object["is_registered"] = .bool(status.isRegistered)
        object["device_id"] = .or(status.deviceID)
        object["dialect"] = .string(record.dialect)
        object["registered_at"] = .or(record.registeredAt)
        object["key_rotated_at"] = .or(record.keyRotatedAt)
        object["attestation"] = .or(record.attestation?.rawValue)
        object["dev"] = .bool(record.isDev)
        return .object(object)
    }
}
