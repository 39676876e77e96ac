// SPDX-License-Identifier: Apache-2.0
import Tenon
import TestEvidence
import Testing

/// An attestation CA, and requests to it.
struct CARig {
    let authority: AuthorityRig
    let ca: AttestationCA
    let ak: PublicArea
    let pending = PendingActivations()
    let certificates: [String: [UInt8]]
    var policy: EndorsementPolicy
    var request: AttestRequest

    init() throws {
        authority = try AuthorityRig()
        ca = AttestationCA(authority: authority.issuer)
        ak = try PublicArea(dataRepresentation: ProofRig().akArea)
        certificates = try Vectors.certificates("certificates.txt")
        policy = EndorsementPolicy(roots: [try #require(certificates["root"])], now: 1_800_000_000)
        request = try AttestRequest(ekCertificates: [try #require(certificates["ek"])], ak: ak)
    }

    func certificate(_ name: String) throws -> [UInt8] { try #require(certificates[name]) }

    /// The refusal of `/attest`: nil if it returns a credential.
    func refusal(_ change: (inout AttestRequest) throws -> Void = { _ in }) throws -> TenonError.Code? {
        var request = request
        try change(&request)
        let body = try request.encoded()
        let code = codeThrown { try ca.answer(attest: body, endorsement: policy, pending: pending) }
        #expect((code == nil) == (pending.count == 1), "only a credential is waited for")
        return code
    }

    /// A credential whose secret is known here, as it would be to the TPM, and the body for `/secret`.
    func offer(_ number: UInt8 = 1) throws -> [UInt8] {
        let secret = Secret(copying: [UInt8](repeating: number, count: 32).span)
        let offer = try ca.offer(request, endorsement: policy, secret: secret)
        try pending.put(offer.activation, for: offer.digest, now: policy.now)
        return try SecretRequest(secret).encoded()
    }

    func code(secret body: [UInt8], after seconds: Int64 = 0) -> TenonError.Code? {
        var later = policy
        later.now += seconds
        return codeThrown { try ca.answer(secret: body, endorsement: later, pending: pending) }
    }
}
