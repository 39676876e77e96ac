// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension ITWallet {
    /// The calls that the dialect has beside the initialization.
    public var calls: [WalletCall] { dialect.calls }

    /// Has the hardware key vouch for a fresh key, and returns what the provider issued for that; nil for a call that
    /// issues nothing.
    func attest(_ call: WalletCall, _ use: ServiceUse) async throws(TenonError) -> WalletAttestation? {
        guard dialect.calls.contains(where: { $0.name == call.name }) else { throw .noSuchCall(call.name, dialect) }
        return try await perform(use) { () throws(TenonError) in try await attestOnce(call, use) }
    }

    /// Makes a call: once more if the provider did not know the instance; if it refuses, whether it revoked the instance is
    /// asked.
    func perform<Value>(
        _ use: ServiceUse, _ call: () async throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        var hasAgain = false
        while true {
            do throws(TenonError) {
                return try await call()
            } catch  where error.httpStatus == 404 && !hasAgain {
                // The provider does not know the instance: the same key and tag are initialized again.
                hasAgain = true
                try await use.registerAgain()
            } catch  where error.httpStatus == 403 {
                guard try await confirmRevocation(use) else { throw error }
                throw .revokedInstance
            }
        }
    }

    private func attestOnce(_ call: WalletCall, _ use: ServiceUse) async throws(TenonError) -> WalletAttestation? {
        let (assertion, fresh, file) = try await bind(call, use)
        let answer = try await post(call.path, ["assertion": .string(assertion)], use)
        guard let member = call.answerMember else {
            guard answer.status == 204 else { throw refusal(of: answer) }
            return nil
        }
        guard answer.status == 200, let token = Self.token(in: answer.members, member) else {
            throw refusal(of: answer)
        }
        var kept = try await kept(use)
        kept.issuerKeys = try await issuerKeys(of: JWS(parsing: token), kept.issuerKeys, use)
        let attestation = try WalletAttestation(
            token, of: call, for: fresh.publicKey, file, issuer: baseURL, keys: kept.issuerKeys, now: use.time)
        kept.replace(attestation)
        try await use.keep(kept.encoded())
        return attestation
    }

    func kept(_ use: ServiceUse) async throws(TenonError) -> KeptAttestations {
        KeptAttestations(try await use.results(), tag: use.device.deviceID ?? "")
    }

    /// The request's JWS about a fresh key, which is made once the nonce is there.
    func bind(
        _ call: WalletCall, _ use: ServiceUse
    ) async throws(TenonError) -> (assertion: String, key: any DeviceKey, file: [UInt8]) {
        let nonce = try challenge(in: await use.exchange(request("GET", "/nonce"))).get().text
        let (fresh, file) = try await use.freshKey()
        let thumbprint = try fresh.publicKey.thumbprint
        let data =
            try call.attestsKeys && !call.assertsIntegrity
            ? ClientData.keys(dialect.nonceMember, nonce: nonce, thumbprints: [thumbprint])
            : ClientData.use(dialect.nonceMember, nonce: nonce, thumbprint: thumbprint)
        let hash = try Digest(hashing: data)
        let signature = try await use.signature(for: signsHashTwice ? .clientDataHash(data) : .clientData(data))
        let tag = use.device.deviceID ?? ""
        let known: JSON = [
            "iss": .string(call.name == WalletCall.wallet.name ? "\(baseURL)/\(thumbprint)" : tag),
            "aud": .string(baseURL), "iat": .integer(use.time), "exp": .integer(use.time + 300),
            "nonce": .string(nonce), "hardware_key_tag": .string(tag),
            "hardware_signature": .string(TextEncoding.base64url.encode(signature.derRepresentation)),
            "cnf": ["jwk": fresh.publicKey.jwk],
        ]
        var claims = known.object ?? JSONObject()
        if call.assertsIntegrity {
            let quote = try await use.quote(pcrs, over: hash)
            claims["integrity_assertion"] = .string(TextEncoding.base64url.encode(quote.dataRepresentation))
        }
        if call.namesSolution {
            claims["platform"] = .string(platform)
            claims["wallet_solution_id"] = .string(solutionID)
            claims["wallet_solution_version"] = .string(solutionVersion)
        }
        if call.attestsKeys {
            claims["keys_to_attest"] = .array([.string(try await attested(fresh, thumbprint, use.time))])
        }
        let header: JSON = ["alg": "ES256", "kid": .string(thumbprint), "typ": .string(call.type)]
        return (try await JWS.sign(header, .object(claims), by: fresh), fresh, file)
    }

    /// The JWS of a key that is to be attested, signed by the key itself.
    private func attested(_ key: any DeviceKey, _ thumbprint: String, _ now: Int64) async throws(TenonError) -> String {
        let header: JSON = ["alg": "ES256", "kid": .string(thumbprint), "typ": "key-attestation-request+jwt"]
        let claims: JSON = [
            "cnf": ["jwk": key.publicKey.jwk], "iat": .integer(now), "exp": .integer(now + 300),
            "wscd_key_attestation": ["storage_type": "LOCAL_NATIVE"],
        ]
        return try await JWS.sign(header, claims, by: key)
    }

    /// Of several formats of a wallet attestation, the one in JWT.
    private static func token(in members: JSONObject?, _ member: String) -> String? {
        guard let value = members?[member] else { return nil }
        return value.string ?? value.array?.first { $0["format"]?.string == "jwt" }?["wallet_attestation"]?.string
    }

    /// The keys of the provider: those that were configured, those that it published last if one of them signed the
    /// token, or those that it publishes now.
    private func issuerKeys(
        of token: JWS, _ kept: [PublicKey], _ use: ServiceUse
    ) async throws(TenonError) -> [PublicKey] {
        if let issuerKeys { return issuerKeys }
        if kept.contains(where: { token.isSigned(by: $0) }) { return kept }
        let answer = try await use.exchange(request("GET", "/jwks"))
        guard answer.status == 200, let keys = answer.members?["keys"]?.array else { throw refusal(of: answer) }
        return keys.compactMap { PublicKey(jwk: $0) }
    }

    func post(_ path: String, _ body: JSON, _ use: ServiceUse) async throws(TenonError) -> HTTPResponse {
        try await use.exchange(request("POST", path, body.encoded()))
    }

    /// The error for an answer that is not the success that was expected.
    func refusal(of answer: HTTPResponse) -> TenonError {
        let failure: ServiceAnswer<Never> = failure(answer)
        switch failure {
        case .refused(let refusal):
            return TenonError(
                .serviceRefused, message: refusal.error.message, httpStatus: answer.status,
                serverCode: refusal.error.serverCode)
        case .later(let error), .unclear(let error): return error
        }
    }
}

// Status, and what is done from time to time.
extension ITWallet {
    /// Whether the provider says, twice, that this instance is revoked; the record then keeps that.
    func confirmRevocation(_ use: ServiceUse) async throws(TenonError) -> Bool {
        guard dialect.status != nil else { return false }
        return try await use.revokeIfConfirmed { () throws(TenonError) in try await status(use) == .revoked }
    }

    func status(_ use: ServiceUse) async throws(TenonError) -> WalletStatus {
        guard let end = dialect.status, let tag = use.device.deviceID else { throw .noSuchCall("status", dialect) }
        let answer = try await use.exchange(request("GET", "/wallet-instances/\(tag)\(end)"))
        guard answer.status == 200, let members = answer.members, members["id"]?.string == tag else {
            if answer.status == 404 { return .unknown }
            throw refusal(of: answer)
        }
        if let isRevoked = members["is_revoked"]?.bool { return isRevoked ? .revoked : .active }
        switch members["status"]?.string {
        case "ACTIVE": return .active
        case "REVOKED": return .revoked
        default: throw .unreadable
        }
    }

    /// Asks whether the instance is revoked, and renews what grows old. A renewal that fails costs nothing: the next one
    /// tries again.
    package func maintain(_ use: ServiceUse) async throws(TenonError) {
        if try await confirmRevocation(use) { return }
        for attestation in try await kept(use).list where attestation.isDue(at: use.time) {
            guard let call = dialect.calls.first(where: { $0.name == attestation.call }) else { continue }
            do throws(TenonError) { _ = try await attest(call, use) } catch  where error.code != .deviceRevoked {
                if attestation.expiresAt ?? .max <= use.time { throw error }
            }
        }
    }
}

/// What a provider says about an instance.
public enum WalletStatus: String, Sendable {
    case active, revoked
    /// It does not know the instance.
    case unknown
}

extension DeviceIdentity {
    /// Has the hardware key vouch for a fresh key in the TPM, and returns what the provider issued for that key; nil for
    /// a call that issues nothing. What was issued is kept, and `maintain` renews it.
    ///
    /// - Throws: ``TenonError/Code/serviceStep`` for a call that the dialect does not have;
    ///   ``TenonError/Code/deviceRevoked`` if the provider says twice that the instance is revoked;
    ///   ``TenonError/Code/keyInvalidated`` if the TPM was cleared: register again.
    @discardableResult
    public func attest(
        _ call: WalletCall, at provider: ITWallet
    ) async throws(TenonError) -> WalletAttestation? {
        try await use { use throws(TenonError) in try await provider.attest(call, use) }
    }

    /// Asks the provider about this instance. A revocation counts once the provider has said it twice.
    public func walletStatus(at provider: ITWallet) async throws(TenonError) -> WalletStatus {
        try await use { use throws(TenonError) in
            var last = WalletStatus.unknown
            let isRevoked = try await use.revokeIfConfirmed { () throws(TenonError) in
                last = try await provider.status(use)
                return last == .revoked
            }
            return isRevoked ? .revoked : last
        }
    }

    /// Binds a fresh key as a relying party's instance and has a certificate issued for it.
    public func accessCertificate(at provider: ITWallet) async throws(TenonError) -> WalletAttestation {
        try await use { use throws(TenonError) in try await provider.accessCertificate(use) }
    }

    /// What the provider issued for this instance, as far as it is kept; nothing is sent.
    public func walletAttestations() throws(TenonError) -> [WalletAttestation] {
        guard let tag = deviceID else { return [] }
        return KeptAttestations(try results(), tag: tag).list
    }
}

extension TenonError {
    static func noSuchCall(_ name: String, _ dialect: WalletDialect) -> TenonError {
        TenonError(.serviceStep, message: "The dialect \(dialect.name) has no call \(name).")
    }

    static let revokedInstance = TenonError(
        .deviceRevoked, message: "The provider revoked this instance. Reset the identity, which removes its keys.")
}
