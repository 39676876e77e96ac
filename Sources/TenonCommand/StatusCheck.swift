// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// What an identity needs, for `status --check`. It reads only the disk.
struct IdentityCheck {
    enum Need: String {
        case nothing
        /// Something is not settled, and a command settles it.
        case open
        /// A person has to act.
        case person
    }

    let need: Need
    let text: String
    /// One action that works from here.
    let mend: String?

    /// The exit code for a monitor.
    var category: TenonError.Category? {
        switch need {
        case .nothing: nil
        case .open: .unknown
        case .person: .state
        }
    }

    /// A verb with the flags that select the identity, as it is typed.
    private typealias Command = (_ verb: String, _ flags: String) -> String

    private static let register = "Register: tenon register --service URL --app ID"

    /// The result when there is no identity at all.
    static func none(_ folder: String) -> IdentityCheck {
        IdentityCheck(need: .person, text: "There is no identity in \(folder).", mend: register)
    }

    /// - Parameter isOnly: whether commands need no flags to select this identity.
    static func of(_ known: KnownIdentity, isOnly: Bool) -> IdentityCheck {
        switch known.record {
        case .found(let record):
            let which = isOnly ? "" : known.name.map { " --service \($0.baseURL) --app \($0.appID)" } ?? ""
            let service = (try? Services.of(record.name)) ?? Services.all[0]
            return of(record, "tenon register\(which)\(service.registerFlags)") { verb, flags in
                "tenon \(verb)\(which)\(flags)"
            }
        case .absent:
            return IdentityCheck(need: .person, text: "There is no record of \(known.id).", mend: register)
        case .unreadable(let error):
            let report = ErrorReport(error)
            return IdentityCheck(need: .person, text: report.cause, mend: report.mend)
        }
    }

    /// - Parameter register: the command that registers, with the flags that the service needs.
    private static func of(_ record: IdentityRecord, _ register: String, _ command: Command) -> IdentityCheck {
        let (need, text, mend): (Need, String, String?) =
            switch (record.status.state, record.isRevoked ? .revoked : record.status.reason) {
            case (_, .revoked), (.keyInvalid, _): ofLost(record, register, command)
            case (.registered, _), (.registering, .rotationPending): ofRegistered(record, command)
            case (_, .approvalPending):
                (.open, "The service has not decided about this device.", "Ask again later: \(command("register", ""))")
            case (_, _) where record.journal != nil:
                (
                    .open, "A registration was sent, but its outcome is unknown.",
                    "Continue with the same key: \(register)"
                )
            default:
                (.person, "This device is not registered.", "Register it: \(register)")
            }
        return IdentityCheck(need: need, text: text, mend: mend)
    }

    private static func ofLost(
        _ record: IdentityRecord, _ register: String, _ command: Command
    ) -> (Need, String, String?) {
        if record.isRevoked || record.status.reason == .revoked {
            return (
                .person, "The service revoked this device.",
                "If the service's operator agrees, start again: \(command("reset", " --yes"))"
            )
        }
        return switch record.status.reason {
        case .foreignTPM:
            (
                .person, "The TPM that was here last did not make the key of this identity.",
                "With its own TPM, any command continues; or start again: \(register)"
            )
        case .superseded:
            (
                .person, "The service holds a key that this state does not know.",
                "Register the device again: \(register)"
            )
        default:
            (.person, "The TPM was cleared, so the key is lost.", "Register the device again: \(register)")
        }
    }

    private static func ofRegistered(_ record: IdentityRecord, _ command: Command) -> (Need, String, String?) {
        if record.refusedAt != nil {
            return (
                .open, "The service refused all keys of this device, and must be asked again an hour later.",
                "Ask it then: \(command("maintain", ""))"
            )
        }
        if record.status.reason == .rotationPending {
            return (
                .open, "A new key was offered, but the service has not confirmed it.",
                "Settle it: \(command("maintain", ""))"
            )
        }
        if record.isCompromised {
            return (
                .open, "The key was reported as compromised, but has not been changed yet.",
                "Change it: \(command("rotate", ""))"
            )
        }
        return (.nothing, "The device is registered, and nothing is open.", nil)
    }
}

/// `tenon status --check`.
enum CheckCommand {
    static func answer(_ known: [KnownIdentity], _ setting: Setting) throws(TenonError) -> Answer {
        var checks: [(name: String, json: JSONObject, check: IdentityCheck)] = known.map { known in
            let name = known.name.map { "\($0.appID) at \($0.baseURL)" } ?? known.id
            var object = JSONObject()
            object["id"] = .string(known.id)
            object["app_id"] = .or(known.name?.appID)
            object["service"] = .or(known.name?.baseURL)
            return (name, object, IdentityCheck.of(known, isOnly: isOnly(known, setting)))
        }
        if checks.isEmpty { checks = [("", JSONObject(), .none(try setting.folderPath()))] }
        let worst =
            checks.first { $0.check.need == .person } ?? checks.first { $0.check.need == .open }
        return Answer(
            lines: checks.flatMap { lines($0.name, $0.check) },
            json: ["identities": .array(checks.map { json($0.json, $0.check) })],
            category: worst?.check.category)
    }

    /// Whether a command without flags selects this identity.
    private static func isOnly(_ known: KnownIdentity, _ setting: Setting) -> Bool {
        ((try? setting.folder()?.identities().count) ?? 1) == 1
    }

    private static func lines(_ name: String, _ check: IdentityCheck) -> [String] {
        let head = name.isEmpty ? check.text : "\(name): \(check.text)"
        return [head] + (check.mend.map { ["  " + $0] } ?? [])
    }

    private static func json(_ object: JSONObject, _ check: IdentityCheck) -> JSON {
        var object = object
        object["needs"] = .string(check.need.rawValue)
        object["text"] = .string(check.text)
        object["mend"] = .or(check.mend)
        return .object(object)
    }
}
