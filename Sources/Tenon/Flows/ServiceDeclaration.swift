// SPDX-License-Identifier: Apache-2.0

/// What a service is like, as values: the registrar reads them, and no code of a profile decides it
/// (decision: declared).
package struct ServiceDeclaration: Sendable {
    /// The kind of service.
    package var profile: String
    package var dialect: String
    /// Checked: `https`, or `http` on loopback in a build for development.
    package var baseURL: String
    /// The name that people give the key.
    package var alias: String
    package var platform: String

    package var keys = KeyPlan.one
    /// nil where a registration needs no challenge.
    package var challenge: ChallengeRule? = ChallengeRule()
    package var attestation = AttestationRule.none
    /// An attestation that is required is never done without, and never replaced by another dialect
    /// (decision: never-weaker).
    package var isAttestationRequired = true
    /// Whether the TPM is looked at before the first key is made: a registration with one that is locked, or whose
    /// hierarchies are off, is refused before anything is made or sent.
    package var checksTPM = false
    /// Whether a key from before, of which nothing was sent, is replaced by a registration, once a call.
    package var replacesUnsentKey = false
    /// Whether a reset removes the keys for good, and does not set them aside (decision: removed-keys).
    package var removesKeys = false
    /// The treatment of a message whose answer was lost.
    package var resend = Journal.Resend.fresh
    /// Whether each message has a number that no other may have.
    package var isSequenced = false
    package var signatures = SignatureRule.asMade
    /// The versions of request signing that the device may use. The service says which of them it takes where.
    package var signatureVersions: [Int64] = [1]
    package var keyAge = KeyAge.limited(.seconds(90 * 86_400))
    package var rotation = RotationRule.none
    /// How to find out which key the service holds, in this order.
    package var settlements: [Settlement] = []
    /// The meanings of the service's codes. A code that is not listed changes no state.
    package var verdicts: [String: ServiceVerdict] = [:]
    /// The meanings of answers by their status, for a service whose codes alone do not say it. The most exact one
    /// counts: status and code, then the code, then the status.
    package var exactVerdicts: [AnswerKind: ServiceVerdict] = [:]
    /// The media types of an answer whose code is believed (decision: definite-refusal).
    package var errorTypes = ["application/json"]

    package init(profile: String, dialect: String, baseURL: String, alias: String, platform: String = "linux") {
        self.profile = profile
        self.dialect = dialect
        self.baseURL = baseURL
        self.alias = alias
        self.platform = platform
    }
}

/// Which keys an identity has.
package enum KeyPlan: Sendable {
    /// One, and while a rotation is not settled the one that it offers.
    case one
    /// Two at all times: each message names the current key, and binds itself to the one after it.
    case committedNext
}

/// An answer that is not a success: its status, and its code if that matters.
package struct AnswerKind: Hashable, Sendable {
    let status: Int
    let code: String?

    package init(_ status: Int, _ code: String? = nil) { (self.status, self.code) = (status, code) }
}

/// What a service asks of signatures.
package enum SignatureRule: Sendable {
    case asMade
    /// Each has the smaller s, and was verified with the public key before it leaves the vault.
    case strict
}

/// How old a key may get before `maintain` changes it.
package enum KeyAge: Equatable, Sendable {
    case limited(Duration)
    case unlimited
}

package struct ChallengeRule: Sendable {
    /// No challenge is good for longer, whatever its service says.
    package var longestLife = Duration.seconds(90)
    /// How long before its end a challenge is not used any more.
    package var margin = Duration.seconds(5)

    package init() {}
}

/// The evidence that the key was made in a TPM.
package enum AttestationRule: Sendable {
    case none
    /// A proof, with the attestation key's certificate, which is got before from an attestation CA.
    case certificate
    /// A proof without certificates; the challenge comes with a credential that only the right TPM opens.
    case activation
}

package enum RotationRule: Equatable, Sendable {
    /// A new key is a new identity.
    case none
    /// The current key signs the message that names the next one; `isProven`: the attestation key certifies that one.
    case signedByCurrent(isProven: Bool)
    /// The key to which the last message was bound signs.
    case signedByNext
}

/// A way to find out which key a service holds (decision: own-endpoints).
package enum Settlement: Sendable {
    /// It can be asked, by a request that the candidate signs.
    case ask
    /// The rotation is offered again.
    case resend
    /// The candidate asks to be rotated to itself.
    case selfRotation
}

/// The meaning of a code of the service.
package enum ServiceVerdict: Sendable {
    /// Take a new challenge and begin again.
    case challengeSpent
    case attestationRefused
    /// The attestation did not work out, which another one may.
    case attestationFailed
    /// The registration is refused for good.
    case rejected
    case revoked
    /// The signature is not of a key that it holds, or it knows no such device: settles what a rotation came to.
    case keyRefused
    case clockSkew
    /// The host does not take this form of signature version 2.
    case formRefused
    /// The key is older than the service takes: it is to be changed.
    case keyExpired
    case nonceReplay
    /// The old key stays.
    case rotationRefused
    /// Come again later.
    case busy
    /// Another message has this number, or the one before it is missing: the service is asked what it holds.
    case numberRefused
}
