// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine
internal import TenonHTTP

/// `tenon sign`.
enum SignCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let arguments = setting.arguments
        _ = try SignTarget.form(arguments)
        if arguments.has("--lines") { return try await SignLinesCommand.answer(setting) }
        for (index, name) in ["METHOD", "PATH"].enumerated() where arguments.operands.count == index {
            throw arguments.mistake("sign needs \(name).")
        }
        if arguments.has("--send") { return try await SendCommand.answer(setting) }
        let format = try format(arguments)
        let headers = try HeaderLines(arguments)
        let data = try arguments.value("--data")
        // A file that cannot be read is reported before the TPM is used.
        var source = try ByteSource(data ?? "")
        let identity = try setting.identity()
        let target = try SignTarget(setting, identity, arguments.operands[0], arguments.operands[1], headers)
        var signer = try await identity.request(target.parts)
        while let chunk = try source.next() { try signer.update(chunk) }
        let signed = try await signer.sign()
        try target.checkForm(of: signed)
        let shown = ShownRequest(signed, target, headers, data)
        let json = shown.json
        if format == "json" { return Answer(lines: [String(decoding: try json.encoded(), as: UTF8.self)], json: json) }
        return Answer(lines: format == "curl" ? [shown.curl] : shown.lines, json: json)
    }

    private static func format(_ arguments: Arguments) throws(TenonError) -> String {
        let format = try arguments.value("--format") ?? "headers"
        guard ["headers", "curl", "json"].contains(format) else {
            throw arguments.mistake("--format must be headers, curl or json.")
        }
        return format
    }
}

/// The headers that `--header` gives, which a request is sent with. Version 2 signs two of them.
struct HeaderLines {
    let lines: [(name: String, value: String)]

    init(_ arguments: Arguments) throws(TenonError) {
        lines = try arguments.all("--header").map { line throws(TenonError) in
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
                throw arguments.mistake("--header must be NAME: VALUE, not \(line).")
            }
            return (String(line[..<colon]), String(line[colon...].dropFirst().drop { $0 == " " }))
        }
        for name in ["content-type", "content-encoding"] where values(of: name).count > 1 {
            throw arguments.mistake("A request has one header \(name), not \(values(of: name).count).")
        }
    }

    init(_ lines: [(name: String, value: String)]) { self.lines = lines }

    var contentType: String? { values(of: "content-type").first }
    var contentEncoding: String? { values(of: "content-encoding").first }

    private func values(of name: String) -> [String] {
        lines.filter { $0.name.lowercased() == name }.map(\.value)
    }
}

/// The method and URL of a request, and the parts of it that are signed.
struct SignTarget {
    let parts: RequestParts
    let url: String

    init(
        _ setting: Setting, _ identity: DeviceIdentity, _ method: String, _ target: String, _ headers: HeaderLines,
        mustBeKnown: Bool = false
    ) throws(TenonError) {
        let origin = target.hasPrefix("/") ? try Self.origin(setting, identity.appID, mustBeKnown) : ""
        let path = try Self.path(origin + target, target, setting.service(of: identity), setting.arguments)
        var parts = try RequestParts(method, path: path, url: origin + target)
        (parts.contentType, parts.contentEncoding) = (headers.contentType, headers.contentEncoding)
        parts.form = try Self.form(setting.arguments)
        (self.parts, url) = (parts, origin + target)
    }

    /// The form that the user insists on.
    static func form(_ arguments: Arguments) throws(TenonError) -> RequestForm? {
        guard let text = try arguments.value("--form") else { return nil }
        guard let form = RequestForm(rawValue: text) else { throw arguments.mistake("--form must be plain or batch.") }
        return form
    }

    /// - Throws: ``TenonError/Code/options`` if a form was asked for, and the service takes version 1 there.
    func checkForm(of signed: SignedRequest) throws(TenonError) {
        guard parts.form != nil, signed.form == nil else { return }
        throw TenonError(
            .options, message: "The service takes signature version 1 at this host, which has no forms.",
            mend: "Leave out --form.")
    }

    /// The path that version 1 signs. It follows the rules of a URL's path: the same characters, no dots, and no query.
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
    private static func origin(_ setting: Setting, _ app: String, _ mustBeKnown: Bool) throws(TenonError) -> String {
        for known in try setting.identities() where known.name?.appID == app {
            guard case .found(let record) = known.record else { continue }
            if !mustBeKnown || record.state != .unregistered { return record.origin }
        }
        guard mustBeKnown else { return "http://localhost" }
        throw TenonError(.notRegistered, message: "This device is not registered, so only a URL can be sent to.")
    }
}

/// A signed request, for people and programs.
struct ShownRequest {
    private let signed: SignedRequest
    private let target: SignTarget
    private let given: HeaderLines
    private let data: String?

    /// - Parameter data: as curl takes it; nil for a request without a body.
    init(_ signed: SignedRequest, _ target: SignTarget, _ given: HeaderLines, _ data: String? = nil) {
        (self.signed, self.target, self.given, self.data) = (signed, target, given, data)
    }

    private var headers: [(name: String, value: String)] { given.lines + signed.headers }

    var lines: [String] { headers.map { "\($0.name): \($0.value)" } }

    var curl: String {
        // curl must send exactly what was signed: it would expand brackets, and resolve dots in the path.
        var words = ["curl", "--globoff", "--path-as-is", "-X", target.parts.method]
        for line in lines { words += ["-H", Self.quoted(line)] }
        // It would also add a type of its own, which version 2 does not cover.
        if data != nil, given.contentType == nil, signed.form != nil { words += ["-H", Self.quoted("Content-Type:")] }
        if let data { words += ["--data-binary", Self.quoted(data)] }
        return (words + [Self.quoted(target.url)]).joined(separator: " ")
    }

    /// The text as one word of a shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    var json: JSON {
        var headers = JSONObject()
        for (name, value) in self.headers { headers[name] = .string(value) }
        return [
            "method": .string(target.parts.method), "path": .string(target.parts.path), "url": .string(target.url),
            "headers": .object(headers), "app_id": .string(signed.appID), "device_id": .string(signed.deviceID),
            "signature": .string(signed.signature), "timestamp": .string(signed.timestamp),
            "nonce": .string(signed.nonce), "signature_version": .string(signed.signatureVersion),
        ]
    }
}
