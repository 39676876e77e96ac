// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuthority
internal import TenonCommandLine
internal import TenonHTTP

/// Asks a running authority over its admin socket.
struct AdminClient {
    private let transport: HTTPTransport
    private let path: String
    private let limit: Duration

    init(_ arguments: Arguments) throws(TenonError) {
        limit = try AdminClient.limit(arguments)
        let named = try arguments.value("--admin")
        path = if let named { named } else { AdminClient.socket(in: try FolderChoice.path(arguments)) }
        transport = try HTTPTransport(.init(unixSocket: path, exchangeTimeout: limit))
    }

    private static func limit(_ arguments: Arguments) throws(TenonError) -> Duration {
        guard let text = try arguments.value("--timeout") else { return .seconds(30) }
        guard let seconds = Int(text), 1...86_400 ~= seconds else {
            throw arguments.mistake("--timeout must be a number of seconds from 1 to 86400.")
        }
        return .seconds(seconds)
    }

    func get(_ target: String) async throws(TenonError) -> [UInt8] {
        try await ask(HTTPRequest(method: "GET", url: "http://localhost" + target))
    }

    func post(_ target: String, _ json: JSON) async throws(TenonError) -> [UInt8] {
        try await ask(
            HTTPRequest(
                method: "POST", url: "http://localhost" + target, headers: [("Content-Type", "application/json")],
                body: try json.encoded()))
    }

    /// Escapes every byte of a query's value that is not a letter, a digit or one of `-._~`.
    static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: String(UnicodeScalar(byte))
            default: "%" + TextEncoding.hex.encode([byte]).uppercased()
            }
        }.joined()
    }

    private func ask(_ request: HTTPRequest) async throws(TenonError) -> [UInt8] {
        let answer = try await exchange(request)
        guard answer.status == 200 else {
            let json = try? JSON(parsing: answer.body)
            let isUnknown = json?["error_code"]?.string == "OUTCOME_UNKNOWN"
            throw TenonError(
                answer.status == 403
                    ? .storePermission : answer.status < 500 ? .options : isUnknown ? .outcomeUnknown : .storeFailed,
                message: json?["message"]?.string ?? "The authority answered \(answer.status).",
                httpStatus: answer.status, serverCode: json?["error_code"]?.string)
        }
        return answer.body
    }

    private func exchange(_ request: HTTPRequest) async throws(TenonError) -> HTTPResponse {
        do throws(TenonError) {
            return try await transport.exchange(request, deadline: .now + limit)
        } catch {
            guard error.code != .httpConnect else { throw refusal(error) }
            guard error.code.category == .unknown, request.method != "GET" else { throw error }
            throw TenonError(
                .outcomeUnknown,
                message: "It is not known whether this was done: \(error.message) The same command again does it once, "
                    + "and `tenon-authority devices` shows what is stored.")
        }
    }

    /// The reason why no authority answers at the socket.
    private func refusal(_ error: TenonError) -> TenonError {
        guard access(path, R_OK | W_OK) != 0 else {
            return TenonError(error.code, message: "No authority answers at \(path).\nStart it: tenon-authority serve")
        }
        guard errno != EACCES else {
            return TenonError(
                .storePermission,
                message: "\(path): this user may not connect to it.\nRun this as the authority's user, or as root.")
        }
        return TenonError(
            error.code,
            message:
                "\(path): \(String(cString: strerror(errno))).\nStart the authority, or name its folder: --state-dir")
    }

    /// The path in the folder's configuration if that can be read, or else the default path.
    private static func socket(in folder: String) -> String {
        let configuration = try? Configuration(file: "\(folder)/\(Configuration.fileName)", services: HostedService.all)
        return FolderChoice.path(configuration?.adminSocket ?? "admin.sock", in: folder)
    }
}
