// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonTPM

/// The key of the bench; it is never written to a file.
final class TPMBenchKey {
    let key: TPM.PrivateKey
    let file: [UInt8]
    let digest: Digest
    /// The time of one signature in nanoseconds.
    private(set) var time = 0.0
    private let wire: BenchWire
    private var signing: [UInt8] = []

    init(in tpm: TPM, _ wire: BenchWire) throws(TenonError) {
        let digest = try Digest(hashing: Array("tenon bench".utf8))
        let key = try TPM.PrivateKey(in: tpm, options: .signsDigests)
        self.key = key
        self.digest = digest
        self.wire = wire
        file = key.dataRepresentation
        try Self.warmUp(key, digest)
        try keepSigning()
    }

    /// The first signature makes objects that the next ones use. It is also verified: a bench of bad signatures is
    /// worthless.
    static func warmUp(_ key: TPM.PrivateKey, _ digest: Digest) throws(TenonError) {
        let signature: Signature = try key.signature(for: digest)
        let isGood = key.publicKey.isValidSignature(signature, for: digest)
        guard isGood else {
            throw TenonError(
                .signatureInvalid, message: "The TPM made an invalid signature.", mend: "Run: tenon doctor")
        }
    }

    func sign() throws(TenonError) {
        let _: Signature = try key.signature(for: digest)
    }

    /// The floor: sends the bytes of a TPM2_Sign of Tenon's again, and checks only the response code.
    var floor: Side {
        wire.side("raw") { [self] () throws(TenonError) in
            if try repeated() { return }
            // The key has another handle by now, or the TPM was busy.
            try keepSigning()
            guard try repeated() else {
                throw TenonError(.tpmAnswer, message: "The TPM refused a command that it accepted before.")
            }
        }
    }

    private func keepSigning() throws(TenonError) {
        let begin = BenchClock.wall.now
        try sign()
        time = BenchClock.wall.now - begin
        guard let bytes = wire.signing else {
            throw TenonError(.tpmAnswer, message: "No TPM2_Sign went over the wire.")
        }
        signing = bytes
    }

    private func repeated() throws(TenonError) -> Bool {
        let bytes = signing
        do {
            return BenchCommandCode.responseCode(of: try wire.exchange(bytes.span)) == 0
        } catch let error as TenonError {
            throw error
        } catch {
            throw TenonError(.tpmTransport, message: "The connection to the TPM failed.")
        }
    }
}

/// A copy of the key in the TPM's NV memory.
final class TPMBenchCopy {
    private let copy: TPM.PrivateKey
    private let handle: UInt32
    let file: [UInt8]

    /// Loads the key once more: a key that has a persistent copy signs with it.
    init(of key: TPMBenchKey) throws(TenonError) {
        let copy = try TPM.PrivateKey(dataRepresentation: key.file, in: key.key.tpm, options: .signsDigests)
        let handle: UInt32
        do throws(TenonError) {
            handle = try copy.persist()
        } catch {
            // The answer was lost. The copy may exist; a second call finds it by its Name.
            if error.code == .tpmTransport, (try? copy.persist()) as UInt32? != nil { try? copy.evict() }
            throw error
        }
        self.copy = copy
        self.handle = handle
        file = copy.dataRepresentation
    }

    var name: String { "0x" + String(handle, radix: 16) }

    func evict() throws(TenonError) {
        do throws(TenonError) {
            try copy.evict()
        } catch {
            throw TenonError(
                error.code,
                message: "The copy of the bench's key stays in the TPM at \(name): \(error.message)",
                mend: "Remove it: tpm2_evictcontrol -C o -c \(name)")
        }
    }
}
