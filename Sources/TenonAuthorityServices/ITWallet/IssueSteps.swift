// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// What is issued for a verified request: JWTs by the provider's key, which name no person.
extension ITWalletSteps {
    /// The kinds that one path takes are told apart by the `typ` of the request.
    func bindKey() async throws(Refusal) -> AuthorityAnswer {
        let message = try message("assertion")
        let text = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try message.text("assertion", maxBytes: 32_768) ?? ""
        }
        guard CompactJWS.type(of: text) == AssertionKind.keyBinding.type else {
            let token = try instanceAttestation(for: await verifiedAssertion(.wallet))
            return try AuthorityAnswer([
                "wallet_attestations": [["format": "jwt", "wallet_attestation": .string(token)]]
            ])
        }
        let verified = try await verifiedAssertion(.keyBinding)
        try await waiting { () throws(TenonError) in
            try await engine.stores.devices.step { connection throws(TenonError) in
                try Instances.bind(verified.key, to: verified.device.id, in: connection)
            }
        }
        return .done
    }

    /// Issues a certificate for the key that was bound to an instance: the leaf, then its root, in PEM.
    func accessCertificate() async throws(Refusal) -> AuthorityAnswer {
        let message = try message("csr")
        let request = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            guard let text = try message.text("csr", maxBytes: 512) else { throw message.missing("csr") }
            return try CertificationRequest(parsing: TextEncoding.base64url.decode(text))
        }
        let found = try await waiting { [id = app.id] () throws(TenonError) in
            try await engine.stores.devices.look { connection throws(TenonError) in
                try Instances.bound(to: request.key, app: id, in: connection)
            }
        }
        guard let found else { throw Refusal(.invalidAssertion, "The key is bound to no instance.", cause: "unbound") }
        let device = try await device(found)
        if let refusal = Refusal(of: device) { throw refusal }
        try await checkMinimum(device)
        let chain = try refusing { () throws(TenonError) in
            let authority = AccessAuthority(
                name: "Access certificates of Tenon",
                key: try engine.keys.derivedKey("tenon/it-wallet/access/1\n" + app.id, isDeterministic: true))
            let now = engine.clock.now().seconds
            let leaf = try authority.certificate(
                for: request.key, of: InstanceTag(device.id), serial: [UInt8](random: 16), from: now - 300,
                to: now + Self.keyLife)
            return [leaf, try authority.root()]
        }
        return try AuthorityAnswer(["access_certificate": .string(chain.map(Self.pem).joined())])
    }

    private static func pem(_ certificate: [UInt8]) -> String {
        var text = TextEncoding.base64.encode(certificate)[...]
        var lines: [Substring] = []
        while !text.isEmpty {
            lines.append(text.prefix(64))
            text = text.dropFirst(64)
        }
        return "-----BEGIN CERTIFICATE-----\n\(lines.joined(separator: "\n"))\n-----END CERTIFICATE-----\n"
    }

    func attestInstance() async throws(Refusal) -> AuthorityAnswer {
        let token = try instanceAttestation(for: await verifiedAssertion(.instance))
        return try AuthorityAnswer(["wallet_instance_attestation": .string(token)])
    }

    func attestUnit() async throws(Refusal) -> AuthorityAnswer {
        let token = try keyAttestation(for: await verifiedAssertion(.unit))
        return try AuthorityAnswer(["wallet_unit_attestation": .string(token)])
    }

    func attestKey() async throws(Refusal) -> AuthorityAnswer {
        let token = try keyAttestation(for: await verifiedAssertion(.key))
        return try AuthorityAnswer(["key_attestation": .string(token)])
    }

    /// The key that signs what this service issues.
    func publishedKeys() throws(Refusal) -> AuthorityAnswer {
        let jwk = try refusing { () throws(TenonError) in
            let key = try issuer.publicKey
            guard case .object(var jwk) = key.jwk else { return key.jwk }
            (jwk["alg"], jwk["use"], jwk["kid"]) = ("ES256", "sig", .string(try key.thumbprint))
            return .object(jwk)
        }
        return try AuthorityAnswer(["keys": [jwk]])
    }

    private static let instanceLife: Int64 = 86_400
    private static let keyLife: Int64 = 31 * 86_400

    private var issuer: SoftwareKey {
        get throws(TenonError) { try engine.keys.derivedKey("tenon/it-wallet/issuer/1\n" + app.id) }
    }

    private func instanceAttestation(for verified: VerifiedAssertion) throws(Refusal) -> String {
        try token("oauth-client-attestation+jwt", Self.instanceLife, verified) { claims throws(TenonError) in
            claims["sub"] = .string(try verified.key.thumbprint)
            claims["cnf"] = ["jwk": verified.key.jwk]
        }
    }

    /// Says what was verified, and no more: of a key with a proof, that it is in the TPM and cannot leave it.
    private func keyAttestation(for verified: VerifiedAssertion) throws(Refusal) -> String {
        try token("key-attestation+jwt", Self.keyLife, verified) { claims throws(TenonError) in
            claims["attested_keys"] = [verified.key.jwk]
            claims["cnf"] = ["jwk": verified.key.jwk]
            guard verified.isInTPM else { return }
            claims["key_storage"] = ["iso_18045_basic"]
            claims["key_storage_info"] = ["storage_type": "LOCAL_NATIVE", "keys_exportable": false]
        }
    }

    private func token(
        _ type: String, _ life: Int64, _ verified: VerifiedAssertion,
        _ add: (inout JSONObject) throws(TenonError) -> Void
    ) throws(Refusal) -> String {
        let now = engine.clock.now().seconds
        var claims = JSONObject()
        claims["iss"] = .string(verified.assertion.audience)
        claims["iat"] = .integer(now)
        claims["exp"] = .integer(now + life)
        if let solution = verified.assertion.solution {
            claims["platform"] = .string(solution.platform)
            claims["wallet_solution_id"] = .string(solution.id)
            claims["wallet_solution_version"] = .string(solution.version)
        }
        return try refusing { () throws(TenonError) in
            try add(&claims)
            return try CompactJWS.sign(.object(claims), type: type, by: issuer)
        }
    }
}
