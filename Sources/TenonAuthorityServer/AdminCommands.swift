// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine

/// `tenon-authority devices`.
enum DevicesCommand {
    static func run(_ arguments: Arguments) async throws(TenonError) {
        let client = try AdminClient(arguments)
        let app = try arguments.value("--app").map { "&app=" + AdminClient.escaped($0) } ?? ""
        var from = try arguments.value("--after").map { "&after=" + AdminClient.escaped($0) } ?? ""
        var (left, damaged) = (try limit(arguments), 0)
        // A page is printed before the next is asked for: nobody holds all of them.
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
            for id in bad { Output.error("tenon-authority: the device \(id.string ?? "-") is damaged, and left out") }
            (left, damaged) = (left - devices.count - bad.count, damaged + bad.count)
            from = page["next"]?.integer.map { "&from=\($0)" } ?? ""
        } while !from.isEmpty && left > 0
        guard damaged == 0 else {
            throw TenonError(
                .storeCorrupt,
                message: "\(damaged) of the devices cannot be read from the store: restore their rows from a backup.")
        }
    }

    /// What fits into an answer.
    private static let pageSize = 100

    private static func limit(_ arguments: Arguments) throws(TenonError) -> Int {
        guard let text = try arguments.value("--limit") else { return .max }
        guard let limit = Int(text), limit > 0 else { throw arguments.mistake("--limit is a number from 1.") }
        return limit
    }

    private static func line(_ device: JSON) -> String {
        ["device_id", "app_id", "state", "attestation", "key_thumbprint"]
            .map { device[$0]?.string ?? "-" }.joined(separator: "\t")
    }
}

/// `tenon-authority revoke` and `allow`.
enum RevokeCommand {
    static func run(_ arguments: Arguments) async throws(TenonError) {
        var message: [String: JSON] = ["reason": .string(try arguments.value("--reason") ?? "")]
        let named = (
            device: arguments.operands.first, serial: try arguments.value("--serial"),
            ek: try arguments.value("--ek")
        )
        switch named {
        case (let device?, nil, nil):
            guard let app = try arguments.value("--app") else {
                throw arguments.mistake("Say the device's --app, too.")
            }
            message["device_id"] = .string(device)
            message["app_id"] = .string(app)
            message["compromised"] = .bool(arguments.has("--compromised"))
        case (nil, let serial?, nil): message["serial"] = .string(serial)
        case (nil, nil, let ek?): message["ek_id"] = .string(ek)
        default: throw arguments.mistake("Name a device, or --serial, or --ek, and one of them alone.")
        }
        try await ask("/v1/revoke", message, arguments)
    }

    static func allow(_ arguments: Arguments) async throws(TenonError) {
        guard let ek = try arguments.value("--ek") else {
            throw arguments.mistake("Say which --ek.")
        }
        let reason = try arguments.value("--reason") ?? ""
        try await ask("/v1/allow", ["ek_id": .string(ek), "reason": .string(reason)], arguments)
    }

    private static func ask(
        _ target: String, _ message: [String: JSON], _ arguments: Arguments
    ) async throws(TenonError) {
        var object = JSONObject()
        for (name, value) in message { object[name] = value }
        let body = try await AdminClient(arguments).post(target, .object(object))
        if arguments.has("--json") { return Output.line(String(decoding: body, as: UTF8.self)) }
        Output.line(try JSON(parsing: body)["found"] == .bool(true) ? "done" : "it was not known; noted all the same")
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
                .storeFailed, message: "The authority is not well: \(json["fault"]?.string ?? "see above").")
        }
    }
}

/// `tenon-authority metrics`.
enum MetricsCommand {
    static func run(_ arguments: Arguments) async throws(TenonError) {
        Output.text(String(decoding: try await AdminClient(arguments).get("/metrics"), as: UTF8.self))
    }
}
