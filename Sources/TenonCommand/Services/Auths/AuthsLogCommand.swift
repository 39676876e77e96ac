// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuths
internal import TenonCommandLine

/// `tenon auths log`.
enum AuthsLogCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let events = try await setting.identity(withTPM: false).events()
        var log = KeyEventLog()
        for (event, attachment) in events { try log.append(KeyEvent(bytes: event, attachment: attachment)) }
        var answer = try Self.answer(log, count: events.count)
        guard let path = try setting.arguments.value("--out") else { return answer }
        guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
            throw TenonError(
                .options, message: "\(path) cannot be made: \(String(cString: strerror(errno))).",
                mend: "Give a folder in one that this user can write: --out DIR")
        }
        for (number, (event, attachment)) in events.enumerated() {
            try write(event, to: "\(path)/\(number).json")
            try write(Array(attachment.utf8), to: "\(path)/\(number).att")
        }
        answer.lines.append("wrote \(events.count) event\(events.count == 1 ? "" : "s") to \(path)")
        return answer
    }

    /// A log grows at its end only, so what is there from an earlier call is the same.
    private static func write(_ bytes: [UInt8], to path: String) throws(TenonError) {
        if access(path, F_OK) == 0, try SmallFile.read(path) == bytes { return }
        try ResultFile(path).write(bytes)
    }

    /// What a log has come to.
    static func answer(_ log: KeyEventLog, count: Int) throws(TenonError) -> Answer {
        let key = log.key.map { TextEncoding.hex.encode($0.compressedRepresentation) }
        let did = try log.did
        return Answer(
            lines: Answer.rows([
                ("did", did), ("events", String(count)), ("sequence", String(log.sequence)), ("said", log.said),
                ("key", key),
            ]),
            json: [
                "did": .string(did), "prefix": .string(log.prefix), "events": .integer(Int64(count)),
                "sequence": .string(String(log.sequence)), "said": .string(log.said), "public_key_hex": .or(key),
            ])
    }
}

/// `tenon auths verify`.
enum AuthsVerifyCommand {
    static func answer(_ arguments: Arguments) throws(TenonError) -> Answer {
        let folder = arguments.operands[0]
        var log = KeyEventLog()
        var count = 0
        while access("\(folder)/\(count).json", F_OK) == 0 || count == 0 {
            let event = try SmallFile.read("\(folder)/\(count).json", atMost: KeyEventLog.maxEventSize)
            let path = "\(folder)/\(count).att"
            let attachment = access(path, F_OK) == 0 ? try SmallFile.read(path, atMost: 4096) : []
            do throws(TenonError) {
                try log.append(KeyEvent(bytes: event, attachment: String(decoding: attachment, as: UTF8.self)))
            } catch {
                throw TenonError(
                    error.code, message: "Event \(count) is refused: \(error.message)",
                    mend: "Do not use the log: the check failed.")
            }
            count += 1
        }
        var answer = try AuthsLogCommand.answer(log, count: count)
        answer.lines.append("accepted")
        return answer
    }
}
