// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine
internal import TenonHTTP

/// `tenon sign --send`: sends the request, shows the answer, and passes it to the identity.
struct SendCommand {
    /// A request may need to be signed and sent again, so its body is kept.
    private static let longestBody = 16 << 20
    private static let patience = Duration.seconds(60)

    private let target: SignTarget
    private let headers: [(name: String, value: String)]
    private let body: [UInt8]
    private let identity: DeviceIdentity
    private let transport: LazyTransport

    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let arguments = setting.arguments
        guard try arguments.value("--format") == nil else {
            throw arguments.mistake("--format is for requests that are not sent; --send prints the answer.")
        }
        let headers = try HeaderLines(arguments)
        let body = try body(try arguments.value("--data") ?? "")
        let identity = try setting.identity()
        let target = try SignTarget(
            setting, identity, arguments.operands[0], arguments.operands[1], headers, mustBeKnown: true)
        let command = SendCommand(
            target: target, headers: headers.lines, body: body, identity: identity,
            transport: try setting.transport())
        return try await command.exchange()
    }

    /// Sends the request, and sends it again when the identity asks for that.
    private func exchange() async throws(TenonError) -> Answer {
        let first = try await identity.sign(target.parts, body: body)
        try target.checkForm(of: first)
        let answer = try await send(first)
        switch await received(answer, first) {
        case .done: return shown(answer, isSecond: false)
        case .stop(let error): return shown(answer, isSecond: false, error)
        case .resend(let second):
            let answer = try await send(second)
            guard case .stop(let error) = await received(answer, second) else { return shown(answer, isSecond: true) }
            return shown(answer, isSecond: true, error)
        }
    }

    private func send(_ signed: SignedRequest) async throws(TenonError) -> HTTPResponse {
        let request = HTTPRequest(
            method: target.parts.method, url: target.url, headers: headers + signed.headers, body: body)
        do throws(TenonError) {
            return try await transport.exchange(request, deadline: .now + Self.patience)
        } catch {
            throw explained(error)
        }
    }

    /// Replaces mends that speak of the auth service: the request may go to any server.
    private func explained(_ error: TenonError) -> TenonError {
        let server = (try? HTTPURL(parsing: target.url))?.origin ?? target.url
        let mend: String
        switch (error.code, error.code.category) {
        case (.httpResolve, _), (.httpConnect, _), (.httpConnectTimeout, _), (.tlsHandshake, _), (.tlsHost, _):
            mend = "Check host and port of \(server), and that the server is running. Then try again."
        case (_, .unknown):
            mend = "Check at \(server) whether the request was done before you send it again."
        default: return error
        }
        return TenonError(error.code, message: error.message, mend: mend)
    }

    private func received(_ answer: HTTPResponse, _ signed: SignedRequest) async -> ReceivedAnswer {
        await identity.received(status: answer.status, headers: answer.headers, body: answer.body, for: signed)
    }

    private func shown(_ answer: HTTPResponse, isSecond: Bool, _ error: TenonError? = nil) -> Answer {
        let text = String(validating: answer.body, as: UTF8.self)
        let failure = error.map(ErrorReport.init)
        var object = JSONObject()
        object["status"] = .integer(Int64(answer.status))
        object["headers"] = .array(answer.headers.map { ["name": .string($0.name), "value": .string($0.value)] })
        object["body"] = .or(text)
        object["body_base64"] = text == nil ? .string(TextEncoding.base64.encode(answer.body)) : .null
        object["sent_again"] = .bool(isSecond)
        object["identity"] =
            failure.map {
                ["code": .string($0.error.code.description), "message": .string($0.cause), "mend": .string($0.mend)]
            } ?? .null
        let again = isSecond ? ", after it was signed again" : ""
        let body = text.map(Self.printable) ?? "\(answer.body.count) bytes that are not text: use --json"
        return Answer(
            lines: ["HTTP \(answer.status)\(again)"] + (answer.body.isEmpty ? [] : [body])
                + (failure.map(Self.lines) ?? []),
            json: .object(object), category: error?.code.category ?? Self.category(answer.status))
    }

    /// The lines of an error below the server's answer.
    private static func lines(_ failure: ErrorReport) -> [String] {
        ["tenon: \(failure.cause)", "       \(failure.mend)"]
    }

    /// The category of an answer that is not a success.
    private static func category(_ status: Int) -> TenonError.Category? {
        switch status {
        case 200...299: nil
        case 408, 425, 429, 500...599: .transient
        default: .rejected
        }
    }

    /// The text without its last line feed. On a terminal, control characters are replaced, as a terminal obeys them.
    private static func printable(_ text: String) -> String {
        let text = text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard Terminal.isShown(1) else { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let isControl = scalar.value < 0x20 || 0x7f...0x9f ~= scalar.value
                    return isControl && scalar != "\n" && scalar != "\t" ? "?" : scalar
                }))
    }

    private static func body(_ argument: String) throws(TenonError) -> [UInt8] {
        var source = try ByteSource(argument)
        var bytes: [UInt8] = []
        while let chunk = try source.next() {
            bytes += chunk
            guard bytes.count <= longestBody else {
                throw TenonError(
                    .options,
                    message: "The body has more than \(longestBody >> 20) MiB; --send keeps it to send it again.",
                    mend: "Send it with curl: --format curl")
            }
        }
        return bytes
    }
}
