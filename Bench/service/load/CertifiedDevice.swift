// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonITWallet

/// A device in memory whose attestation key has a certificate of the authority's CA, as its proofs show.
struct CertifiedDevice {
    /// What it does once it has the certificate.
    enum Deed: String {
        case certify
        /// At a Synheart service, dialect `docs`.
        case register
        /// At an IT-Wallet provider, dialect `seed`.
        case initialize
    }

    private let target: Target
    private let tpm: SoftwareTPM
    private let lines: Lines
    private var certificates: [[UInt8]] = []

    private init(_ target: Target, _ tpm: SoftwareTPM, _ lines: Lines) {
        (self.target, self.tpm, self.lines) = (target, tpm, lines)
    }

    /// Has each device do it, one after the other, each on a connection of its own.
    static func run(_ deed: Deed, _ options: Options, _ maker: Maker) throws(TenonError) {
        let target = Target(
            origin: options.origin ?? options.instances[0].url, app: deed == .initialize ? "wallet" : "demo")
        for number in 0..<options.devices {
            var device = CertifiedDevice(target, try maker.tpm(number), try Lines(options.instances))
            try device.certify()
            switch deed {
            case .certify: break
            case .register: try device.register()
            case .initialize: try device.initialize()
            }
        }
    }

    private func ask(
        _ method: String, _ path: String, _ body: [UInt8] = [], status: Int = 200
    ) throws(TenonError) -> [UInt8] {
        let answer = try lines.exchange(target.request(method, path, body))
        guard answer.status == status else {
            let text = String(decoding: answer.body, as: UTF8.self)
            throw TenonError(.serviceAnswer, message: "\(path): \(answer.status) \(text)")
        }
        return answer.body
    }

    private mutating func certify() throws(TenonError) {
        let area = try PublicArea(dataRepresentation: tpm.akArea)
        let request = try AttestRequest(ekCertificates: tpm.chain, ak: area)
        let offer = try AttestAnswer(parsing: ask("POST", "/ca/\(target.app)/attest", request.encoded())).credential
        let secret = try tpm.secret(credential: offer.idObject, encrypted: offer.encryptedSecret)
        let answer = try ask("POST", "/ca/\(target.app)/secret", SecretRequest(secret).encoded())
        certificates = try SecretAnswer(parsing: answer).chain
    }

    private func register() throws(TenonError) {
        let asked: JSON = ["app_id": .string(target.app)]
        let answer = try JSON(parsing: ask("POST", "/auth/v1/device/challenge", asked.encoded()))
        let challenge = answer["challenge"]?.string
        guard let challenge else { throw LoadDevice.surprise("a challenge") }
        let key = try SoftwareKey().publicKey
        let nonce = try Digest(bindingChallenge: challenge, toKeyText: key.sentText)
        let body: JSON = [
            "app_id": .string(target.app), "challenge": .string(challenge), "public_key": .string(key.sentText),
            "platform": "linux", "proof": .string(try proof(of: key, nonce)),
        ]
        _ = try ask("POST", "/auth/v1/device/register", body.encoded())
    }

    private func initialize() throws(TenonError) {
        let place = "/it-wallet/\(target.app)"
        guard let nonce = try JSON(parsing: ask("GET", place + "/nonce"))["nonce"]?.string else {
            throw LoadDevice.surprise("a nonce")
        }
        let key = try SoftwareKey().publicKey
        let tag = try ITWallet.tag(of: key, localID: "a device")
        let data = try ClientData.initialization("nonce", nonce: nonce, tag: tag, thumbprint: key.thumbprint)
        let body: JSON = [
            "nonce": .string(nonce), "hardware_key_tag": .string(tag),
            "key_attestation": .string(try proof(of: key, Digest(hashing: data))),
        ]
        _ = try ask("POST", place + "/application-instances", body.encoded(), status: 204)
    }

    private func proof(of key: PublicKey, _ nonce: Digest) throws(TenonError) -> String {
        TextEncoding.base64url.encode(try tpm.proof(of: key, nonce, certificates: certificates).dataRepresentation)
    }
}
