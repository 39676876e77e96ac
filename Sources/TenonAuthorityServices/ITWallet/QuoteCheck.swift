// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

extension ITWalletSteps {
    /// Verifies an `integrity_assertion`: a quote of the app's PCRs, by the attestation key of the instance, for the
    /// client data of the request.
    func verify(_ quote: [UInt8], _ digest: Digest, by ak: PublicKey) throws(Refusal) {
        let policy = QuotePolicy(pcrs: settings.pcrs, digests: settings.pcrDigests)
        _ = try refusing(Refusal.init(quote:)) { () throws(TenonError) in
            try Quote(dataRepresentation: quote).verify(nonce: digest, by: ak, policy: policy)
        }
    }
}

extension Refusal {
    /// A good quote of values that are not accepted is about the device, not about the request.
    fileprivate init(quote error: TenonError) {
        guard error.code == .quote10Values else {
            self.init(assertion: error)
            return
        }
        self.init(.belowMinimum, "The PCRs do not have values that the app accepts.", cause: "pcrs")
    }
}
