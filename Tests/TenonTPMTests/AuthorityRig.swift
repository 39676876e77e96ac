// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonAuthority
import TenonAuthoritySynheart
import TenonTPM
import TestFolders
import Testing

/// An authority whose apps take the TPMs of ``Endorsed``: `demo` with a CA of its own, `other` with one and with
/// roots of no TPM before the right ones, `few` with two devices a TPM, `listed` by inventory, `named` by nothing else,
/// `bare` without roots, `marked` which lets rotations go without a proof, `owned` which asks for the hierarchy of a key.
struct AuthorityRig: Sendable {
    let service: AuthorityEngine
    let stores: AuthorityStores
    let keys: AuthorityKeys
    /// The host of its origin.
    let host: String

    static func with(
        host: String = "localhost", inventory: [Digest] = [], words: String? = nil, deny: String = "{}",
        caIn tpm: TPM? = nil, revoked: RevokedCertificates = RevokedCertificates(),
        _ body: (AuthorityRig) async throws -> Void
    ) async throws {
        let place = try ScratchFolder()
        let folder = try AuthorityFolder(place.path)
        let (clock, now) = (SteadyClock(), Int64(time(nil)))
        let store = try SQLiteStore(in: folder, clock: clock, options: .init(maxChallenges: 100))
        let replays = try await MemoryReplayStore(clock: clock, horizon: store)
        let stores = AuthorityStores(
            challenges: store, devices: store, replays: replays, answers: MemoryAnswerStore(clock: clock))
        var held: HeldKey?
        if let tpm {
            let key = try await TPM.PrivateKey(in: tpm, options: .signsDigests)
            held = HeldKey(tpm: "device:/dev/another", file: key.dataRepresentation, publicKey: key.publicKey)
        }
        let made = try AuthorityKeys.create(in: folder, name: "Test", at: now, held: held)
        // A program that only checks signatures needs no TPM.
        let unsigned = errorThrown { try made.signature(of: [1]) }
        #expect(unsigned?.code == (held == nil ? nil : .configuration))
        let opened = try AuthorityKeys(from: folder) { held throws(TenonError) in
            try TPM.PrivateKey(dataRepresentation: held.file, in: tpm, options: .signsDigests)
        }
        let keys = try #require(opened)
        try made.verify(keys.signature(of: [1]), of: [1])
        let roots = EndorsementRoots(certificates: [try Endorsed.root()], requiresUsage: false)
        let others = EndorsementRoots(certificates: keys.roots, requiresUsage: false)
        var configuration = try Self.configuration(inventory, words, deny)
        configuration.origins = ["https://" + host]
        let service = AuthorityEngine(
            configuration: configuration, stores: stores, keys: keys, clock: clock,
            ekRoots: [
                "demo": [roots], "other": [others, roots], "few": [roots], "listed": [roots], "marked": [roots],
                "owned": [roots],
            ], revoked: revoked)
        try await body(AuthorityRig(service: service, stores: stores, keys: keys, host: host))
        await store.close()
        withExtendedLifetime(place) {}
    }

    /// - Parameter words: members of each line of the inventory.
    private static func configuration(
        _ inventory: [Digest], _ words: String?, _ deny: String
    ) throws -> Configuration {
        let list = (inventory + [try Digest(hashing: [])]).map { id in
            words.map { "{\"ek_id\": \"\(id)\", \($0)}" } ?? "\"\(id)\""
        }.joined(separator: ",")
        let text = """
            {"origins": ["https://localhost"], "ek_deny": \(deny), "apps": [
              {"id": "demo"}, {"id": "other"}, {"id": "few", "max_devices_per_ek": 2}, {"id": "bare"},
              {"id": "named", "ek_admission": "inventory", "ek_allow_list": [\(list)]},
              {"id": "listed", "ek_admission": "both", "ek_allow_list": [\(list)]},
              {"id": "owned", "dialects": ["tenon"], "require_owner_hierarchy": true},
              {"id": "marked", "require_attestation": false, "unproven_rotation": "mark_unattested"}]}
            """
        return try Configuration(parsing: Array(text.utf8), services: [.synheart])
    }

    func post(
        _ path: String, _ body: [UInt8], headers: [(name: String, value: String)] = []
    ) async -> AuthorityAnswer {
        await service.answer(
            AuthorityRequest(
                method: "POST", target: path, headers: [("Host", host)] + headers, body: body,
                peer: "192.0.2.1"),
            at: .public)
    }

    func post(_ path: String, _ members: [String: JSON]) async throws -> AuthorityAnswer {
        await post(path, try JSON.members(members).encoded())
    }

    /// A challenge of dialect `tenon`.
    func challenge(_ device: Device, app: String = "demo", parent: [UInt8]? = nil) async throws -> AuthorityAnswer {
        var message: [String: JSON] = [
            "app_id": .string(app), "ek_certificates": .array(device.chain.map(JSON.sent)),
            "ak_public": .sent(device.ak.publicArea.dataRepresentation),
        ]
        message["parent_name"] = parent.map(JSON.sent)
        return try await post("/v1/device/challenge", message)
    }

    /// The registration of an honest device.
    func registration(
        _ device: Device, _ answer: AuthorityAnswer, app: String = "demo", origin: String = "https://localhost"
    ) async throws -> [String: JSON] {
        let challenge = try #require(answer.json["challenge"]?.string)
        let activation = Activation(origin: origin, appID: app, challenge: challenge, keyText: device.keyText)
        let value = try await device.ak.activate(
            activation, with: answer.credential(), certificate: device.chain[0])
        return [
            "app_id": .string(app), "challenge": .string(challenge), "public_key": .string(device.keyText),
            "platform": "linux", "activation_proof": .sent(value.rawRepresentation),
            "proof": .string(try await proof(device, challenge)),
        ]
    }

    func proof(
        _ device: Device, _ challenge: String, certificates: [[UInt8]] = []
    ) async throws -> String {
        let nonce = try Digest(bindingChallenge: challenge, toKeyText: device.keyText)
        let proof = try await device.key.attest(
            by: device.ak, qualifyingData: nonce.rawRepresentation, certificates: certificates)
        return TextEncoding.base64url.encode(proof.dataRepresentation)
    }

    /// Registers in dialect `tenon`.
    func register(_ device: Device, app: String = "demo") async throws -> AuthorityAnswer {
        let challenge = try await challenge(device, app: app)
        guard challenge.status == 200 else { return challenge }
        return try await post("/v1/device/register", registration(device, challenge, app: app))
    }

    /// A certificate of the attestation CA of an app.
    func certificates(_ device: Device, app: String) async throws -> [[UInt8]] {
        let offer = try await attest(device, app: app)
        let credential = try AttestAnswer(parsing: offer.body).credential
        let secret = try await device.ak.secret(of: credential, certificate: device.chain[0])
        let body = try SecretRequest(secret).encoded()
        let answer = await post("/ca/\(app)/secret", body)
        #expect(await post("/ca/\(app)/secret", body).verdict == "400 INVALID_CHALLENGE")
        return try SecretAnswer(parsing: answer.body).chain
    }

    /// A signed request; the body has to name the timestamp before it is signed.
    func signed(
        _ key: TPM.PrivateKey, _ app: String, _ id: String, _ method: String, _ path: String,
        _ body: (String) async throws -> [UInt8] = { _ in [] }
    ) async throws -> AuthorityAnswer {
        let timestamp = String(time(nil))
        let bytes = try await body(timestamp)
        var message = try RequestMessage(method: method, path: path, timestamp: timestamp)
        try message.update(bytes.span)
        let signature = try await key.signature(for: .request(message))
        let headers = try RequestHeaders(
            signature: signature, appID: app, deviceID: id, timestamp: timestamp, nonce: RequestHeaders.makeNonce())
        let lines = [
            ("X-App-ID", app), ("X-Device-ID", id), ("X-Synheart-Signature", headers.signature),
            ("X-Synheart-Timestamp", timestamp), ("X-Synheart-Nonce", headers.nonce), ("X-Synheart-Sig-Version", "1"),
        ]
        return await service.answer(
            AuthorityRequest(
                method: method, target: path, headers: [("Host", "localhost")] + lines, body: bytes), at: .public)
    }

    func revoke(_ members: [String: JSON]) async throws -> String {
        let body = try JSON.members(members).encoded()
        return await service.answer(AuthorityRequest(method: "POST", target: "/v1/revoke", body: body), at: .admin)
            .verdict
    }
    /// Runs a test on an authority, and a TPM with an EK that it takes.
    static func withTPM(_ body: (AuthorityRig, TPM) async throws -> Void) async throws {
        try await TenonTPMTests.withTPM(state: Endorsed.state) { _, tpm in
            try await with { rig in try await body(rig, tpm) }
        }
    }

    /// The device's own certificate in a request for one of the attestation CA.
    func attest(_ device: Device, app: String, chain: [[UInt8]]? = nil) async throws -> AuthorityAnswer {
        let request = try AttestRequest(ekCertificates: chain ?? device.chain, ak: device.ak.publicArea)
        return await post("/ca/\(app)/attest", try request.encoded())
    }

    /// A rotation to a key, with a proof if there is an AK to make it.
    func rotate(
        _ device: Device, _ app: String, _ id: String, to next: TPM.PrivateKey, by ak: TPM.AttestationKey?,
        origin: String = "https://localhost", certificates: [[UInt8]] = [], more: [String: JSON] = [:]
    ) async throws -> AuthorityAnswer {
        let text = TextEncoding.base64.encode(next.publicKey.derRepresentation)
        return try await signed(device.key, app, id, "POST", "/v1/device/rotate-key") { timestamp in
            var members: [String: JSON] = [
                "app_id": .string(app), "device_id": .string(id), "new_public_key": .string(text),
            ]
            if let ak {
                let nonce = try Digest.rotationNonce(
                    origin: origin, appID: app, deviceID: id, oldKeyText: device.keyText, newKeyText: text,
                    timestamp: timestamp)
                let proof = try await next.attest(
                    by: ak, qualifyingData: nonce.rawRepresentation, certificates: certificates)
                members["proof"] = .string(TextEncoding.base64url.encode(proof.dataRepresentation))
            }
            return try JSON.members(members.merging(more) { $1 }).encoded()
        }
    }
}

extension AuthorityAnswer {
    var json: JSON { (try? JSON(parsing: body)) ?? .null }

    /// The status and, of a refusal, the code.
    var verdict: String { json["error_code"]?.string.map { "\(status) \($0)" } ?? "\(status)" }

    func credential() throws -> Credential {
        let activation = try #require(json["activation"])
        let parts = try ["credential", "secret"].map { name in
            try TextEncoding.base64.decode(#require(activation[name]?.string))
        }
        return Credential(idObject: parts[0], encryptedSecret: parts[1])
    }

    /// The AK certificate and those above it.
    func certificates() throws -> [[UInt8]] {
        try #require(json["ak_certificate"]?.array).map { try TextEncoding.base64.decode(#require($0.string)) }
    }
}

extension JSON {
    static func sent(_ bytes: [UInt8]) -> JSON { .string(TextEncoding.base64.encode(bytes)) }

    static func members(_ members: [String: JSON]) -> JSON {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        return .object(object)
    }
}
