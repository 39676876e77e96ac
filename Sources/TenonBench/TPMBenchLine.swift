// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon
internal import TenonTPM

/// One line of the bench. The names are those of Bench/tpm/side_tenon.c.
struct TPMBenchLine {
    let name: String
    let hasTPM: Bool
    /// Whether the objects of a first call are kept for the next ones.
    let isWarm: Bool
    /// Makes the objects that are kept; they are freed with the side.
    let open: () throws(TenonError) -> Side

    private init(
        _ name: String, hasTPM: Bool = true, isWarm: Bool = true, _ open: @escaping () throws(TenonError) -> Side
    ) {
        self.name = name
        self.hasTPM = hasTPM
        self.isWarm = isWarm
        self.open = open
    }

    static let own = "tenon"
    private static let threads = 4

    /// - Parameter copy: the file of the key's persistent copy, if there is one.
    static func all(
        of key: TPMBenchKey, _ options: TPM.Options, _ wire: BenchWire, _ copy: [UInt8]?
    ) throws(TenonError) -> [TPMBenchLine] {
        let bench = Maker(key: key, options: options, wire: wire)
        let isPrimary = try wire.names(of: { () throws(TenonError) in try bench.first(key.file) })
            .contains("CreatePrimary")
        return [
            TPMBenchLine("sign", hasTPM: false, bench.software),
            TPMBenchLine("tpm-sign") { () throws(TenonError) in bench.side(key.sign) },
            TPMBenchLine("tpm-sign-salted") { () throws(TenonError) in try bench.signing(in: .salted) },
            TPMBenchLine("tpm-sign-encrypted") { () throws(TenonError) in try bench.signing(in: .encrypted) },
            TPMBenchLine("tpm-attest", bench.attesting),
            TPMBenchLine("tpm-first-\(isPrimary ? "primary" : "srk")", isWarm: false) { () throws(TenonError) in
                bench.side { () throws(TenonError) in try bench.first(key.file) }
            },
        ]
            + (copy.map { file in
                [
                    TPMBenchLine("tpm-first-handle", isWarm: false) { () throws(TenonError) in
                        bench.side { () throws(TenonError) in try bench.first(file) }
                    }
                ]
            } ?? [])
            + [TPMBenchLine("tpm-sign-threads-\(threads)") { () throws(TenonError) in bench.threads(threads) }]
    }

    /// Requests of signature version 2 that share a command: hashed, signed, and with their headers.
    static func batches(of key: TPMBenchKey, _ options: TPM.Options, _ wire: BenchWire) -> [TPMBenchLine] {
        let bench = Maker(key: key, options: options, wire: wire)
        return [1, 16, 256, RequestBatch.mostMembers].map { count in
            TPMBenchLine("tpm-batch-\(count)") { () throws(TenonError) in try bench.batch(count) }
        }
    }

    /// Makes the sides of the lines.
    private struct Maker {
        let key: TPMBenchKey
        let options: TPM.Options
        let wire: BenchWire

        func side(_ operation: @escaping Rounds.Operation) -> Side {
            wire.side(own, operation)
        }

        /// Signs with a software key: the CPU alone.
        func software() throws(TenonError) -> Side {
            let (software, digest) = (try SoftwareKey(signsDigests: true), key.digest)
            return Side(own) { () throws(TenonError) in _ = try software.key.signature(for: digest) }
        }

        func signing(in session: TPM.Session) throws(TenonError) -> Side {
            var options = options
            options.session = session
            let kept = try load(key.file, options)
            try TPMBenchKey.warmUp(kept, key.digest)
            return side { [digest = key.digest] () throws(TenonError) in
                let _: Signature = try kept.signature(for: digest)
            }
        }

        func attesting() throws(TenonError) -> Side {
            let (certified, nonce) = (key.key, key.digest.rawRepresentation)
            let ak: TPM.AttestationKey = try TPM.AttestationKey(beside: certified)
            return side { () throws(TenonError) in
                let _: Proof = try certified.attest(by: ak, qualifyingData: nonce)
            }
        }

        /// Opens the TPM, loads a key, signs once and closes: what a fresh process does.
        func first(_ file: [UInt8]) throws(TenonError) {
            let loaded = try load(file, options)
            let _: Signature = try loaded.signature(for: key.digest)
        }

        private func load(_ file: [UInt8], _ options: TPM.Options) throws(TenonError) -> TPM.PrivateKey {
            try TPM.PrivateKey(dataRepresentation: file, in: TPM(wire, options: options), options: .signsDigests)
        }

        func batch(_ count: Int) throws(TenonError) -> Side {
            let (key, content) = (key.key, key.digest)
            let thumbprint = try key.publicKey.thumbprint
            let target = RequestTarget("POST", authority: "api.example.com", path: "/v1/things")
            return wire.side(own, operations: count) { () throws(TenonError) in
                var members: [SignatureBase] = []
                for _ in 0..<count {
                    members.append(
                        try SignatureBase(
                            target, content: content, appID: "bench", deviceID: "bench", thumbprint: thumbprint,
                            created: 1_790_000_000, form: .batch))
                }
                let signature = try key.blockingSignature(for: RequestBatch { [members] in members })
                for index in 0..<count { _ = try signature.value(at: index) }
            }
        }

        /// Threads that sign at once and take turns at the TPM.
        func threads(_ count: Int) -> Side {
            let (key, digest) = (key.key, key.digest)
            let group = ThreadGroup(count) { () throws(TenonError) in let _: Signature = try key.signature(for: digest)
            }
            return wire.side(own, operations: count, group.run)
        }
    }
}

/// Threads that do the same work at once, again and again.
final class ThreadGroup: Sendable {
    typealias Work = @Sendable () throws(TenonError) -> Void

    private let threads: [WorkThread]
    private let work: Work
    private let failure = Mutex<TenonError?>(nil)
    private let done = Semaphore()

    init(_ count: Int, _ work: @escaping Work) {
        threads = (0..<count).map { _ in WorkThread() }
        self.work = work
    }

    /// Has each thread do the work once, and returns when all are done.
    func run() throws(TenonError) {
        failure.withLock { $0 = nil }
        // The threads do not retain it, so that the caller, which waits for them, is the one that frees it.
        let group = Unmanaged.passUnretained(self)
        var begun = 0
        for thread in threads {
            do throws(TenonError) {
                try thread.queue.add(thread.queue.ticket()) { _ in group._withUnsafeGuaranteedRef { $0.once() } }
                begun += 1
            } catch {
                failure.withLock { $0 = error }
            }
        }
        for _ in 0..<begun { done.wait() }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Nothing may be touched after the signal: the caller may free the group.
    private func once() {
        attempt()
        done.signal()
    }

    private func attempt() {
        do throws(TenonError) { try work() } catch { failure.withLock { $0 = error } }
    }
}
