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

    static func none(_ folder: String) -> IdentityCheck {
        IdentityCheck(
            need: .person, text: "There is no identity in \(folder).",
            mend: "Register: tenon register --service URL --app ID")
    }

    /// - Parameter isOnly: whether commands need no flags to select this identity.
    init(_ known: KnownIdentity, isOnly: Bool) {
        let which = isOnly ? "" : known.name.map { " --service \($0.baseURL) --app \($0.appID)" } ?? ""
        func command(_ verb: String, _ flags: String = "") -> String { "tenon \(verb)\(which)\(flags)" }
        switch known.record {
        case .found(let record): self.init(record, command)
        case .absent:
            self.init(
                need: .person, text: "Nothing is left of \(known.id).",
                mend: "Register: tenon register --service URL --app ID")
        case .unreadable(let error):
            let failure = ErrorReport(error)
            self.init(need: .person, text: failure.cause, mend: failure.mend)
        }
    }

    private init(need: Need, text: String, mend: String?) { (self.need, self.text, self.mend) = (need, text, mend) }

    private init(_ record: IdentityRecord, _ command: (_ verb: String, _ flags: String) -> String) {
        let (need, text, mend): (Need, String, String?) =
            switch (record.status.state, record.isRevoked ? .revoked : record.status.reason) {
            case (_, .revoked):
                (
                    .person, "The service revoked this device.",
                    "Begin anew, if whoever revoked it agrees: \(command("reset", " --yes"))"
                )
            case (.keyInvalid, .foreignTPM):
                (
                    .person, "The TPM that was here last did not make the key of this identity.",
                    "With its own TPM back any command goes on; or begin anew: \(command("register", " --disclose-ek"))"
                )
            case (.keyInvalid, .superseded):
                (
                    .person, "The service holds another key than this state knows.",
                    "Register the device anew: \(command("register", " --disclose-ek"))"
                )
            case (.keyInvalid, _):
                (
                    .person, "The TPM was cleared, and the key is gone with it.",
                    "Register the device anew: \(command("register", " --disclose-ek"))"
                )
            case (.registered, _), (.registering, .rotationPending): IdentityCheck.ofRegistered(record, command)
            case (_, .approvalPending):
                (.open, "The service has not decided about this device.", "Ask again later: \(command("register", ""))")
            case (_, _) where record.journal != nil:
                (
                    .open, "A registration was sent, and what came of it is not known.",
                    "Do it again, with the same key: \(command("register", " --disclose-ek"))"
                )
            default:
                (.person, "This device is not registered.", "Register it: \(command("register", " --disclose-ek"))")
            }
        self.init(need: need, text: text, mend: mend)
    }

    private static func ofRegistered(
        _ record: IdentityRecord, _ command: (_ verb: String, _ flags: String) -> String
    ) -> (Need, String, String?) {
        if record.refusedAt != nil {
            return (
                .open, "The service refused all keys of this device, and is asked once more an hour later.",
                "Ask it then: \(command("maintain", ""))"
            )
        }
        if record.status.reason == .rotationPending {
            return (
                .open, "A new key was offered, and the service has not confirmed it.",
                "Settle it: \(command("maintain", ""))"
            )
        }
        if record.isCompromised {
            return (
                .open, "The key was reported as compromised, and is not changed yet.",
                "Change it: \(command("rotate", ""))"
            )
        }
        return (.nothing, "The device is registered, and nothing is open.", nil)
    }
}

/// `tenon status --check`.
enum CheckCommand {
    static func answer(_ known: [KnownIdentity], _ setting: Setting) throws(TenonError) -> Answer {
        var standings: [(name: String, json: JSONObject, standing: IdentityCheck)] = known.map { known in
            let name = known.name.map { "\($0.appID) at \($0.baseURL)" } ?? known.id
            var object = JSONObject()
            object["id"] = .string(known.id)
            object["app_id"] = .or(known.name?.appID)
            object["service"] = .or(known.name?.baseURL)
            return (name, object, IdentityCheck(known, isOnly: isOnly(known, setting)))
        }
        if standings.isEmpty { standings = [("", JSONObject(), .none(try setting.folderPath()))] }
        let worst =
            standings.first { $0.standing.need == .person } ?? standings.first { $0.standing.need == .open }
        return Answer(
            lines: standings.flatMap { lines($0.name, $0.standing) },
            json: ["identities": .array(standings.map { json($0.json, $0.standing) })],
            category: worst?.standing.category)
    }

    /// Whether a command without flags selects this identity.
    private static func isOnly(_ known: KnownIdentity, _ setting: Setting) -> Bool {
        ((try? setting.folder()?.identities().count) ?? 1) == 1
    }

    private static func lines(_ name: String, _ standing: IdentityCheck) -> [String] {
        let head = name.isEmpty ? standing.text : "\(name): \(standing.text)"
        return [head] + (standing.mend.map { ["  " + $0] } ?? [])
    }

    private static func json(_ object: JSONObject, _ standing: IdentityCheck) -> JSON {
        var object = object
        object["needs"] = .string(standing.need.rawValue)
        object["text"] = .string(standing.text)
        object["mend"] = .or(standing.mend)
        return .object(object)
    }
}
