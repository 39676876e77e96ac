// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension SecretAnswer {
    /// Checks that this is a certificate of this AK, which chains to one of the roots: before it is kept.
    ///
    /// - Parameters:
    ///   - roots: certificates (DER) of authorities. Without any of them nothing is accepted.
    ///   - now: Unix seconds.
    /// - Throws: the code of the first rule that does not hold; ``TenonError/Code/rule19PublicKey`` when it is another
    ///   key's.
    public func verify(for ak: PublicKey, roots: [[UInt8]], now: Int64) throws(TenonError) {
        let policy = ProofPolicy(trust: .roots(roots), now: now)
        let status = chain.withCoreBytes { chain, count in
            policy.withCore { policy in
                withUnsafePointer(to: ak.core) {
                    tenon_ak_certificate_verify(
                        nil, chain?.assumingMemoryBound(to: tenon_bytes.self), count, $0, policy)
                }
            }
        }
        try TenonError.check(status)
    }
}
