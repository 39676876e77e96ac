// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonTPM

/// One line: its names are those of Bench/tpm/side_tenon.c.
struct TPMBenchLine {
    let name: String
    let hasTPM: Bool
    /// Whether what a first call makes is kept.
    let isWarm: Bool
    /// Makes what may be kept; it is given back with the contender.
    let open: () throws(TenonError) -> Contender

    private init(
        _ name: String, hasTPM: Bool = true, isWarm: Bool = true, _ open: @escaping () throws(TenonError) -> Contender
    ) {
        self.name = name
        self.hasTPM = hasTPM
        self.isWarm = isWarm
        self.open = open
    }

    static let own = "tenon"
    private static let threads = 4

    /// - Parameter copy: the file of a key with a persistent copy, if there is one.
    static func all(
        of key: TPMBenchKey, _ options: TPM.Options, _ wire: BenchWire, _ copy: [UInt8]?
    ) throws(TenonError) -> [TPMBenchLine] {
        let bench = Maker(key: key, options: options, wire: wire)
        let isPrimary = try wire.names(of: { () throws(TenonError) in try bench.first(key.file) })
            .contains("CreatePrimary")
        return [
            TPMBenchLine("sign", hasTPM: false, bench.software),
            TPMBenchLine("tpm-sign") { () throws(TenonError) in bench.contender(key.sign) },
            TPMBenchLine("tpm-sign-salted") { () throws(TenonError) in try bench.signing(in: .salted) },
            TPMBenchLine("tpm-sign-encrypted") { () throws(TenonError) in try bench.signing(in: .encrypted) },
            TPMBenchLine("tpm-attest", bench.attesting),
            TPMBenchLine("tpm-first-\(isPrimary ? "primary" : "srk")", isWarm: false) { () throws(TenonError) in
                bench.contender { () throws(TenonError) in try bench.first(key.file) }
            },
        ]
            + (copy.map { file in
                [
                    TPMBenchLine("tpm-first-handle", isWarm: false) { () throws(TenonError) in
                        bench.contender { () throws(TenonError) in try bench.first(file) }
                    }
                ]
            } ?? [])
            + [TPMBenchLine("tpm-sign-threads-\(threads)") { () throws(TenonError) in bench.crowd(threads) }]
    }

    /// What the lines do.
    private struct Maker {
        let key: TPMBenchKey
        let options: TPM.Options
        let wire: BenchWire

        func contender(_ operation: @escaping Rounds.Operation) -> Contender {
            wire.contender(own, operation)
        }

        /// What the CPU does alone.
        func software() throws(TenonError) -> Contender {
            let (software, digest) = (try SoftwareKey(signsDigests: true), key.digest)
            return Contender(own) { () throws(TenonError) in _ = try software.key.signature(for: digest) }
        }

        func signing(in session: TPM.Session) throws(TenonError) -> Contender {
            var options = options
            options.session = session
            let kept = try load(key.file, options)
            try TPMBenchKey.warmUp(kept, key.digest)
            return contender { [digest = key.digest] () throws(TenonError) in
                let _: Signature = try kept.signature(for: digest)
            }
        }

        func attesting() throws(TenonError) -> Contender {
            let (certified, nonce) = (key.key, key.digest.rawRepresentation)
            let ak: TPM.AttestationKey = try TPM.AttestationKey(beside: certified)
            return contender { () throws(TenonError) in
                let _: Proof = try certified.attest(by: ak, qualifyingData: nonce)
            }
        }

        /// What a fresh process does, to its end.
        func first(_ file: [UInt8]) throws(TenonError) {
            let loaded = try load(file, options)
            let _: Signature = try loaded.signature(for: key.digest)
        }

        private func load(_ file: [UInt8], _ options: TPM.Options) throws(TenonError) -> TPM.PrivateKey {
            try TPM.PrivateKey(dataRepresentation: file, in: TPM(wire, options: options), options: .signsDigests)
        }

        /// They take turns at the TPM.
        func crowd(_ count: Int) -> Contender {
            let (key, digest) = (key.key, key.digest)
            let crowd = Crowd(count) { () throws(TenonError) in let _: Signature = try key.signature(for: digest) }
            return wire.contender(own, operations: count, crowd.run)
        }
    }
}
