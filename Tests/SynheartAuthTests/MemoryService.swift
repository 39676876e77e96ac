// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Tenon

/// A Synheart service in memory, in the dialect `tenon`. It reveals its secret to every client; a real service lets the
/// TPM find it.
final class MemoryService: Transport {
    struct State {
        var challenge = ""
        /// Who asked for it.
        var endorsement: (ekID: Digest, akName: [UInt8])?
        var numbers = 0
        var devices: [String: PublicKey] = [:]
        var nonces: Set<String> = []
        var origin = ""
        /// Whether the service is unreachable.
        var isDown = false
        /// Answers that replace the true ones, by endpoint.
        var answers: [String: (status: Int, body: String)] = [:]
        var paths: [String] = []
        /// The seconds by which its clock is ahead of the device's.
        var skew: Int64 = 0
        /// Awaited before each answer, with the last part of the path.
        var hold: (@Sendable (String) async -> Void)?
    }

    let state = Mutex(State())
    /// Each path, when it was answered.
    let answered: AsyncStream<String>
    private let tell: AsyncStream<String>.Continuation

    init() { (answered, tell) = AsyncStream.makeStream() }

    var paths: [String] { state.withLock { $0.paths } }
    func answer(_ endpoint: String, _ status: Int, _ body: String) {
        state.withLock { $0.answers[endpoint] = (status, body) }
    }
    func behave() { state.withLock { $0.answers = [:] } }
    func go(down isDown: Bool) { state.withLock { $0.isDown = isDown } }

    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        let endpoint = String(request.url.split(separator: "/").last ?? "")
        let hold = state.withLock { $0.hold }
        await hold?(endpoint)
        let (isDown, answer) = state.withLock { state in
            state.paths.append(endpoint)
            state.origin = String(request.url.prefix(request.url.utf8.count - "/auth/v1/device/\(endpoint)".utf8.count))
            return (state.isDown, state.answers[endpoint])
        }
        guard !isDown else { throw TenonError(.httpConnect, message: "Nobody is there.") }
        let (status, body) = answer ?? truth(endpoint, request)
        let now = FlowClock.system.moment()
        let date = imfDate(now.sinceEpoch.components.seconds + state.withLock { $0.skew })
        defer { tell.yield(endpoint) }
        return HTTPResponse(
            status: status, headers: [("Content-Type", "application/json"), ("Date", date)], body: Array(body.utf8),
            sent: now, received: now)
    }

    private func truth(_ endpoint: String, _ request: HTTPRequest) -> (Int, String) {
        let body = (try? JSON(parsing: request.body)) ?? .null
        return state.withLock { state in
            switch endpoint {
            case "challenge":
                return state.giveChallenge(body)
            case "register": return state.register(body)
            case "rotate-key": return state.rotate(request, body)
            case "self": return state.tell(request)
            default: return (404, "{}")
            }
        }
    }
}

extension MemoryService.State {
    private var secret: [UInt8] { Array(repeating: 9, count: 32) }

    fileprivate mutating func giveChallenge(_ body: JSON) -> (Int, String) {
        guard let leaf = body["ek_certificates"]?.array?.first?.string, let ak = body["ak_public"]?.string,
            let ekID = try? Digest(hashing: TextEncoding.base64.decode(leaf)),
            let area = try? PublicArea(dataRepresentation: TextEncoding.base64.decode(ak))
        else { return (400, "{}") }
        numbers += 1
        endorsement = (ekID, area.name)
        challenge = TextEncoding.base64.encode(Array(repeating: UInt8(numbers & 0xff), count: 32))
        let credential = TextEncoding.base64.encode([0, 32] + secret)
        let activation = "{\"credential\":\"\(credential)\",\"secret\":\"AAEJ\"}"
        return (
            200,
            "{\"success\":true,\"data\":{\"challenge\":\"\(challenge)\",\"expires_in\":90,\"activation\":\(activation)}}"
        )
    }

    /// Whether the proof of a ``ScriptedVault`` is for this nonce.
    private func proves(_ body: JSON, _ nonce: Digest) -> Bool {
        let proof = (body["proof"]?.string).flatMap { try? TextEncoding.base64url.decode($0) }
        return proof.map { Array($0.dropFirst(69).prefix(32)) } == nonce.rawRepresentation
    }

    private func isActivated(_ body: JSON, _ keyText: String) -> Bool {
        guard let endorsement, let proof = body["activation_proof"]?.string else { return false }
        let activation = Activation(
            origin: origin, appID: body["app_id"]?.string ?? "", challenge: challenge, keyText: keyText)
        let value = try? activation.value(
            secret: Secret(copying: secret.span), ekID: endorsement.ekID, akName: endorsement.akName)
        return value.map { TextEncoding.base64.encode($0.rawRepresentation) } == proof
    }

    fileprivate mutating func register(_ body: JSON) -> (Int, String) {
        defer { challenge = "" }
        guard let text = body["public_key"]?.string, !challenge.isEmpty, body["challenge"]?.string == challenge,
            isActivated(body, text),
            let nonce = try? Digest(bindingChallenge: challenge, toKeyText: text),
            proves(body, nonce),
            let key = try? PublicKey(derRepresentation: TextEncoding.base64.decode(text))
        else { return (400, #"{"error":{"code":"INVALID_CHALLENGE"}}"#) }
        let id = devices.first { $0.value == key }?.key ?? "dev_\(devices.count + 1)"
        devices[id] = key
        return (200, "{\"device_id\":\"\(id)\",\"status\":\"registered\"}")
    }

    fileprivate mutating func rotate(_ request: HTTPRequest, _ body: JSON) -> (Int, String) {
        let values = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
        guard let id = body["device_id"]?.string, isSigned(values, "POST", "/auth/v1/device/rotate-key", request.body),
            values["X-Device-ID"] == id
        else { return (401, #"{"code":"INVALID_SIGNATURE"}"#) }
        guard let text = body["new_public_key"]?.string, let old = devices[id],
            let key = try? PublicKey(derRepresentation: TextEncoding.base64.decode(text)),
            let nonce = try? Digest.rotationNonce(
                origin: origin, appID: body["app_id"]?.string ?? "", deviceID: id,
                oldKeyText: TextEncoding.base64.encode(old.derRepresentation), newKeyText: text,
                timestamp: values["X-Synheart-Timestamp"] ?? ""),
            proves(body, nonce)
        else { return (400, #"{"code":"INVALID_ATTESTATION"}"#) }
        devices[id] = key
        return (200, #"{"status":"rotated"}"#)
    }

    fileprivate mutating func tell(_ request: HTTPRequest) -> (Int, String) {
        let values = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
        let now = FlowClock.system.moment().sinceEpoch.components.seconds + skew
        guard let time = Int64(values["X-Synheart-Timestamp"] ?? ""), abs(time - now) <= 300 else {
            return (401, "{\"code\":\"CLOCK_SKEW\",\"server_timestamp\":\(now)}")
        }
        guard let id = values["X-Device-ID"], isSigned(values, "GET", "/auth/v1/device/self", []),
            let thumbprint = try? devices[id]?.thumbprint
        else { return (401, #"{"code":"INVALID_SIGNATURE"}"#) }
        return (200, "{\"status\":\"active\",\"key_thumbprint\":\"\(thumbprint)\"}")
    }

    /// Whether these headers belong to a known device and to this request only.
    mutating func isSigned(_ values: [String: String], _ method: String, _ path: String, _ body: [UInt8]) -> Bool {
        guard let key = devices[values["X-Device-ID"] ?? ""], values["X-App-ID"] == "com.myapp",
            values["X-Synheart-Sig-Version"] == "1", nonces.insert(values["X-Synheart-Nonce"] ?? "").inserted,
            let der = try? TextEncoding.base64.decode(values["X-Synheart-Signature"] ?? ""),
            let signature = try? Signature(derRepresentation: der),
            var message = try? RequestMessage(
                method: method, path: path, timestamp: values["X-Synheart-Timestamp"] ?? "")
        else { return false }
        do {
            try message.update(body)
            return try key.isValidSignature(signature, for: message.finish())
        } catch {
            return false
        }
    }
}
