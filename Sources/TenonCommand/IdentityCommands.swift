// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine

/// `tenon register`.
enum RegisterCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let identity = try setting.identityToRegister(log: Progress.log)
        let registration = try await identity.register()
        let members: [String: JSON] = [
            "app_id": .string(identity.appID), "device_id": .string(registration.deviceID),
        ]
        guard registration.status == .alreadyRegistered else {
            return answer("registered as \(registration.deviceID)", "registered", "took_the_key", members)
        }
        let (text, word) = try await learnt(identity)
        let line = "already registered as \(registration.deviceID); \(text)"
        return answer(line, "already_registered", word, members)
    }

    /// Asks the service about a device that this state calls registered: the service may have forgotten it.
    private static func learnt(_ identity: DeviceIdentity) async throws(TenonError) -> (text: String, word: String) {
        guard identity.hasQuestion else {
            return ("the service was not asked, because its dialect has no endpoint for that", "not_asked")
        }
        do throws(TenonError) {
            try await identity.resolve()
        } catch  where [.transient, .unknown, .unavailable].contains(error.code.category) {
            return ("the service could not be asked: \(ErrorReport(error).cause)", "not_reached")
        }
        guard try identity.status().reason != .rotationPending else {
            return ("the service holds its key, and a rotation is open: tenon maintain", "holds_the_key")
        }
        return ("the service holds its key", "holds_the_key")
    }

    private static func answer(_ line: String, _ status: String, _ service: String, _ members: [String: JSON]) -> Answer
    {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        object["status"] = .string(status)
        object["service"] = .string(service)
        return Answer(lines: [line], json: .object(object))
    }
}

/// `tenon rotate`.
enum RotateCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let identity = try setting.identity(log: Progress.log)
        if setting.arguments.has("--if-due") {
            guard try identity.status().isRegistered, let due = try identity.rotationDue() else {
                throw TenonError(.notRegistered, message: "This device is not registered.")
            }
            guard due <= Int64(time(nil)) else {
                return Answer(
                    lines: ["not due before \(Format.date(due))"], json: ["rotated": false, "due": .integer(due)])
            }
        }
        let rotation = try await identity.rotate()
        let from = rotation.effectiveAt.map { " from \(Format.date($0)) on" } ?? ""
        return Answer(
            lines: ["the new key signs\(from)"], json: ["rotated": true, "effective_at": .or(rotation.effectiveAt)])
    }
}

/// `tenon maintain`.
enum MaintainCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let identity = try setting.identity(log: Progress.log)
        let left = try await identity.maintain()
        let status = try identity.status()
        let due = try identity.rotationDue()
        return Answer(
            lines: [text(left, status, due)],
            json: [
                "state": .string(status.state.rawValue), "reason": .or(status.reason?.rawValue), "due": .or(due),
            ],
            category: category(left, status))
    }

    private static func text(_ left: Maintenance, _ status: IdentityStatus, _ due: Int64?) -> String {
        switch left {
        case .done: "done; the key is due for rotation after \(due.map(Format.date) ?? "-")"
        case .waits(let time): "the service accepted the new key, which signs from \(Format.date(time)) on"
        case .rotationOpen(newKeySigns: true):
            "open: the service refused the old key and did not confirm the new one, which signs now; both are kept"
        case .rotationOpen(newKeySigns: false):
            "open: the service did not accept the new key, and the old one signs; both are kept: tenon rotate"
        case .stopped: Format.status(status)
        }
    }

    /// An open rotation is not a success; the same command continues it.
    private static func category(_ left: Maintenance, _ status: IdentityStatus) -> TenonError.Category? {
        if case .rotationOpen = left { return .unknown }
        return StatusCommand.category(status)
    }
}

/// `tenon reset`.
enum ResetCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        guard setting.arguments.has("--yes") else {
            throw TenonError(
                .options,
                message: "A reset cannot be undone, and the service is not told.",
                mend: "To reset: --yes")
        }
        let identity = try setting.identity(withTPM: false)
        try await identity.reset()
        let keys = identity.removesKeys ? "the keys were removed" : "the keys are in the attic: tenon keys list"
        return Answer(lines: ["reset; \(keys)"], json: ["reset": true])
    }
}
