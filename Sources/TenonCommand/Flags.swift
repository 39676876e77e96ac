// SPDX-License-Identifier: Apache-2.0
internal import TenonCommandLine

/// The flags, each declared once.
extension Flag {
    static let json = Flag(name: "--json", value: nil, summary: "print JSON, also for errors")
    static let service = Flag(
        name: "--service", value: "URL", summary: "the auth service: https://host/auth", variable: "TENON_SERVICE")
    static let app = Flag(
        name: "--app", value: "ID", summary: "the app; required if there are several identities",
        variable: "TENON_APP")
    static let tpm = Flag(
        name: "--tpm", value: "TCTI", summary: "device:NODE (default: /dev/tpmrm0), tabrmd:, swtpm:path=SOCKET",
        variable: "TENON_TPM")
    static let stateDirectory = Flag(
        name: "--state-dir", value: "DIR", summary: "the state folder (default: $XDG_STATE_HOME/tenon, ...)",
        variable: "TENON_STATE_DIR")
    static let trace = Flag(
        name: "--trace", value: nil, summary: "print each TPM command to standard error: time, handles, code")
    static let ownerAuth = Flag(
        name: "--owner-auth", value: "FILE", summary: "a file with the auth value of the TPM's owner hierarchy")
    static let endorsementAuth = Flag(
        name: "--endorsement-auth", value: "FILE", summary: "a file with that of its endorsement hierarchy")
    static let disclosed = Flag(
        name: "--disclose-ek", value: nil,
        summary: "let the service see the TPM's certificate, which identifies this machine permanently")
    static let endorsementChain = Flag(
        name: "--ek-chain", value: "FILE",
        summary: "PEM: the certificates between the TPM's and its maker's root; remembered once accepted")
    static let endorsementCertificate = Flag(
        name: "--ek-certificate", value: "FILE",
        summary: "PEM: the TPM's certificate and those above it, if the TPM holds none")
    static let kind = Flag(
        name: "--kind", value: "KIND",
        summary: "the kind of service: "
            + Services.oneOf(["\(Services.kinds[0]) (default)"] + Services.kinds.dropFirst()))
    static let dialect = Flag(
        name: "--dialect", value: "NAME",
        summary: Services.all.map { "\(Services.oneOf($0.dialects)) (\($0.profile))" }.joined(separator: "; ")
            + "; each service's first is its default")
    static let attestationCA = Flag(
        name: "--attestation-ca", value: "URL",
        summary: "the CA that certifies attestation keys, for docs and it-wallet; remembered",
        variable: "TENON_ATTESTATION_CA")
    static let attestationRoots = Flag(
        name: "--attestation-roots", value: "FILE", summary: "PEM: the root certificates of that CA; remembered",
        variable: "TENON_ATTESTATION_ROOTS")
    static let caFile = Flag(
        name: "--ca-file", value: "FILE", summary: "PEM: the CAs to trust instead of the system's",
        variable: "TENON_CA_FILE")
    static let timeout = Flag(
        name: "--timeout", value: "SECONDS",
        summary: "time limit of the call (default: 60), including pauses that the service asks for")
    static let confirmed = Flag(name: "--yes", value: nil, summary: "do not ask for confirmation")

    /// The flags of a verb that reads an identity.
    static let identity = [json, app, service, stateDirectory]
    /// The flags of a verb that uses a key.
    static let key = identity + [tpm, trace, ownerAuth, endorsementAuth]
    /// The flags of a verb that calls the service.
    static let network =
        key + [caFile, timeout, disclosed, endorsementChain, endorsementCertificate, attestationCA, attestationRoots]
}
