// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority
internal import TenonCommandLine

/// `tenon-authority devices`.
enum DevicesCommand {
    static func run(_ arguments: Arguments) async throws(TenonError) {
        let client = try AdminClient(arguments)
        var app = try arguments.value("--app").map { "&app=" + AdminClient.escaped($0) } ?? ""
        if arguments.has("--pending") { app += "&state=pending" }
        var from = try arguments.value("--after").map { "&after=" + AdminClient.escaped($0) } ?? ""
        var (left, damaged) = (try limit(arguments), 0)
        // Each page is printed before the next one is asked for, so that memory never holds all of them.
        repeat {
            let body = try await client.get("/v1/devices?limit=\(min(left, pageSize))\(app)\(from)")
            let page = try JSON(parsing: body)
            let (devices, bad) = (page["devices"]?.array ?? [], page["damaged"]?.array ?? [])
            if arguments.has("--json") {
                Output.line(String(decoding: body, as: UTF8.self))
            } else {
                Output.text(devices.map { line($0) + "\n" }.joined())
            }
            try Output.check()
            for id in bad { Output.error("tenon-authority: the device \(id.string ?? "-") is damaged and left out") }
            (left, damaged) = (left - devices.count - bad.count, damaged + bad.count)
            from = page["next"]?.integer.map { "&from=\($0)" } ?? ""
        } while !from.isEmpty && left > 0
        guard damaged == 0 else {
            throw TenonError(
                .storeCorrupt,
                message: "\(damaged) of the devices cannot be read from the store. Restore their rows from a backup.")
        }
    }

    /// The number of devices that fit into an answer.
    private static let pageSize = 100

    private static func limit(_ arguments: Arguments) throws(TenonError) -> Int {
        guard let text = try arguments.value("--limit") else { return .max }
        guard let limit = Int(text), limit > 0 else { throw arguments.mistake("--limit must be a number, at least 1.") }
        return limit
    }

    /// `devices approve` and `devices reject`.
    static func decide(_ decision: String, _ arguments: Arguments) async throws(TenonError) {
        let message: JSON = [
            "device_id": .string(arguments.operands[0]), "decision": .string(decision),
            "reason": .string(try arguments.value("--reason") ?? ""),
        ]
        let body = try await AdminClient(arguments).post("/v1/decide", message)
        if arguments.has("--json") { return Output.line(String(decoding: body, as: UTF8.self)) }
        let answer = try JSON(parsing: body)
        Output.line(line(answer["device"] ?? .null))
        guard answer["changed"] == true else { return Output.line("This was already decided.") }
        Output.line(
            decision == "approve"
                ? "The device is approved. It finds out when it registers again, with `tenon register`."
                : "The device is rejected. Its machine may register another key, which waits again; "
                    + "`tenon-authority revoke --compromised` refuses the machine.")
    }

    static func line(_ device: JSON) -> String {
        ["device_id", "app_id", "state", "attestation", "key_thumbprint"]
            .map { device[$0]?.string ?? "-" }.joined(separator: "\t")
    }
}

/// `tenon-authority revoke` and `allow`.
enum RevokeCommand {
    static func run(_ arguments: Arguments) async throws(TenonError) {
        var message = try message(arguments)
        var answer = try await ask("/v1/revoke", message, arguments)
        let first = answer
        tellDevices(answer, arguments)
        while let next = answer["next"]?.integer {
            (message["dry_run"], message["from"]) = (true, .integer(next))
            answer = try await ask("/v1/revoke", message, arguments)
            tellDevices(answer, arguments)
        }
        if !arguments.has("--json") { first["device"] == nil ? tell(first) : tellRevoked(first) }
    }

    private static func message(_ arguments: Arguments) throws(TenonError) -> [String: JSON] {
        var message: [String: JSON] = ["reason": .string(try arguments.value("--reason") ?? "")]
        let named = (
            device: arguments.operands.first, serial: try arguments.value("--serial"),
            ek: try arguments.value("--ek")
        )
        switch named {
        case (let device?, nil, nil):
            guard let app = try arguments.value("--app") else {
                throw arguments.mistake("Give the device's --app, too.")
            }
            message["device_id"] = .string(device)
            message["app_id"] = .string(app)
            message["compromised"] = .bool(arguments.has("--compromised"))
        case (nil, _, _) where arguments.has("--compromised"):
            throw arguments.mistake("--compromised needs a device.")
        case (nil, let serial?, nil): message["serial"] = .string(serial)
        case (nil, nil, let ek?): message["ek_id"] = .string(ek)
        default: throw arguments.mistake("Give exactly one of a device, --serial and --ek.")
        }
        if arguments.has("--dry-run") { message["dry_run"] = true }
        return message
    }

    private static func tellDevices(_ answer: JSON, _ arguments: Arguments) {
        guard !arguments.has("--json") else { return }
        for device in answer["devices"]?.array ?? [] { Output.line(DevicesCommand.line(device)) }
    }

    /// Says what was revoked, and whether the machine may register again, which can surprise an operator.
    private static func tellRevoked(_ answer: JSON) {
        if answer["dry_run"] == true { Output.line("Nothing was changed. Without --dry-run, this would happen:") }
        let count = answer["devices_in_all"]?.integer ?? 1
        Output.line(count == 1 ? "1 device is revoked." : "All \(count) devices of this TPM are revoked.")
        let app = answer["device"]?["app_id"]?.string ?? "APP"
        switch answer["tpm"]?.string {
        case "denied":
            Output.line(
                "Its TPM is denied: nothing with its endorsement key can register in any app. "
                    + "To undo that: tenon-authority allow --ek EK_ID "
                    + "(tenon doctor --disclose-ek prints EK_ID on that machine)")
        case "allowed":
            Output.line(
                "Its machine can register again as another device. To prevent that: tenon-authority revoke --app \(app) "
                    + "--compromised \(answer["device"]?["device_id"]?.string ?? "DEVICE")")
        default:
            Output.line(
                "Its machine can register again: it registered without an attestation, so its TPM is unknown. "
                    + "To prevent that, set require_attestation for the app \(app).")
        }
    }

    private static func tell(_ answer: JSON) {
        let isDry = answer["dry_run"] == true
        let isKnown = answer["found"] == true
        switch (isDry, isKnown) {
        case (false, true): Output.line("done")
        case (false, false): Output.line("it was unknown; recorded all the same")
        case (true, _):
            let count = answer["certificates"]?.integer ?? 0
            Output.line("Nothing was changed. AK certificates that would be revoked: \(count)")
        }
    }

    static func allow(_ arguments: Arguments) async throws(TenonError) {
        guard let ek = try arguments.value("--ek") else {
            throw arguments.mistake("Give --ek.")
        }
        let reason = try arguments.value("--reason") ?? ""
        let answer = try await ask("/v1/allow", ["ek_id": .string(ek), "reason": .string(reason)], arguments)
        if !arguments.has("--json") { tell(answer) }
    }

    /// Asks, and prints the answer if JSON is wanted.
    private static func ask(
        _ target: String, _ message: [String: JSON], _ arguments: Arguments
    ) async throws(TenonError) -> JSON {
        var object = JSONObject()
        for (name, value) in message { object[name] = value }
        let body = try await AdminClient(arguments).post(target, .object(object))
        if arguments.has("--json") { Output.line(String(decoding: body, as: UTF8.self)) }
        return try JSON(parsing: body)
    }
}

/// `tenon-authority health`.
enum HealthCommand {
    static func run(_ arguments: Arguments) async throws(TenonError) {
        let body = try await AdminClient(arguments).get("/v1/health")
        let json = try JSON(parsing: body)
        if arguments.has("--json") {
            Output.line(String(decoding: body, as: UTF8.self))
        } else {
            for member in json.object?.members ?? [] {
                Output.line("\(member.key)\t\(member.value.string ?? member.value.integer.map(String.init) ?? "-")")
            }
        }
        guard json["status"]?.string == "ok" else {
            throw TenonError(
                .storeFailed, message: "The authority has a fault: \(json["fault"]?.string ?? "see above").")
        }
    }
}

/// `tenon-authority metrics`.
enum MetricsCommand {
    static func run(_ arguments: Arguments) async throws(TenonError) {
        Output.text(String(decoding: try await AdminClient(arguments).get("/metrics"), as: UTF8.self))
    }
}
