// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine
internal import TenonHTTP

/// `tenon sign`.
enum SignCommand {
    private struct Request {
        let method: String
        let path: String
        let url: String
        let data: String?
    }

    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let arguments = setting.arguments
        if arguments.has("--send") { return try await SendCommand.answer(setting) }
        guard arguments.all("--header").isEmpty else {
            throw arguments.mistake("--header needs --send. You can add headers to the printed ones yourself.")
        }
        let form = try form(arguments)
        let (method, target) = (arguments.operands[0], arguments.operands[1])
        let data = try arguments.value("--data")
        // A file that cannot be read is reported before the TPM is used.
        var source = try ByteSource(data ?? "")
        let identity = try setting.identity()
        let url = target.hasPrefix("/") ? try origin(setting, identity.appID) + target : target
        let path = try path(url, target, setting.service(of: identity), arguments)
        var signer = try await identity.request(method, path: path)
        while let chunk = try source.next() { try signer.update(chunk) }
        let signed = try await signer.sign()
        let request = Request(method: method, path: path, url: url, data: data)
        let json = json(signed, request)
        if form == "json" { return Answer(lines: [String(decoding: try json.encoded(), as: UTF8.self)], json: json) }
        return Answer(lines: form == "curl" ? [curl(signed, request)] : headers(signed), json: json)
    }

    private static func form(_ arguments: Arguments) throws(TenonError) -> String {
        let form = try arguments.value("--format") ?? "headers"
        guard ["headers", "curl", "json"].contains(form) else {
            throw arguments.mistake("--format must be headers, curl or json.")
        }
        return form
    }

    /// The path that is signed. It follows the rules of a URL's path: the same characters, no dots, and no query.
    private static func path(
        _ url: String, _ target: String, _ service: CommandService, _ arguments: Arguments
    ) throws(TenonError) -> String {
        guard target.hasPrefix("/") || target.lowercased().hasPrefix("http") else {
            throw TenonError(.path, message: "\(target) is neither a path that begins with a slash nor a URL.")
        }
        do throws(TenonError) {
            return try service.signedPath(url, arguments)
        } catch  where error.code == .httpURL && target.hasPrefix("/") {
            throw TenonError(.path, message: "The path has a character that a URL must escape. Escape it.")
        }
    }

    /// The origin of the service, which the record keeps.
    private static func origin(_ setting: Setting, _ app: String) throws(TenonError) -> String {
        let known = try setting.identities().first { $0.name?.appID == app }
        guard case .found(let record)? = known?.record else { return "http://localhost" }
        return record.origin
    }

    private static func headers(_ signed: SignedRequest) -> [String] {
        signed.headers.map { "\($0.name): \($0.value)" }
    }

    private static func curl(_ signed: SignedRequest, _ request: Request) -> String {
        // curl must send exactly what was signed: it would expand brackets, and resolve dots in the path.
        var words = ["curl", "--globoff", "--path-as-is", "-X", request.method]
        for line in headers(signed) { words += ["-H", quoted(line)] }
        if let data = request.data { words += ["--data-binary", quoted(data)] }
        return (words + [quoted(request.url)]).joined(separator: " ")
    }

    /// The text as one word of a shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static func json(_ signed: SignedRequest, _ request: Request) -> JSON {
        var headers = JSONObject()
        for (name, value) in signed.headers { headers[name] = .string(value) }
        return [
            "method": .string(request.method), "path": .string(request.path), "url": .string(request.url),
            "headers": .object(headers), "app_id": .string(signed.appID), "device_id": .string(signed.deviceID),
            "signature": .string(signed.signature), "timestamp": .string(signed.timestamp),
            "nonce": .string(signed.nonce), "signature_version": .string(signed.signatureVersion),
        ]
    }
}
