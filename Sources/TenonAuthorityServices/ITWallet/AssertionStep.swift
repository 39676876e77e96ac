// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// A request that was verified in every part.
struct VerifiedAssertion {
    let assertion: Assertion
    let device: Device
    /// The key of the request.
    let key: PublicKey

    /// Whether the key was proven to be in the TPM.
    var isInTPM: Bool { assertion.attested.first?.proof != nil }
}

extension ITWalletSteps {
    /// Verifies a request that uses the hardware key (decision: provider-order).
    func verifiedAssertion(_ kind: AssertionKind) async throws(Refusal) -> VerifiedAssertion {
        let assertion = try assertion(kind)
        _ = try await engine.redeem(assertion.nonce, for: app, at: engine.origin(of: request))
        let key = try signer(of: assertion)
        let device = try await device(assertion.tag.id)
        if let refusal = Refusal(of: device) { throw refusal }
        try checkNames(assertion, key)
        let digest = try refusing { () throws(TenonError) in
            try ClientData(nonce: assertion.nonce, thumbprint: key.thumbprint, isList: kind.listsThumbprints).digest
        }
        try proving { () throws(TenonError) in
            let signature = try Signature(derRepresentation: assertion.hardwareSignature.span)
            try device.publicKey.verify(signature, for: signed(digest))
        }
        let ak = try await attestationKey(of: device)
        if let quote = assertion.quote { try verify(quote, digest, by: ak) }
        try await checkMinimum(device)
        if kind.attestsKey { try await verify(assertion.attested, key, digest, of: device, by: ak) }
        return VerifiedAssertion(assertion: assertion, device: device, key: key)
    }

    private func assertion(_ kind: AssertionKind) throws(Refusal) -> Assertion {
        let message = try message("assertion")
        return try refusing(Refusal.init(form:)) { () throws(TenonError) in
            guard let text = try message.text("assertion", maxBytes: 32_768) else { throw message.missing("assertion") }
            return try Assertion(parsing: text, kind)
        }
    }

    /// The key in `cnf`, which must have signed the request in time.
    private func signer(of assertion: Assertion) throws(Refusal) -> PublicKey {
        try checkTimes(assertion.issuedAt, assertion.expiresAt)
        return try proving { () throws(TenonError) in
            let key = try assertion.key.publicKey
            try assertion.token.verify(by: key)
            return key
        }
    }

    /// Seconds by which a device's clock may differ.
    private static let clockSpan: Int64 = 300

    private func checkTimes(_ issuedAt: Int64, _ expiresAt: Int64) throws(Refusal) {
        let (now, span) = (engine.clock.now().seconds, Self.clockSpan)
        guard now - span...now + span ~= issuedAt, expiresAt > now, expiresAt > issuedAt else {
            throw Refusal(.invalidAssertion, "The request has expired, or is of another time.", cause: "times")
        }
    }

    /// The base URL may or may not name the app.
    private func checkNames(_ assertion: Assertion, _ key: PublicKey) throws(Refusal) {
        let origin = try engine.origin(of: request)
        guard [origin, origin + "/it-wallet/" + app.id].contains(assertion.audience) else {
            throw Refusal(.invalidAssertion, "The request is for another audience.", cause: "audience")
        }
        let thumbprint = try refusing { () throws(TenonError) in try key.thumbprint }
        let issuer = assertion.kind.isIssuedByAddress ? "\(assertion.audience)/\(thumbprint)" : assertion.tag.id
        guard assertion.issuer == issuer else {
            throw Refusal(.invalidAssertion, "The issuer of the request is not the instance.", cause: "issuer")
        }
    }

    /// What the hardware key signs: the client data, or for an app that says so its digest once more.
    private func signed(_ digest: Digest) throws(TenonError) -> Digest {
        settings.signsDigest ? try Digest(hashing: digest.rawRepresentation) : digest
    }

    private func attestationKey(of device: Device) async throws(Refusal) -> PublicKey {
        let ak = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.look { connection throws(TenonError) in
                try Instances.ak(of: device.id, in: connection)
            }
        }
        guard let ak else { throw .unknownInstance }
        return ak
    }

    /// The TPM was not denied, and the certificate of its attestation key was not revoked. A certificate that expired is
    /// forgotten, and says nothing.
    func checkMinimum(_ device: Device) async throws(Refusal) {
        guard let attestation = device.attestation, let serial = device.akSerial else { throw .belowMinimum }
        let isFit = try await waiting { () throws(TenonError) in
            if try await engine.stores.devices.isDenied(ek: attestation.ek) { return false }
            return try await engine.stores.devices.certificate(serial: serial)?.isLive ?? true
        }
        guard isFit else { throw .belowMinimum }
    }

    /// Verifies the one key that an attestation is asked for: it is the key of the request and, if a proof says so, in the
    /// TPM of the instance.
    private func verify(
        _ keys: [KeyToAttest], _ key: PublicKey, _ digest: Digest, of device: Device, by ak: PublicKey
    ) async throws(Refusal) {
        guard keys.count == 1 else {
            throw Refusal(.unprocessable, "Exactly one key can be attested at a time.", cause: "batch")
        }
        let one = keys[0]
        try checkTimes(one.issuedAt, one.expiresAt)
        try proving { () throws(TenonError) in
            guard try one.key.publicKey == key else {
                throw TenonError(.signatureInvalid, message: "The key to attest is not the key of the request.")
            }
            try one.token.verify(by: key)
        }
        guard let proof = one.proof else { return }
        try await engine.verify(Proof(sent: proof), of: key, nonce: digest, by: ak, app)
    }

    private func proving<Value>(_ body: () throws(TenonError) -> Value) throws(Refusal) -> Value {
        try refusing(Refusal.init(assertion:), body)
    }
}

extension Refusal {
    static let belowMinimum = Refusal(
        .belowMinimum, "The device is below the app's minimum: its TPM or its AK certificate was revoked.",
        cause: "minimum")

    /// Refuses a signature that does not hold, in the words of the core.
    init(assertion error: TenonError) {
        switch error.code.category {
        case .internal: self.init(error)
        default: self.init(.invalidAssertion, error.message, cause: "assertion")
        }
    }
}
