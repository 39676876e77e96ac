// SPDX-License-Identifier: Apache-2.0
internal import CRedis
internal import Glibc
internal import Tenon

/// A command: its name and arguments.
typealias RedisCommand = [[UInt8]]

enum RedisReply: Equatable, Sendable {
    case null
    case integer(Int64)
    case bytes([UInt8])
    case list([RedisReply])

    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var list: [RedisReply]? { if case .list(let list) = self { list } else { nil } }
}

/// A connection. It connects when it is first needed and reconnects after a loss. One thread uses it.
final class RedisConnection {
    private let target: RedisTarget
    private var context: UnsafeMutablePointer<redisContext>?
    /// Identifies this run of the server; another run may have forgotten entries.
    private(set) var runID = ""

    /// Whether a server that evicts entries may be asked, which only the health check does.
    private let mayEvict: Bool

    init(_ target: RedisTarget, mayEvict: Bool = false) {
        self.target = target
        self.mayEvict = mayEvict
    }

    deinit { redisFree(context) }

    /// Sends all commands at once, then reads their replies. A command without a reply may or may not have been carried
    /// out.
    func replies(to commands: [RedisCommand]) throws(TenonError) -> [Result<RedisReply, TenonError>] {
        do throws(TenonError) {
            for command in commands { try append(command) }
            var replies: [Result<RedisReply, TenonError>] = []
            for _ in commands { replies.append(try nextReply()) }
            return replies
        } catch {
            close()
            throw error
        }
    }

    /// - Throws: ``TenonError/Code/configuration`` for a server that evicts entries when its memory is full.
    func connect() throws(TenonError) {
        if context != nil && !hasEnded { return }
        close()
        context = target.connect()
        guard let context, context.pointee.err == 0 else {
            let error = lost
            close()
            throw error
        }
        do throws(TenonError) {
            try introduce()
        } catch {
            close()
            throw error
        }
    }

    /// Authenticates, and identifies the server.
    private func introduce() throws(TenonError) {
        if let login = target.login {
            for reply in try replies(to: [login]) {
                guard case .success = reply else { throw .redisLogin }
            }
        }
        var facts: [Substring: Substring] = [:]
        for reply in try replies(to: [["INFO", "server"], ["INFO", "memory"]].map { $0.map { Array($0.utf8) } }) {
            facts.merge(RedisConnection.facts(try reply.get())) { $1 }
        }
        guard mayEvict || facts["maxmemory_policy"] == "noeviction" else {
            throw TenonError(
                .configuration, message: "Redis must run with maxmemory-policy noeviction, or replays could pass.")
        }
        runID = String(facts["run_id"] ?? "")
        guard !runID.isEmpty else { throw TenonError.damaged("no run id") }
    }

    /// The library's message, which distinguishes a refused connection from a missing answer.
    private var lost: TenonError {
        guard let context, context.pointee.err != 0 else { return .redisLost("no memory") }
        if context.pointee.err == REDIS_ERR_IO && [EAGAIN, ETIMEDOUT].contains(errno) {
            return .redisLost("no answer within \(RedisTarget.seconds) s")
        }
        return .redisLost(
            withUnsafeBytes(of: context.pointee.errstr) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }

    /// The members of INFO.
    static func facts(_ reply: RedisReply) -> [Substring: Substring] {
        var facts: [Substring: Substring] = [:]
        for line in String(decoding: reply.bytes ?? [], as: UTF8.self).split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { facts[parts[0]] = parts[1] }
        }
        return facts
    }

    func close() {
        redisFree(context)
        context = nil
    }

    /// Whether the server has closed the connection. No reply is outstanding now, so nothing should be readable.
    private var hasEnded: Bool {
        guard let context else { return true }
        var byte: UInt8 = 0
        let count = recv(context.pointee.fd, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count >= 0 || errno != EAGAIN
    }

    private func append(_ command: RedisCommand) throws(TenonError) {
        let bytes: [UInt8] = command.joined() + [0]
        let lengths = command.map(\.count)
        let status = bytes.withUnsafeBytes { bytes in
            var start = 0
            var pointers: [UnsafePointer<CChar>?] = []
            for length in lengths {
                pointers.append(bytes.baseAddress.map { ($0 + start).assumingMemoryBound(to: CChar.self) })
                start += length
            }
            return redisAppendCommandArgv(context, Int32(lengths.count), &pointers, lengths)
        }
        guard status == REDIS_OK else { throw lost }
    }

    private func nextReply() throws(TenonError) -> Result<RedisReply, TenonError> {
        var reply: UnsafeMutableRawPointer?
        guard redisGetReply(context, &reply) == REDIS_OK, let reply else { throw lost }
        defer { freeReplyObject(reply) }
        return RedisConnection.value(of: reply.assumingMemoryBound(to: redisReply.self).pointee)
    }

    private static func value(of reply: redisReply) -> Result<RedisReply, TenonError> {
        let bytes = [UInt8](UnsafeRawBufferPointer(start: reply.str, count: reply.str == nil ? 0 : Int(reply.len)))
        switch reply.type {
        case REDIS_REPLY_NIL: return .success(.null)
        case REDIS_REPLY_INTEGER: return .success(.integer(reply.integer))
        case REDIS_REPLY_ERROR: return .failure(TenonError(redis: bytes))
        case REDIS_REPLY_ARRAY:
            var list: [RedisReply] = []
            for index in 0..<Int(reply.elements) {
                guard let element = reply.element[index] else { return .failure(.damaged("a reply")) }
                switch value(of: element.pointee) {
                case .success(let value): list.append(value)
                case .failure(let error): return .failure(error)
                }
            }
            return .success(.list(list))
        default: return .success(.bytes(bytes))
        }
    }
}

/// The address of Redis: a path of a unix socket, or a port of this machine. The connection is not encrypted (decision:
/// encrypted-stores).
struct RedisTarget {
    private let address: RedisStore.Address
    /// The command that authenticates; nil if no password is needed.
    let login: RedisCommand?

    /// The longest time that Redis may take to answer.
    static let seconds = 2

    init(_ options: RedisStore.Options) throws(TenonError) {
        address = options.address
        login = options.password.map { password in
            ["AUTH", options.user, password].compactMap { $0 }.map { Array($0.utf8) }
        }
        if case .tcp(let host, _) = address, !Address.isLoopback(host) || host == "localhost" {
            throw TenonError(
                .configuration,
                message: "Redis must be a unix socket or a loopback address, as nothing is encrypted.")
        }
    }

    func connect() -> UnsafeMutablePointer<redisContext>? {
        let wait = timeval(tv_sec: RedisTarget.seconds, tv_usec: 0)
        let context =
            switch address {
            case .unix(let path): redisConnectUnixWithTimeout(path, wait)
            case .tcp(let host, let port): redisConnectWithTimeout(host, Int32(port), wait)
            }
        if let context, context.pointee.err == 0 { redisSetTimeout(context, wait) }
        return context
    }
}

extension TenonError {
    static func redisLost(_ words: String) -> TenonError {
        TenonError(
            .storeFailed, message: "Redis cannot be reached, or has gone away (\(words)). Try again soon.",
            retryAfter: .seconds(1))
    }

    static var redisLogin: TenonError {
        TenonError(.storePermission, message: "Redis does not accept this user and password.")
    }

    static var redisEvicts: TenonError {
        TenonError(
            .storeFailed, message: "Redis must run with maxmemory-policy noeviction, or replays could pass.",
            retryAfter: .seconds(60))
    }

    /// Redis's own message, which contains no stored data, without the script and line that it names.
    init(redis sentence: [UInt8]) {
        let line = String(decoding: sentence.prefix(200).filter { 0x20...0x7e ~= $0 }, as: UTF8.self)
        let text = line.split(separator: " script: ", maxSplits: 1).first ?? ""
        let word = text.prefix { $0 != " " }
        switch word {
        case "OOM":
            self.init(.storeFull, message: "Redis has no memory left (\(text)).", retryAfter: .seconds(10))
        case "NOAUTH", "WRONGPASS", "NOPERM":
            self.init(.storePermission, message: "Redis refuses: \(text).")
        case "CLOCK":
            let milliseconds = text.dropFirst(word.count + 1)
            self.init(
                .storeFailed,
                message: "This machine's clock is \(milliseconds) ms ahead of Redis's. Set the clock that is wrong.",
                retryAfter: .seconds(5))
        default:
            self.init(.storeFailed, message: "Redis refuses: \(text).", retryAfter: .seconds(1))
        }
    }
}
