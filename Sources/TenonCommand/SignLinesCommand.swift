// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine

/// `tenon sign --lines`: reads a request a line, and writes each with its signature, in the same order. The requests
/// whose lines are there at the same time are one batch, which is one command of the TPM.
enum SignLinesCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let arguments = setting.arguments
        for flag in ["--data", "--format", "--header", "--send"] where arguments.has(flag) {
            throw arguments.mistake("\(flag) does not go with --lines, where each line is a whole request.")
        }
        if let word = arguments.operands.first {
            throw arguments.mistake("\(word) is one word too many: with --lines, requests come on the standard input.")
        }
        let identity = try setting.identity()
        let most = try identity.mostInBatch()
        var lines = try LineReader(path: "-")
        var category: TenonError.Category?
        while let texts = try lines.next(atMost: most) {
            for outcome in await signed(texts, setting, identity) {
                if case .failure(let error) = outcome { category = category ?? error.code.category }
                Output.line(try line(outcome))
            }
            try Output.check()
        }
        // Each line is written already.
        return Answer(lines: [], json: .null, category: category)
    }

    private static func signed(
        _ texts: [[UInt8]], _ setting: Setting, _ identity: DeviceIdentity
    ) async -> [Result<JSON, TenonError>] {
        let asked = texts.map { text in Result { () throws(TenonError) in try AskedLine(text, setting, identity) } }
        let known = asked.compactMap { try? $0.get() }
        var signed = await identity.sign(known.map { ($0.target.parts, $0.body) })[...]
        return asked.map { asked in
            Result { () throws(TenonError) in
                let line = try asked.get()
                guard let signed = signed.popFirst() else { throw TenonError.cancelled }
                return try line.shown(signed.get())
            }
        }
    }

    private static func line(_ outcome: Result<JSON, TenonError>) throws(TenonError) -> String {
        switch outcome {
        case .success(let json): String(decoding: try json.encoded(), as: UTF8.self)
        case .failure(let error): ErrorReport(error).text
        }
    }
}

/// A line that asks for a signature.
private struct AskedLine {
    let target: SignTarget
    let body: [UInt8]
    private let headers: HeaderLines

    init(_ text: [UInt8], _ setting: Setting, _ identity: DeviceIdentity) throws(TenonError) {
        let request = try LineRequest(text)
        headers = HeaderLines(request.headers)
        target = try SignTarget(setting, identity, request.method, request.url, headers)
        body = request.body
    }

    func shown(_ signed: SignedRequest) throws(TenonError) -> JSON {
        try target.checkForm(of: signed)
        return ShownRequest(signed, target, headers).json
    }
}

/// A request as a line gives it: `method`, `url` (or a path), and if there are any `headers`, `body` or `body_base64`.
private struct LineRequest {
    let method: String
    let url: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    init(_ text: [UInt8]) throws(TenonError) {
        let json = try JSON(parsing: text)
        let known: Set = ["method", "url", "headers", "body", "body_base64"]
        guard let members = json.object, let method = json["method"]?.string, let url = json["url"]?.string,
            members.members.allSatisfy({ known.contains($0.key) })
        else { throw Self.malformed }
        (self.method, self.url) = (method, url)
        headers = try Self.headers(json["headers"])
        switch (json["body"], json["body_base64"]) {
        case (nil, nil): body = []
        case (let text?, nil):
            guard let text = text.string else { throw Self.malformed }
            body = Array(text.utf8)
        case (nil, let text?):
            guard let text = text.string else { throw Self.malformed }
            body = try TextEncoding.base64.decode(text)
        default: throw Self.malformed
        }
    }

    private static func headers(_ json: JSON?) throws(TenonError) -> [(name: String, value: String)] {
        guard let json else { return [] }
        guard let members = json.object else { throw malformed }
        var lines: [(name: String, value: String)] = []
        for member in members.members {
            guard let value = member.value.string,
                !lines.contains(where: { $0.name.lowercased() == member.key.lowercased() })
            else { throw malformed }
            lines.append((member.key, value))
        }
        return lines
    }

    private static let malformed = TenonError(
        .messageMember, message: "The line is not a request: an object with method and url.",
        mend: "Write, for example: {\"method\":\"POST\",\"url\":\"/v1/x\",\"body\":\"text\"}")
}

/// Reads lines; those that are there are given together.
struct LineReader: ~Copyable {
    private static let longest = 1 << 20

    private var source: ByteSource
    private var rest: [UInt8] = []
    private var isOver = false

    init(path: String) throws(TenonError) { source = try ByteSource(path: path) }

    /// At least one line, and as many more as are there now; nil at the end. Empty lines are left out.
    mutating func next(atMost most: Int) throws(TenonError) -> [[UInt8]]? {
        var lines: [[UInt8]] = []
        while lines.count < most {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                if end > 0 { lines.append(Array(rest[..<end])) }
                rest.removeSubrange(...end)
            } else if isOver || !lines.isEmpty && !source.isReady {
                break
            } else {
                try read()
            }
        }
        if isOver, lines.count < most, !rest.isEmpty {
            lines.append(rest)
            rest = []
        }
        return lines.isEmpty ? nil : lines
    }

    private mutating func read() throws(TenonError) {
        guard rest.count <= Self.longest else {
            throw TenonError(
                .tooLarge, message: "A line has more than \(Self.longest >> 20) MiB.",
                mend: "Sign a request with a long body by itself: tenon sign METHOD PATH --data @FILE")
        }
        guard let piece = try source.next() else {
            isOver = true
            return
        }
        rest += piece
    }
}
