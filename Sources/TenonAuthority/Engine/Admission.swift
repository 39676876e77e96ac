// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// The roots of EK certificates, as the record of an app names them.
package struct EndorsementRoots: Sendable {
    /// DER.
    package var certificates: [[UInt8]]
    /// Whether an EK certificate must name its use, because the issuers sign other certificates, too.
    package var requiresUsage: Bool

    package init(certificates: [[UInt8]], requiresUsage: Bool) {
        self.certificates = certificates
        self.requiresUsage = requiresUsage
    }
}

/// An EK that an app admits, and the words about its TPM that may be passed on.
struct AdmittedKey: Sendable {
    let key: EndorsementKey
    /// From a certificate that chains, or from the inventory's own line; an empty one is unknown.
    let words: EndorsementPolicy.Model
}

extension EndorsementKey {
    /// The certificate's words about the TPM.
    fileprivate var words: EndorsementPolicy.Model { .init(maker: maker, model: model, version: version) }
}

extension AuthorityEngine {
    /// Admits the EK of the certificates that were sent, if the app takes it (decision: admitted-tpm).
    ///
    /// - Throws: ``Refusal/Code/invalidAttestation``: 400 if they are not an EK certificate, 403 if the app does not
    ///   take the EK.
    func admit(_ certificates: [[UInt8]], for app: AppRecord) async throws(Refusal) -> AdmittedKey {
        let isVerified = app.ekAdmission.needsChain
        let key = isVerified ? try await known(certificates, for: app) : try named(certificates)
        let line = app.inventory[key.id]
        let isDenied = configuration.ekDeny.contain(key.id, [key.words, line].compactMap { $0 })
        guard !isDenied, !certificates.contains(where: revoked.contains) else { throw .ekDenied }
        if app.ekAdmission.needsInventory, line == nil {
            throw Refusal(
                .invalidAttestation, "The TPM is not in the app's inventory.", status: 403, cause: "not_in_inventory")
        }
        let hidden = try refusing { () throws(TenonError) in try keys.hidden(key.id) }
        guard try await waiting({ () throws(TenonError) in try await !stores.devices.isDenied(ek: hidden) }) else {
            throw .ekDenied
        }
        // Words of an unverified certificate are not passed on.
        return AdmittedKey(key: key, words: isVerified ? key.words : line ?? .init())
    }

    /// An inventory identifies a TPM by its key alone, because some TPMs have no certificate that chains.
    private func named(_ certificates: [[UInt8]]) throws(Refusal) -> EndorsementKey {
        guard certificates.count == 1 else { throw Refusal(.invalidAttestation, "One EK certificate is expected.") }
        return try refusing(Refusal.init(attestation:)) { () throws(TenonError) in
            try EndorsementKey(unverified: certificates[0])
        }
    }

    /// The EK of certificates that are verified now, or were recently.
    private func known(_ certificates: [[UInt8]], for app: AppRecord) async throws(Refusal) -> EndorsementKey {
        let name = try refusing { () throws(TenonError) in try EndorsementCache.name(certificates, app: app.id) }
        if let key = endorsements.key(name, at: clock.now()) { return key }
        let key = try await gate.run { () throws(Refusal) in try verified(certificates, for: app) }
        endorsements.keep(key, name, at: clock.now())
        return key
    }

    private func verified(_ certificates: [[UInt8]], for app: AppRecord) throws(Refusal) -> EndorsementKey {
        var refusal = Refusal(
            .invalidAttestation, "The app has no EK roots. Its operator must add them.", status: 403,
            cause: "no_ek_roots")
        for roots in ekRoots[app.id] ?? [] where !roots.certificates.isEmpty {
            let policy = EndorsementPolicy(
                roots: roots.certificates, now: clock.now().seconds, requiresUsage: roots.requiresUsage,
                allowsSimulator: configuration.isLocal, denied: Array(configuration.ekDeny.ids),
                deniedModels: configuration.ekDeny.models)
            do throws(TenonError) {
                return try EndorsementKey(verifying: certificates, policy: policy)
            } catch {
                refusal = Refusal(attestation: error)
            }
        }
        throw refusal
    }
}

extension Refusal {
    static let ekDenied = Refusal(
        .invalidAttestation, "The TPM is denied.", status: 403, cause: "ek_denied")

    /// Refuses a proof, a certificate or a key that breaks a rule, in the words of that rule.
    package init(attestation error: TenonError) {
        let isUntrusted: [TenonError.Code] = [.rule24Chain, .rule33EKChain, .rule37EKAllowed]
        switch error.code.category {
        case .internal: self.init(error)
        default:
            self.init(
                .invalidAttestation, error.message, status: isUntrusted.contains(error.code) ? 403 : nil,
                cause: Refusal.cause(of: error.code))
        }
    }
}

extension EndorsementRoots {
    /// Reads the certificates of a PEM file, or of a folder's files that end with `.pem` or `.crt`. It blocks.
    ///
    /// - Throws: ``TenonError/Code/configuration``, whose message names the file, or the folder without such files.
    package init(reading path: String, requiresUsage: Bool) throws(TenonError) {
        var certificates: [[UInt8]] = []
        for file in PEMFile.all(at: path, suffixes: [".pem", ".crt"]) {
            certificates += try file.blocks("CERTIFICATE", member: "ek_roots")
        }
        guard !certificates.isEmpty else {
            throw TenonError(.configuration, message: "\(path) has no file that ends with .pem or .crt. Add the roots.")
        }
        self.init(certificates: certificates, requiresUsage: requiresUsage)
    }
}

/// Caches EKs whose certificates were verified, so that a device that asks again costs no signature checks (decision:
/// costly-signatures). Roots and policy do not change while a service runs, but dates expire, so no entry is kept for
/// more than an hour.
final class EndorsementCache: Sendable {
    private struct Entry {
        let key: EndorsementKey
        let end: Int64
    }

    private static let seconds: Int64 = 3_600
    private let capacity: Int
    private let entries = Mutex<[Digest: Entry]>([:])

    init(capacity: Int = 10_000) { self.capacity = capacity }

    /// Identifies the certificates of an app.
    static func name(_ certificates: [[UInt8]], app: String) throws(TenonError) -> Digest {
        var bytes = Array("\(app)\n".utf8)
        for certificate in certificates { bytes += Array("\(certificate.count)\n".utf8) + certificate }
        return try Digest(hashing: bytes)
    }

    func key(_ name: Digest, at now: AuthorityInstant) -> EndorsementKey? {
        entries.withLock { $0[name] }.flatMap { now.boot / 1_000 < $0.end ? $0.key : nil }
    }

    func keep(_ key: EndorsementKey, _ name: Digest, at now: AuthorityInstant) {
        let seconds = now.boot / 1_000
        entries.withLock { entries in
            if entries.count >= capacity { entries = entries.filter { seconds < $0.value.end } }
            guard entries.count < capacity else { return }
            entries[name] = Entry(key: key, end: seconds + EndorsementCache.seconds)
        }
    }
}
