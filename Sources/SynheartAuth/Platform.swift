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
    var dialect = Dialect.docs
    var disclosure = TPM.Disclosure.nothing
    var attestationService: DeviceIdentity.AttestationService?

    package init() {}

    package func identity(_ baseUrl: String, _ appId: String) throws(TenonError) -> DeviceIdentity {
        let service = try Synheart(baseURL: baseUrl, appID: appId, dialect: dialect)
        let folder = try StateFolder.path(asked: stateDirectory, isRoot: geteuid() == 0) { name in
            tenoni_process_variable(name).map { String(cString: $0) }
        }
        return try DeviceIdentity(
            service, keys: .tpm(tpm, disclosure: disclosure), transport: HTTPTransport(),
            attestationService: attestationService, stateDirectory: folder)
    }
}

extension SynheartAuth {
    /// Says where the service is, and what else is not as it is by default. A later `configure(baseUrl:)` leaves that.
    ///
    /// - Parameters:
    ///   - tpm: nil is `/dev/tpmrm0`.
    ///   - stateDirectory: nil is where `TENON_STATE_DIR`, systemd or XDG says.
    ///   - disclosure: whether the service may see the certificate of the TPM's endorsement key, which the dialect
    ///     `tenon` wants, and an attestation CA; it names this machine for ever.
    ///   - attestationService: the attestation CA, without which no service of the dialect `docs` gets a proof.
    public func configure(
        baseUrl: String, tpm: TPM?, stateDirectory: String?, dialect: Dialect = .docs,
        disclosure: TPM.Disclosure = .nothing, attestationService: DeviceIdentity.AttestationService? = nil
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
