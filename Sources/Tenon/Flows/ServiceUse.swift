// SPDX-License-Identifier: Apache-2.0

/// What a call of a service beside the registration may use. The registrar lends it while it holds the identity's lock:
/// the call sends and signs through it, and keeps its results in a file beside the record.
package struct ServiceUse {
    let flow: Flow
    let current: IdentityKey

    /// - Throws: ``TenonError/Code/notRegistered``, ``TenonError/Code/deviceRevoked``,
    ///   ``TenonError/Code/keyInvalidated``.
    init(_ flow: Flow) throws(TenonError) {
        guard !flow.record.isRevoked else { throw .revoked }
        guard flow.record.state == .registered, let current = flow.record.key(.current) else {
            throw flow.record.state == .keyInvalid ? .invalidated(flow.record.cause) : .notRegistered
        }
        self.flow = flow
        self.current = current
    }

    package var device: ServiceDevice { flow.device }
    /// Unix seconds on the service's clock.
    package var time: Int64 { flow.serviceTime }

    package var publicKey: PublicKey {
        get async throws(TenonError) { try await flow.load(current).publicKey }
    }

    /// A signature of the identity's key.
    ///
    /// - Throws: ``TenonError/Code/keyInvalidated`` if the TPM will never sign with it again.
    package func signature(for message: SignableMessage) async throws(TenonError) -> Signature {
        try await flow.signature(for: message, by: current)
    }

    /// A key for one purpose, which is no key of the identity: with its file, which the caller keeps if the key is to
    /// be used again.
    package func freshKey() async throws(TenonError) -> (key: any DeviceKey, file: [UInt8]) {
        let facts = try await flow.vault.makeKey()
        return (try await flow.vault.key(facts), facts.pem)
    }

    /// What the identity's attestation key says about the PCRs.
    package func quote(_ pcrs: Set<Int>, over digest: Digest) async throws(TenonError) -> Quote {
        do throws(TenonError) {
            let (ak, _) = try await flow.attestationKey(beside: current)
            // One that was made again is not the one that the service knows.
            if flow.record.attestationKey?.isActivated != true { try await registerAgain() }
            return try await flow.vault.quote(of: pcrs, by: ak, qualifyingData: digest.rawRepresentation)
        } catch  where error.httpStatus == nil && error.code.category != .unknown {
            throw .attestation(error)
        }
    }

    /// Sends a request once.
    package func exchange(_ request: HTTPRequest) async throws(TenonError) -> HTTPResponse {
        try await flow.exchange(request)
    }

    /// Registers the key that is registered, which changes no state, for a service that does not know it any more.
    package func registerAgain() async throws(TenonError) {
        guard let attester = try await flow.attester(beside: current) else { return }
        try await flow.certify(attester)
        try await flow.registerAgain(current, attester)
    }

    /// Keeps a revocation of which the service is sure: it says so twice (decision: definite-refusal).
    ///
    /// - Returns: whether the device is revoked now.
    package func revokeIfConfirmed(_ ask: () async throws(TenonError) -> Bool) async throws(TenonError) -> Bool {
        guard try await ask(), try await ask() else { return false }
        try flow.record.revoke()
        try await flow.save()
        return true
    }

    /// The results that were kept last, if there are any.
    package func results() async throws(TenonError) -> [UInt8]? {
        try await flow.context.onDisk { store throws(TenonError) in try store.results() }
    }

    package func keep(_ results: [UInt8]) async throws(TenonError) {
        let held = flow.held
        try await flow.context.onDisk { store throws(TenonError) in try store.saveResults(results, held) }
    }
}

extension DeviceIdentity {
    /// Runs a call of the service. Calls of one identity take turns, among processes, too.
    package func use<Value: Sendable>(
        _ call: (ServiceUse) async throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        let held = try await lock()
        defer { held.release() }
        let flow = try await Flow(context, held)
        try await flow.takeUpAbandonedKey()
        return try await call(try ServiceUse(flow))
    }

    /// What the calls of the service came to, without a TPM and without the service.
    package func results() throws(TenonError) -> [UInt8]? { try context.store.results() }
}

// The results of a service's calls: they can be had again, so they are no part of the record.
extension RecordStore {
    private static let longestResults = 262_144

    func results() throws(TenonError) -> [UInt8]? {
        switch folder.read(name.results, atMost: Self.longestResults) {
        case .found(let file): file.bytes
        case .absent: nil
        case .unreadable(let error): throw error
        }
    }

    func saveResults(_ bytes: [UInt8], _ held: FileLock.Held) throws(TenonError) {
        _ = try found(held)
        guard bytes.count <= Self.longestResults else {
            throw TenonError(.tooLarge, message: "The results have more than \(Self.longestResults) bytes.")
        }
        try folder.write(bytes, to: name.results)
    }
}

extension IdentityName {
    /// The file of what a service's calls came to.
    var results: String { id + ".results" }
    /// Stands while an identity is being removed.
    var erasure: String { id + ".erase" }
}
