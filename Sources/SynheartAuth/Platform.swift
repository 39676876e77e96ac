// SPDX-License-Identifier: Apache-2.0
internal import CTenonProcess
internal import Glibc
public import Tenon
internal import TenonHTTP
public import TenonSynheart
public import TenonTPM

/// What an identity stands on in a program: its TPM, its folder, and the network.
package struct Platform: Sendable {
    var tpm: TPM?
    var stateDirectory: String?
    /// nil is what goes without saying: see ``SynheartAuth/configure(baseUrl:)``.
    var dialect: Dialect?
    var disclosure: TPM.Disclosure?
    var attestationService: DeviceIdentity.AttestationService?

    package init() {}

    package func identity(_ baseUrl: String, _ appId: String) throws(TenonError) -> DeviceIdentity {
        let folder = try StateFolder.path(asked: stateDirectory, isRoot: geteuid() == 0) { name in
            tenoni_process_variable(name).map { String(cString: $0) }
        }
        let service = try service(baseUrl, appId, folder)
        let isOwn = dialect == nil && service.isLocal
        return try DeviceIdentity(
            service, keys: .tpm(tpm, disclosure: disclosure ?? (isOwn ? .endorsement() : .nothing)),
            transport: HTTPTransport(), attestationService: attestationService, stateDirectory: folder)
    }

    /// In the dialect that was said; else in the one in which the device is registered; else in `tenon` where the service
    /// is this machine's own, and in `docs` elsewhere.
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
    /// Says where the service is, and what else is not as it is by default. A later `configure(baseUrl:)` leaves that.
    ///
    /// - Parameters:
    ///   - tpm: nil is `/dev/tpmrm0`.
    ///   - stateDirectory: nil is where `TENON_STATE_DIR`, systemd or XDG says.
    ///   - dialect: nil is what ``configure(baseUrl:)`` says.
    ///   - disclosure: whether the service may see the certificate of the TPM's endorsement key, which the dialect
    ///     `tenon` wants, and an attestation CA; it names this machine for ever. nil is what ``configure(baseUrl:)`` says
    ///     where no dialect is given, else ``TPM/Disclosure/nothing``.
    ///   - attestationService: the attestation CA, without which no service of the dialect `docs` gets a proof.
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
