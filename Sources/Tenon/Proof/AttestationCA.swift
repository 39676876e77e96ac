// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// An attestation CA as functions over the bodies of its two requests, `POST /attest` and `POST /secret`: a device shows
/// an AK and the certificate of its TPM's endorsement key, its TPM opens a secret for that AK, and the AK gets a
/// certificate.
///
/// ```swift
/// let answer = try ca.answer(attest: body, endorsement: policy, pending: pending)
/// let issued = try ca.answer(secret: body, endorsement: policy, pending: pending)
/// ```
///
/// The endorsement key comes only from its verified certificate. A secret is valid once, for a short
/// time, and is used up before anything is judged. A program that keeps activations elsewhere than in
/// ``PendingActivations`` calls ``offer(_:endorsement:)`` and ``certify(_:endorsement:)`` itself.
///
/// This proves that a genuine TPM holds the AK. It does not prove in which machine, or at whose request: neither an
/// origin nor an application is in these messages. The certificate alone therefore does not bind an application.
public struct AttestationCA: Sendable {
    /// Who issues the certificates.
    public var authority: AttestationAuthority
    /// Certificates, DER, that are sent after the authority's own, as far as devices need them.
    public var above: [[UInt8]]
    /// Seconds for which a secret is waited for.
    public var secretLifetime: Int64
    /// Seconds for which a certificate is good.
    public var certificateLifetime: Int64

    /// Makes a CA of an authority, by default with 90 s for a secret and 90 days for a certificate.
    public init(
        authority: AttestationAuthority, above: [[UInt8]] = [], secretLifetime: Int64 = 90,
        certificateLifetime: Int64 = 90 * 86_400
    ) {
        self.authority = authority
        self.above = above
        self.secretLifetime = secretLifetime
        self.certificateLifetime = certificateLifetime
    }

    /// A credential, and what must be remembered of it before it is sent.
    public struct Offer: Sendable {
        /// The body of the answer.
        public let answer: [UInt8]
        /// The SHA-256 of the secret.
        public let digest: Digest
        /// The value to keep under the digest.
        public let activation: PendingActivation
    }

    /// A certificate, and what must be recorded of it before it is sent.
    public struct Issued: Sendable {
        /// The body of the answer.
        public let answer: [UInt8]
        /// The certificate, DER.
        public let certificate: [UInt8]
        /// Its serial number, 16 bytes.
        public let serial: [UInt8]
        /// The AK that the certificate is for.
        public let ak: PublicArea
        /// The endorsement key of the AK's TPM.
        public let ek: EndorsementKey
    }

    /// Answers `POST /attest`. The policy's time is now.
    ///
    /// - Throws: as ``offer(_:endorsement:)`` and ``PendingActivations/put(_:for:now:)``.
    public func answer(
        attest body: [UInt8], endorsement policy: EndorsementPolicy, pending: PendingActivations
    ) throws(TenonError) -> [UInt8] {
        let offer = try offer(AttestRequest(parsing: body), endorsement: policy)
        try pending.put(offer.activation, for: offer.digest, now: policy.now)
        return offer.answer
    }

    /// Answers `POST /secret`. The secret is used up, whatever the result.
    ///
    /// - Throws: as ``SecretRequest/init(parsing:)`` and ``certify(_:endorsement:)``; ``TenonError/Code/secretNotPending``
    ///   for a secret that was never issued, or is already used.
    public func answer(
        secret body: [UInt8], endorsement policy: EndorsementPolicy, pending: PendingActivations
    ) throws(TenonError) -> Issued {
        let digest = try SecretRequest(parsing: body).digest
        guard let activation = pending.take(digest) else { throw TenonError(notPending: "is not expected") }
        return try certify(activation, endorsement: policy)
    }

    /// Judges a request, cheapest checks first: the AK, the certificates, the endorsement key.
    ///
    /// - Throws: ``TenonError/Code/keyPublic`` and similar codes for an AK that is not a P-256 key,
    ///   ``TenonError/Code/rule29AK`` for a key that is no AK, the code of the rule that the certificates break (without
    ///   any, ``TenonError/Code/rule22Certificate``), ``TenonError/Code/rule36EKKey`` when the request names another
    ///   endorsement key than they do.
    public func offer(
        _ request: AttestRequest, endorsement policy: EndorsementPolicy
    ) throws(TenonError) -> Offer {
        try offer(request, endorsement: policy, secret: Secret(random: AttestationCA.secretSize))
    }

    package static let secretSize = 32

    package func offer(
        _ request: AttestRequest, endorsement policy: EndorsementPolicy, secret: Secret
    ) throws(TenonError) -> Offer {
        let ak = try AttestationCA.attestationKey(of: request)
        let ek = try EndorsementKey(verifying: request.ekCertificates, policy: policy)
        let (digest, answer) = try AttestationCA.offer(request, to: ak, in: ek, secret: secret)
        return Offer(
            answer: try answer.encoded(), digest: digest,
            activation: PendingActivation(
                ak: ak, ekCertificate: request.ekCertificates[0], deadline: policy.now &+ secretLifetime))
    }

    /// The AK; it must have an AK's attributes.
    package static func attestationKey(of request: AttestRequest) throws(TenonError) -> PublicArea {
        let ak = try PublicArea(dataRepresentation: request.ak)
        try ak.verifyIsAttestationKey()
        return ak
    }

    /// A credential for whoever judges endorsement keys and keeps activations by himself.
    package static func offer(
        _ request: AttestRequest, to ak: PublicArea, in ek: EndorsementKey,
        secret: Secret = Secret(random: AttestationCA.secretSize)
    ) throws(TenonError) -> (digest: Digest, answer: AttestAnswer) {
        if let claimed = request.ek, try Digest(hashing: claimed) != ek.id {
            throw TenonError(.rule36EKKey, message: "The endorsement key does not match the certificate.")
        }
        return (try secret.digest, AttestAnswer(try Credential(secret, for: ek, akName: ak.name)))
    }

    /// Issues the certificate of an activation whose secret came back, if it came in time and its TPM was not denied
    /// meanwhile.
    ///
    /// - Throws: ``TenonError/Code/secretNotPending``, ``TenonError/Code/rule37EKAllowed``; as
    ///   ``AttestationAuthority/certificate(for:of:terms:)``.
    public func certify(
        _ activation: PendingActivation, endorsement policy: EndorsementPolicy
    ) throws(TenonError) -> Issued {
        guard policy.now < activation.deadline else { throw TenonError(notPending: "came too late") }
        let ek = try EndorsementKey(unverified: activation.ekCertificate)
        guard !policy.denied.contains(ek.id) else {
            throw TenonError(status: TenonError.Code.rule37EKAllowed.rawValue)
        }
        let serial = [UInt8](random: AttestationCA.serialSize)
        let terms = CertificateTerms(
            serial: serial, notBefore: policy.now &- AttestationCA.clockSkew,
            notAfter: policy.now &+ certificateLifetime)
        let certificate = try authority.certificate(for: activation.ak, of: ek, terms: terms)
        return Issued(
            answer: try SecretAnswer(chain: [certificate, authority.certificate] + above).encoded(),
            certificate: certificate, serial: serial, ak: activation.ak, ek: ek)
    }

    private static let serialSize = 16
    /// A certificate is good so many seconds before it was made, for clocks that are behind.
    private static let clockSkew: Int64 = 300
}

extension TenonError {
    fileprivate init(notPending what: String) {
        self.init(.secretNotPending, message: "The secret \(what). Ask for another credential.")
    }
}

/// An attestation CA's memory of a credential until its secret comes back, under the secret's SHA-256. Reading
/// the memory reveals no secret, and neither does the time that a search takes. Writing to it makes the CA issue
/// certificates. It consists of bytes and a number, so it can be stored outside the process.
public struct PendingActivation: Hashable, Sendable {
    /// The AK that the certificate will be for.
    public let ak: PublicArea
    /// The endorsement key's certificate, DER, which was verified.
    public let ekCertificate: [UInt8]
    /// Unix seconds at which the secret is worth nothing any more.
    public let deadline: Int64

    /// Takes what was verified, and the time until which a secret is waited for.
    public init(ak: PublicArea, ekCertificate: [UInt8], deadline: Int64) {
        self.ak = ak
        self.ekCertificate = ekCertificate
        self.deadline = deadline
    }
}

/// Where activations wait for their secrets, in memory. A service of many processes has its own in a shared store,
/// which needs ``put(_:for:now:)`` and ``take(_:)`` to be atomic, and no more.
///
/// It is bounded, and never drops one activation for another. An endorsement key has no share of its own: its
/// certificate is not secret, and anyone who knows it could use up the share. The service limits how often an
/// address may ask.
public final class PendingActivations: Sendable {
    private struct State {
        var entries: [Digest: PendingActivation] = [:]
        /// No entry ends before this.
        var nextDeadline = Int64.max
    }

    /// How many activations can wait.
    public let capacity: Int
    private let state = Mutex(State())

    /// Makes a memory for so many.
    public init(capacity: Int = 10_000) { self.capacity = max(1, capacity) }

    /// How many are kept, including expired ones that were not removed yet.
    public var count: Int { state.withLock { $0.entries.count } }

    /// Keeps an activation under the SHA-256 of its secret.
    ///
    /// - Throws: ``TenonError/Code/pendingFull`` with the time until there is room again.
    public func put(_ activation: PendingActivation, for digest: Digest, now: Int64) throws(TenonError) {
        let wait: Int64? = state.withLock { state in
            if state.entries.count >= capacity, now >= state.nextDeadline { PendingActivations.sweep(&state, now) }
            guard state.entries.count < capacity else { return max(1, state.nextDeadline &- now) }
            state.entries[digest] = activation
            state.nextDeadline = min(state.nextDeadline, activation.deadline)
            return nil
        }
        guard let wait else { return }
        throw TenonError(
            .pendingFull, message: "Too many activations are waiting for their secrets.", retryAfter: .seconds(wait))
    }

    /// Takes an activation away: of all who ask for it, one gets it. Whether it has ended is seen where it is used.
    public func take(_ digest: Digest) -> PendingActivation? {
        state.withLock { $0.entries.removeValue(forKey: digest) }
    }

    /// Only when something has ended since the last time, however often it is full.
    private static func sweep(_ state: inout State, _ now: Int64) {
        state.entries = state.entries.filter { now < $0.value.deadline }
        state.nextDeadline = state.entries.values.lazy.map(\.deadline).min() ?? .max
    }
}

extension TenonError.Code {
    /// A secret that an attestation CA does not wait for: it was never given out, was used, or came too late.
    public static let secretNotPending = Self(0x0340_0001, "TENON_ERROR_SECRET_NOT_PENDING")
    /// Too many activations are waiting for their secrets: try again later.
    public static let pendingFull = Self(0x0440_0001, "TENON_ERROR_PENDING_FULL")
}
