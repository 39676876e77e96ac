// SPDX-License-Identifier: Apache-2.0
internal import CTenonProcess
internal import Glibc
public import Tenon
internal import TenonHTTP
public import TenonSynheart
public import TenonTPM

/// What the identities of a program are made from: the TPM, the folder and the network.
package struct Platform: Sendable {
    var tpm: TPM?
    var stateDirectory: String?
    /// nil is the default: see ``SynheartAuth/configure(baseUrl:)``.
    var dialect: Dialect?
    var disclosure: TPM.Disclosure?
    var attestationService: DeviceIdentity.AttestationService?

    package init() {}

    /// The identity of an app.
    package func identity(_ baseUrl: String, _ appId: String) throws(TenonError) -> DeviceIdentity {
        let folder = try StateFolder.path(asked: stateDirectory, isRoot: geteuid() == 0) { name in
            tenoni_process_variable(name).map { String(cString: $0) }
        }
        var service = try service(baseUrl, appId, folder)
        // Its calls do not say with which host, query and content type a request is sent, which version 2 covers.
        service.signatureVersions = [1]
        let isOwn = dialect == nil && service.isLocal
        return try DeviceIdentity(
            service, keys: .tpm(tpm, disclosure: disclosure ?? (isOwn ? .endorsement() : .nothing)),
            transport: HTTPTransport(), attestationService: attestationService, stateDirectory: folder)
    }

    /// The service in the configured dialect; else in that of the registered device; else in `tenon` for a service on
    /// this machine, and in `docs` for any other.
    private func service(_ baseUrl: String, _ appId: String, _ folder: String) throws(TenonError) -> Synheart {
        let service = try Synheart(baseURL: baseUrl, appID: appId, dialect: dialect ?? .docs)
        guard dialect == nil else { return service }
        var kept: Dialect?
        if StateFolder.isThere(at: folder) {
            let name = try IdentityName(
                profile: service.declaration.profile, baseURL: service.baseURL, appID: appId)
            if case .found(let record) = RecordStore(name, in: try StateFolder(at: folder)).read(), !record.isUnheard {
                kept = Dialect.named(record.dialect)
            }
        }
        return try Synheart(
            baseURL: baseUrl, appID: appId, dialect: kept ?? (service.isLocal ? .tenon : .docs))
    }
}

extension SynheartAuth {
    /// Configures the service and overrides defaults. A later `configure(baseUrl:)` keeps the overrides.
    ///
    /// - Parameters:
    ///   - baseUrl: the URL of the service, as `https://host/path`.
    ///   - tpm: nil is `/dev/tpmrm0`.
    ///   - stateDirectory: nil is the folder that `TENON_STATE_DIR`, systemd or XDG names.
    ///   - dialect: nil is the default of ``configure(baseUrl:)``.
    ///   - disclosure: whether the service may see the certificate of the TPM's endorsement key. The dialect `tenon` and
    ///     an attestation CA need it; it identifies this machine for ever. nil is the default of
    ///     ``configure(baseUrl:)`` when no dialect is given, else ``TPM/Disclosure/nothing``.
    ///   - attestationService: the attestation CA; the dialect `docs` cannot attest without one.
    public func configure(
        baseUrl: String, tpm: TPM?, stateDirectory: String?, dialect: Dialect? = nil,
        disclosure: TPM.Disclosure? = nil, attestationService: DeviceIdentity.AttestationService? = nil
    ) {
        var platform = Platform()
        platform.tpm = tpm
        platform.stateDirectory = stateDirectory
        platform.dialect = dialect
        platform.disclosure = disclosure
        platform.attestationService = attestationService
        configure(baseUrl, platform.identity)
    }
}
