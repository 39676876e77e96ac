// SPDX-License-Identifier: Apache-2.0
internal import CTenonTPM
public import Tenon

// Keys that need a value, such as a person's PIN, for each use.
extension TPM.PrivateKey {
    /// Makes a key that is used only with this value, of 1 to 32 bytes. The TPM counts wrong values and locks itself
    /// after too many; the error's category is then ``TenonError/Category/auth``. The key keeps no value.
    public init(in tpm: TPM? = nil, guardedBy auth: [UInt8], options: Options = []) async throws(TenonError) {
        let tpm = try TPM.given(tpm)
        self = try await tpm.thread.run { () throws(TenonError) in
            try Self.create(in: tpm, guardedBy: auth, options)
        }
    }

    /// Signs a message of the device with a key that is guarded by a value.
    public func signature(
        for message: SignableMessage, guardedBy auth: [UInt8]
    ) async throws(TenonError) -> Signature {
        try await tpm.run { () throws(TenonError) in
            try authorized(auth) { () throws(TenonError) in try signer.value.signature(for: message) }
        }
    }

    /// Has the TPM certify a key that is guarded by a value.
    public func attest(
        by ak: TPM.AttestationKey, qualifyingData data: [UInt8], certificates: [[UInt8]] = [], guardedBy auth: [UInt8]
    ) async throws(TenonError) -> Proof {
        try await tpm.run { () throws(TenonError) in
            try authorized(auth) { () throws(TenonError) in try ak.certify(object, data, certificates) }
        }
    }

    private static func create(
        in tpm: TPM, guardedBy auth: [UInt8], _ options: Options
    ) throws(TenonError) -> TPM.PrivateKey {
        try tpm.using { () throws(TenonError) in
            let key = try Self(TPMObject(in: tpm) { tenon_tpm_key_create_guarded($0, &$1, auth.span) }, options)
            try key.forgetAuthorization()
            return key
        }
    }

    /// Proves the value for one use, and forgets it.
    func authorized<Value>(
        _ auth: [UInt8], _ use: () throws(TenonError) -> Value
    ) throws(TenonError) -> Value {
        try TenonError.check(tenon_tpm_key_authorize(object.pointer, auth.span))
        do throws(TenonError) {
            let value = try use()
            try forgetAuthorization()
            return value
        } catch {
            try? forgetAuthorization()
            throw error
        }
    }

    private func forgetAuthorization() throws(TenonError) {
        try TenonError.check(tenon_tpm_key_authorize(object.pointer, [UInt8]().span))
    }
}

/// A key for each use of which a person is asked.
struct GuardedKey: DeviceKey {
    let key: TPM.PrivateKey
    let unlock: TPM.Unlock

    var publicKey: PublicKey { key.publicKey }
    var isHardware: Bool { key.isHardware }

    func signature(for message: SignableMessage) async throws(TenonError) -> Signature {
        try await key.signature(for: message, guardedBy: unlock())
    }

    /// Nobody can be asked on a thread that must not wait for a person: ``TenonError/Code/authNeeded``.
    func blockingSignature(for message: SignableMessage) throws(TenonError) -> Signature {
        try key.blockingSignature(for: message)
    }

    func signature(for base: SignatureBase) async throws(TenonError) -> Signature {
        try await key.signature(for: base, guardedBy: unlock())
    }

    func blockingSignature(for base: SignatureBase) throws(TenonError) -> Signature {
        try key.blockingSignature(for: base)
    }

    func signature(for batch: RequestBatch) async throws(TenonError) -> BatchSignature {
        try await key.signature(for: batch, guardedBy: unlock())
    }
}
