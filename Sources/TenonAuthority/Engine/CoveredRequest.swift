// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A device's request of signature version 2, whose signature covers all of it, as its service has read it: rules 1 to
/// 13 of docs/signing.md hold.
package struct CoveredRequest: Sendable {
    package var texts: CoveredTexts
    package var signature: ReceivedSignature
    /// The forms that the service takes here; none if it does not take version 2.
    package var forms: [RequestSigning.Form]
    /// Computes the SHA-256 of the content; called once the signature was verified.
    package var content: @Sendable () throws(Refusal) -> Digest

    package init(
        texts: CoveredTexts, signature: ReceivedSignature, forms: [RequestSigning.Form],
        content: @escaping @Sendable () throws(Refusal) -> Digest
    ) {
        self.texts = texts
        self.signature = signature
        self.forms = forms
        self.content = content
    }
}

/// How devices may sign requests.
package enum RequestSigning {
    /// A form of version 2, named by the tag that is signed.
    package enum Form: String, CaseIterable, Sendable {
        case plain = "tenon"
        case batch = "tenon-batch"
    }

    /// The versions that this authority knows.
    package static let versions = 1...2
    /// The most requests that one signature stands for.
    package static let largestBatch = ReceivedSignature.largestBatch
}

extension Refusal {
    /// Refuses a request of version 2 by one of the rules of docs/signing.md.
    package init(_ code: Code, rule: Int, _ message: String) {
        self.init(code, message, cause: "signing_rule_\(rule)")
    }

    /// Rule 16.
    fileprivate init(taking forms: [RequestSigning.Form]) {
        self.init(
            .signatureForm, rule: 16,
            forms.isEmpty
                ? "Requests of version 2 are not taken." : "Requests of this form are not taken. Sign it in another.")
        self.forms = forms.map(\.rawValue)
    }
}

extension AuthorityEngine {
    /// Fresh signatures of version 2 of one device in a second, which each cost a verification: more than a TPM makes.
    static let signaturesPerSecond = 64

    /// Verifies a request in the order of docs/signing.md, and remembers it, because it is valid only once.
    ///
    /// - Throws: the refusal to answer.
    package func verify(
        _ request: CoveredRequest, accepting accepted: AcceptedKey = .present
    ) async throws(Refusal) -> VerifiedRequest {
        guard let app = configuration.app(request.texts.appID) else { throw .unknownDevice }
        let device = try await waiting { () throws(TenonError) in
            try await stores.devices.device(app: request.texts.appID, id: request.texts.deviceID)
        }
        guard let device else { throw .unknownDevice }
        if let refusal = Refusal(of: device) { throw refusal }
        try checkAge(of: device, app, accepted, at: clock.now().seconds)
        try checkForm(request, device)
        let signer = try await signer(request, device, accepted)
        try checkTime(request.signature)
        let root = try refusing { () throws(TenonError) in try request.signature.root(of: request.texts) }
        let counted = try await checkSignature(root, signer, device)
        do throws(Refusal) {
            guard try request.content() == request.texts.content else {
                throw Refusal(.invalidRequest, rule: 20, "The content does not have this Content-Digest.")
            }
            try await rememberCounted(use(of: request.signature, root, device))
        } catch {
            // A captured request that somebody sends again is signed well. It uses up no share of the device.
            if let counted { secondRates.giveBack(Self.signatures(device.id), at: counted) }
            throw error
        }
        return VerifiedRequest(device: device, key: signer.key)
    }

    private static func signatures(_ deviceID: String) -> String { "signatures " + deviceID }

    private func rememberCounted(_ use: SignedUse) async throws(Refusal) {
        let (name, now) = ("requests " + use.deviceID, clock.now())
        try secondRates.count(name, limit: configuration.limits.requestsPerSecond, at: now)
        do throws(Refusal) {
            try await remember(use)
        } catch {
            secondRates.giveBack(name, at: now)
            throw error
        }
    }

    /// Refuses a form without a word about keys: a header that is damaged on the way must not make a device believe
    /// that the service refused its key.
    private func checkForm(_ request: CoveredRequest, _ device: Device) throws(Refusal) {
        let taken = device.signatureVersions.contains(2) ? request.forms : []
        guard taken.contains(request.signature.isBatch ? .batch : .plain) else { throw Refusal(taking: taken) }
    }

    private struct Signer {
        let key: PublicKey
        /// A former key, with which no request is accepted any more.
        var isFormer = false
    }

    /// The key that the request names.
    private func signer(
        _ request: CoveredRequest, _ device: Device, _ accepted: AcceptedKey
    ) async throws(Refusal) -> Signer {
        if request.signature.keyID == device.thumbprint { return Signer(key: device.publicKey) }
        let former = try await waiting { () throws(TenonError) in
            try await stores.devices.retiredKeys(ofDevice: device.id, limit: 2)
        }
        for (index, retired) in former.enumerated() {
            let thumbprint = try refusing { () throws(TenonError) in try retired.publicKey.thumbprint }
            guard thumbprint == request.signature.keyID else { continue }
            return Signer(key: retired.publicKey, isFormer: accepted != .presentOrPrevious || index > 0)
        }
        throw Refusal(.invalidSignature, rule: 17, "The device does not have the key that the request names.")
    }

    private func checkTime(_ signature: ReceivedSignature) throws(Refusal) {
        let (now, window) = (clock.now().seconds, MemoryReplayStore.window)
        guard now - window...now + window ~= signature.created, now <= signature.expires else {
            throw Refusal(.clockSkew, "The request was created too far from the service's time, or has expired.")
        }
    }

    /// The signature holds, or is known to: the device and its key were looked up before, for this request.
    ///
    /// - Returns: when the signature was counted as a fresh one; nil if it was known.
    private func checkSignature(
        _ root: SignedRoot, _ signer: Signer, _ device: Device
    ) async throws(Refusal) -> AuthorityInstant? {
        let now = clock.now()
        if !signer.isFormer && roots.knows(root, at: now) {
            metrics.countKnownRoot()
            return nil
        }
        let name = Self.signatures(device.id)
        // Only good signatures count, so nobody else uses up a device's share; and then another is not even verified.
        try secondRates.check(name, limit: AuthorityEngine.signaturesPerSecond, at: now)
        metrics.countVerification()
        let isGood = (try? root.verify(with: signer.key)) != nil
        if isGood && signer.isFormer { try await alarm(signer.key) }
        guard isGood && !signer.isFormer else {
            throw Refusal(.invalidSignature, rule: 19, "The signature was not made by the device's key.")
        }
        try secondRates.count(name, limit: AuthorityEngine.signaturesPerSecond, at: now)
        metrics.countRoot(size: max(1, root.size))
        roots.learn(root, at: now)
        return now
    }

    private func use(of signature: ReceivedSignature, _ root: SignedRoot, _ device: Device) -> SignedUse {
        let mark: SignedUse.Mark =
            signature.isBatch
            ? .member(thumbprint: root.thumbprint, root: root.root, size: root.size, index: signature.index)
            : .nonce(signature.nonce)
        return SignedUse(deviceID: device.id, mark: mark, timestamp: signature.created)
    }
}
