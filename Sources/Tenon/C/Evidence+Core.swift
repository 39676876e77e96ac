// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension Evidence {
    /// The signature out of either form.
    ///
    /// - Throws: ``TenonError/Code/signatureForm`` for bytes that are exactly neither,
    ///   ``TenonError/Code/signatureRange``.
    public var parsedSignature: Signature {
        get throws(TenonError) {
            var signature = tenon_signature()
            try TenonError.check(withCore { tenon_evidence_signature(&signature, $0) })
            return try Signature(core: signature)
        }
    }

    /// The same evidence with the signature in DER form, as some verifiers of WebAuthn want it.
    ///
    /// - Throws: as ``parsedSignature``.
    public func withDERSignature() throws(TenonError) -> Evidence {
        var evidence = self
        evidence.signature = try parsedSignature.derRepresentation
        return evidence
    }

    init(core: tenon_evidence) {
        let certificates = withUnsafeBytes(of: core.x5c) {
            $0.bindMemory(to: tenon_bytes.self).prefix(core.x5c_count).map { [UInt8](core: $0) }
        }
        self.init(
            publicArea: [UInt8](core: core.public_area), certified: [UInt8](core: core.certified),
            signature: [UInt8](core: core.signature), certificates: certificates)
    }

    /// The evidence as the core takes it. Of certificates that are too many it is told their number.
    func withCore<Result>(_ body: (UnsafePointer<tenon_evidence>) -> Result) -> Result {
        ([publicArea, certified, signature] + certificates).withCoreBytes { parts, count in
            let parts = UnsafeBufferPointer(start: parts?.assumingMemoryBound(to: tenon_bytes.self), count: count)
            var core = tenon_evidence()
            core.public_area = parts[0]
            core.certified = parts[1]
            core.signature = parts[2]
            core.x5c_count = certificates.count
            withUnsafeMutableBytes(of: &core.x5c) {
                _ = $0.bindMemory(to: tenon_bytes.self).update(fromContentsOf: parts.dropFirst(3).prefix(4))
            }
            return withUnsafePointer(to: core, body)
        }
    }
}
