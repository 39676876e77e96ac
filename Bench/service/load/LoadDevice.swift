// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon

/// What the requests of a load have in common.
struct Target: Sendable {
    /// Of the authority, as its configuration has it.
    let origin: String
    let app: String

    /// - Parameter lines: more headers.
    func request(_ method: String, _ path: String, _ body: [UInt8] = [], _ lines: String = "") -> [UInt8] {
        let host = origin.split(separator: "/").last.map(String.init) ?? ""
        let head = """
            \(method) \(path) HTTP/1.1\r
            Host: \(host)\r
            User-Agent: tenon-load\r
            Accept: */*\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r

            """
        return Array((head + lines + "\r\n").utf8) + body
    }
}

/// A device whose keys are in memory: it makes requests, and takes what is answered.
final class LoadDevice: Sendable {
    private struct State {
        var key: SoftwareKey
        var id = ""
    }

    let target: Target
    /// nil for one that registers without a proof, in dialect `docs`.
    private let tpm: SoftwareTPM?
    private let state: Mutex<State>

    init(_ target: Target, _ tpm: SoftwareTPM? = nil) throws(TenonError) {
        self.target = target
        self.tpm = tpm
        state = Mutex(State(key: try SoftwareKey()))
    }

    /// What the authority calls it; "" before that.
    var id: String { state.withLock { $0.id } }

    var key: SoftwareKey { state.withLock { $0.key } }

    func challenge() throws(TenonError) -> [UInt8] {
        var object = JSONObject()
        object["app_id"] = .string(target.app)
        if let tpm {
            object["ek_certificates"] = .array(tpm.chain.map(JSON.sent))
            object["ak_public"] = .sent(tpm.akArea)
        }
        return post("/auth/v1/device/challenge", try JSON.object(object).encoded())
    }

    /// Redeems a challenge: for the device's key, or another one that it tries as well.
    func registration(_ answer: Connection.Answer, of key: SoftwareKey? = nil) throws(TenonError) -> [UInt8] {
        let json = try JSON(parsing: answer.body)
        guard let challenge = json["challenge"]?.string else { throw LoadDevice.surprise("a challenge") }
        let key = key ?? self.key
        let text = key.publicKey.sentText
        var object = JSONObject()
        object["app_id"] = .string(target.app)
        object["challenge"] = .string(challenge)
        object["public_key"] = .string(text)
        object["platform"] = "linux"
        object["proof"] = "none"
        if let tpm {
            guard let credential = json["activation"]?["credential"]?.bytesSent,
                let encrypted = json["activation"]?["secret"]?.bytesSent
            else { throw LoadDevice.surprise("a credential") }
            let activation = Activation(origin: target.origin, appID: target.app, challenge: challenge, keyText: text)
            let value = try tpm.value(activation, credential: credential, encrypted: encrypted)
            let nonce = try Digest(bindingChallenge: challenge, toKeyText: text)
            let proof = try tpm.proof(of: key.publicKey, nonce)
            object["activation_proof"] = .sent(value.rawRepresentation)
            object["proof"] = .string(TextEncoding.base64url.encode(proof.dataRepresentation))
        }
        return post("/auth/v1/device/register", try JSON.object(object).encoded())
    }

    /// - Parameter key: that which was registered, if it is another.
    func registered(_ answer: Connection.Answer, key: SoftwareKey? = nil) throws(TenonError) {
        guard let id = try JSON(parsing: answer.body)["device_id"]?.string else {
            throw LoadDevice.surprise("a device id")
        }
        state.withLock { state in
            state.id = id
            if let key { state.key = key }
        }
    }

    /// A signed request.
    func request(_ method: String, _ path: String, _ body: [UInt8] = []) throws(TenonError) -> [UInt8] {
        try requests(method, path, body, nonces: 1)[0]
    }

    /// One signature as so many requests, each with a nonce of its own.
    func requests(
        _ method: String, _ path: String, _ body: [UInt8], nonces: Int
    ) throws(TenonError) -> [[UInt8]] {
        try signed(method, path, body, at: String(time(nil)), nonces: nonces)
    }

    /// A rotation to a new key, which is the present one when it is ``rotated(to:)``.
    func rotation() throws(TenonError) -> (request: [UInt8], key: SoftwareKey) {
        let next = try SoftwareKey()
        let (key, id) = state.withLock { ($0.key, $0.id) }
        let (timestamp, text) = (String(time(nil)), next.publicKey.sentText)
        var object = JSONObject()
        object["app_id"] = .string(target.app)
        object["device_id"] = .string(id)
        object["new_public_key"] = .string(text)
        if let tpm {
            let nonce = try Digest.rotationNonce(
                origin: target.origin, appID: target.app, deviceID: id, oldKeyText: key.publicKey.sentText,
                newKeyText: text, timestamp: timestamp)
            let proof = try tpm.proof(of: next.publicKey, nonce)
            object["proof"] = .string(TextEncoding.base64url.encode(proof.dataRepresentation))
        }
        let body = try JSON.object(object).encoded()
        return (try signed("POST", "/auth/v1/device/rotate-key", body, at: timestamp, nonces: 1)[0], next)
    }

    func rotated(to key: SoftwareKey) { state.withLock { $0.key = key } }

    private func signed(
        _ method: String, _ path: String, _ body: [UInt8], at timestamp: String, nonces: Int
    ) throws(TenonError) -> [[UInt8]] {
        let (key, id) = state.withLock { ($0.key, $0.id) }
        var message = try RequestMessage(method: method, path: path, timestamp: timestamp)
        try message.update(body.span)
        let signature = try key.blockingSignature(for: .request(message))
        var requests: [[UInt8]] = []
        for _ in 0..<nonces {
            let headers = try RequestHeaders(
                signature: signature, appID: target.app, deviceID: id, timestamp: timestamp,
                nonce: RequestHeaders.makeNonce())
            requests.append(target.request(method, path, body, headers.lines))
        }
        return requests
    }

    private func post(_ path: String, _ body: [UInt8]) -> [UInt8] { target.request("POST", path, body) }

    static func surprise(_ what: String) -> TenonError {
        TenonError(.serviceAnswer, message: "An instance answers without \(what).")
    }
}

extension RequestHeaders {
    fileprivate var lines: String {
        """
        X-App-ID: \(appID)\r
        X-Device-ID: \(deviceID)\r
        X-Synheart-Signature: \(signature)\r
        X-Synheart-Timestamp: \(timestamp)\r
        X-Synheart-Nonce: \(nonce)\r
        X-Synheart-Sig-Version: \(signatureVersion)\r

        """
    }
}

extension PublicKey {
    var sentText: String { TextEncoding.base64.encode(derRepresentation) }
}

extension JSON {
    static func sent(_ bytes: [UInt8]) -> JSON { .string(TextEncoding.base64.encode(bytes)) }

    var bytesSent: [UInt8]? { string.flatMap { try? TextEncoding.base64.decode($0) } }
}
