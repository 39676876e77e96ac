// SPDX-License-Identifier: Apache-2.0
package import Synchronization
package import Tenon

/// A service in memory, and the network in front of it. A test may make each exchange fail.
package final class ScriptedService: FatedService {
    /// The fate of one exchange.
    package enum Fate: Sendable {
        case arrives
        /// The service is not there.
        case notSent
        /// The request is lost.
        case requestLost
        /// The service carries out the request, and its answer is lost.
        case answerLost
        /// The request arrives later: see ``deliverLate()``.
        case late
        case answers(Int, String?, headers: [(name: String, value: String)] = [])
        /// The service carries out the request, and its answer cannot be read.
        case garbled
        /// The service carries out the request, and something on the way, or another copy of the service, says that it
        /// did not.
        case denied(Int, String?)
    }

    package struct Device: Sendable {
        package var key: String
        /// The Name of the attestation key that it registered with.
        package var ak: [UInt8]?
        package var isRevoked = false
        package var retired: Set<String> = []
    }

    package struct State: Sendable {
        package var devices: [String: Device] = [:]
        package var challenges: Set<String> = []
        package var numbers = 0
        package var fates: [Fate] = []
        package var late: [HTTPRequest] = []
        package var seen: [HTTPRequest] = []
        package var nonces: Set<String> = []
        /// Unix seconds ahead of the device.
        package var skew: Int64 = 0
        package var status = "registered"
        package var credentials = true
        package var ttl: Int64? = 60
        /// The delay, on the service's clock, until a new key counts; with nil, the service does not say when.
        package var effectiveIn: Int64?
        /// Added to ``skew``, because real clocks do not differ by whole seconds.
        package var skewMilliseconds: Int64 = 0
        /// Requests that are signed up to this second of its clock may be from before it started, as far as it knows.
        /// It answers how long a device should wait.
        package var startedAt: Int64?
        package var startPause = "3"
        /// Whether its answers have a date, and whether the answer to a rotation has the time in its body.
        package var saysDate = true
        package var saysTime = false
        /// The answer to a key that asks to be rotated to itself, if the service refuses that.
        package var refusesSelfRotation: (status: Int, code: String?)?
        /// Whether it answers so before it checks the signature.
        package var refusesUnseen = false
        /// Whether it accepts a ``Token`` as a signature.
        package var takesTokens = false
        /// Answers that replace the service's own, by path.
        package var answers: [String: (Int, String)] = [:]
        package var onExchange: (@Sendable (String) -> Void)?
        package var deadlines: [ContinuousClock.Instant] = []
        /// The time that an answer takes to come back.
        package var way = Duration.zero
        /// How it takes requests, in the answers of its own endpoints; nil if it takes version 1 and says nothing.
        package var signing: JSON?

        package init() {}
    }

    package let state = Mutex(State())
    package let time: FlowTime

    package init(_ time: FlowTime) { self.time = time }

    package func script(_ fates: Fate...) { state.withLock { $0.fates = fates } }
    package func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    package var devices: [String: Device] { state.withLock { $0.devices } }
    package var deadlines: [ContinuousClock.Instant] { state.withLock { $0.deadlines } }
    /// The requested paths, whatever the result.
    package var paths: [String] { seen.map { Self.path($0) } }
    package var seen: [HTTPRequest] { state.withLock { $0.seen } }

    package func changeLate<Value: Sendable>(_ body: (inout [HTTPRequest]) -> Value) -> Value {
        state.withLock { body(&$0.late) }
    }

    package func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        state.withLock { $0.deadlines.append(deadline) }
        return try exchange(request)
    }

    package func fate(of request: HTTPRequest) -> Fate {
        let (fate, hook) = state.withLock { state in
            state.seen.append(request)
            return (state.fates.isEmpty ? Fate.arrives : state.fates.removeFirst(), state.onExchange)
        }
        hook?(Self.path(request))
        return fate
    }

    package static func path(_ request: HTTPRequest) -> String {
        String(request.url.dropFirst("https://service.example".count))
    }

    package func response(
        _ status: Int, _ body: JSON, _ headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        let moment = time.moment
        let (date, way) = state.withLock { state in
            (state.saysDate ? [("Date", imfDate(state.seconds(at: moment)))] : [], state.way)
        }
        time.advance(way)
        return HTTPResponse(
            status: status,
            headers: (headers.contains { $0.name == "Content-Type" } ? [] : [("Content-Type", "application/json")])
                + date + headers,
            body: (try? body.encoded()) ?? [], sent: moment, received: time.moment)
    }

    @discardableResult
    package func answer(_ request: HTTPRequest) -> HTTPResponse {
        let path = Self.path(request)
        let moment = time.moment
        let now = moment.sinceEpoch.components.seconds
        let (status, body): (Int, JSON) = state.withLock { state in
            if let (status, code) = state.answers[path] { return (status, ["code": .string(code)]) }
            let json = (try? JSON(parsing: request.body)) ?? .null
            switch path {
            case "/challenge": return state.challenge()
            case "/register": return state.register(json)
            case "/rotate", "/self":
                if let refusal = state.refusal(ofSelf: json, path, isSeen: false) { return refusal }
                if let refusal = state.refusal(request, path, now) { return refusal }
                if let refusal = state.refusal(ofSelf: json, path, isSeen: true) { return refusal }
                return path == "/self" ? state.tell(request) : state.rotate(request, json, state.seconds(at: moment))
            // The application's own service behind this one.
            case "/v1/x": return state.refusal(request, path, now) ?? (200, [:])
            default: return (404, ["code": "NO_SUCH_PATH"])
            }
        }
        let pause = state.withLock { $0.startedAt == nil ? nil : $0.startPause }
        let isRefused = body["code"]?.string == "CLOCK_SKEW"
        return response(status, body, isRefused ? pause.map { [("Retry-After", $0)] } ?? [] : [])
    }
}

extension ScriptedService.State {
    mutating func challenge() -> (Int, JSON) {
        numbers += 1
        challenges.insert("challenge-\(numbers)")
        var answer = JSONObject()
        answer["challenge"] = .string("challenge-\(numbers)")
        answer["ttl"] = ttl.map { .integer($0) }
        answer["credential"] = .bool(credentials)
        return (200, .object(answer))
    }

    mutating func register(_ body: JSON) -> (Int, JSON) {
        guard let challenge = body["challenge"]?.string, challenges.remove(challenge) != nil else {
            return (400, ["code": "INVALID_CHALLENGE"])
        }
        guard let key = body["public_key"]?.string else { return (400, ["code": "MALFORMED"]) }
        guard status == "registered" else { return (200, ["status": .string(status)]) }
        let ak = Self.ak(in: body)
        if let id = devices.first(where: { $0.value.key == key })?.key {
            devices[id]?.ak = ak
            return (200, told(["status": "registered", "device_id": .string(id)]))
        }
        let id = "device-\(devices.count + 1)"
        devices[id] = ScriptedService.Device(key: key, ak: ak)
        return (200, told(["status": "registered", "device_id": .string(id)]))
    }

    /// With the announcement, if there is one.
    private func told(_ answer: JSON) -> JSON {
        guard let signing, var members = answer.object else { return answer }
        members["signing"] = signing
        return .object(members)
    }

    /// The name of the attestation key that made a proof.
    private static func ak(in body: JSON) -> [UInt8]? {
        (body["proof"]?.string).flatMap { try? TextEncoding.base64.decode($0) }.map { $0.suffix(32) }
    }

    /// The fault of a signed request; nil if it is valid.
    package mutating func refusal(_ request: HTTPRequest, _ path: String, _ now: Int64) -> (Int, JSON)? {
        func header(_ name: String) -> String { request.headers.first { $0.name == name }?.value ?? "" }
        guard let device = devices[header("X-Device-ID")] else { return (401, ["code": "NOT_REGISTERED"]) }
        guard !device.isRevoked else { return (403, ["code": "DEVICE_REVOKED"]) }
        if let second = Version2(request) { return refusal(second, of: device, now) }
        guard let timestamp = Int64(header("X-Timestamp")), abs(timestamp - now - skew) <= 300 else {
            return (401, ["code": "CLOCK_SKEW", "server_time": .integer(now + skew)])
        }
        guard isSigned(request, path, by: device.key) else {
            return (401, ["code": "BAD_SIGNATURE"])
        }
        if let startedAt, timestamp <= startedAt + 2 {
            return (401, ["code": "CLOCK_SKEW", "server_time": .integer(now + skew)])
        }
        return nonces.insert(header("X-Nonce")).inserted ? nil : (409, ["code": "NONCE_REPLAY"])
    }

    /// The fault of a request of version 2.
    private func refusal(_ second: Version2, of device: ScriptedService.Device, _ now: Int64) -> (Int, JSON)? {
        guard abs(second.created - now - skew) <= 300 else {
            return (401, ["code": "CLOCK_SKEW", "server_time": .integer(now + skew)])
        }
        guard let spki = try? TextEncoding.base64.decode(device.key),
            let key = try? PublicKey(derRepresentation: spki.span), second.isSigned(by: key)
        else { return (401, ["code": "BAD_SIGNATURE"]) }
        return nil
    }

    package func isSigned(_ request: HTTPRequest, _ path: String, by key: String) -> Bool {
        func header(_ name: String) -> String { request.headers.first { $0.name == name }?.value ?? "" }
        do {
            let spki = try TextEncoding.base64.decode(key)
            let der = try TextEncoding.base64.decode(header("X-Signature"))
            var message = try RequestMessage(method: request.method, path: path, timestamp: header("X-Timestamp"))
            try message.update(request.body.span)
            let signature = try Signature(derRepresentation: der.span)
            let signer = try PublicKey(derRepresentation: spki.span)
            let digest = try message.finish()
            if takesTokens { return try Token.signature(by: signer, over: digest) == signature }
            return signer.isValidSignature(signature, for: digest)
        } catch {
            return false
        }
    }

    func tell(_ request: HTTPRequest) -> (Int, JSON) {
        let id = request.headers.first { $0.name == "X-Device-ID" }?.value ?? ""
        return (200, told(["key": .string(devices[id]?.key ?? "")]))
    }

    mutating func rotate(_ request: HTTPRequest, _ body: JSON, _ now: Int64) -> (Int, JSON) {
        guard let id = body["device_id"]?.string, let new = body["new_public_key"]?.string, var device = devices[id]
        else { return (400, ["code": "MALFORMED"]) }
        guard Self.ak(in: body) == device.ak || body["proof"] == nil else {
            return (403, ["code": "INVALID_ATTESTATION"])
        }
        if device.key != new { device.retired.insert(device.key) }
        device.key = new
        devices[id] = device
        var answer = JSONObject()
        answer["status"] = "rotated"
        answer["effective_at"] = effectiveIn.map { .integer(now + $0) }
        answer["server_time"] = saysTime ? .integer(now) : nil
        return (200, told(.object(answer)))
    }

    /// Unix seconds on the service's clock.
    func seconds(at moment: Moment) -> Int64 {
        (moment.sinceEpoch + .seconds(skew) + .milliseconds(skewMilliseconds)).components.seconds
    }

    /// If the offered key is the one that the service holds, there is nothing to do.
    func refusal(ofSelf body: JSON, _ path: String, isSeen: Bool) -> (Int, JSON)? {
        guard let refusal = refusesSelfRotation, path == "/rotate", isSeen != refusesUnseen,
            let id = body["device_id"]?.string, body["new_public_key"]?.string == devices[id]?.key
        else { return nil }
        return (refusal.status, refusal.code.map { ["code": .string($0)] } ?? [:])
    }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`.
package func imfDate(_ seconds: Int64) -> String {
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(seconds / 86_400 % 7)]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let text = CivilDate.iso8601(seconds)
    let (date, time) = (text.prefix(10).split(separator: "-"), text.dropFirst(11).prefix(8))
    return "\(weekday), \(date[2]) \(months[(Int(date[1]) ?? 1) - 1]) \(date[0]) \(time) GMT"
}
