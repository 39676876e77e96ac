// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonHTTP

/// An error as the program reports it: the cause, and the command or the setting that mends it.
struct ErrorReport {
    let error: TenonError
    let cause: String
    let mend: String

    init(_ thrown: TenonError) {
        // The way to the TPM is checked again, to say what blocks it.
        let error = OpenedTPM.name.map { NodeCheck.explained(thrown, $0) } ?? thrown
        self.error = error
        var cause = error.message.isEmpty ? error.code.description : error.message
        if let status = error.httpStatus { cause += " [HTTP \(status)\(ErrorReport.shown(error.serverCode))]" }
        if let code = error.tpmCode { cause += " [TPM 0x\(String(code, radix: 16))]" }
        self.cause = cause
        mend = error.mend ?? Mend.of(error)
    }

    /// The report as one line of JSON.
    var text: String {
        var object = JSONObject()
        object["code"] = .string(error.code.description)
        object["category"] = .string(error.code.category.name)
        object["exit"] = .integer(Int64(error.code.category.rawValue))
        object["message"] = .string(cause)
        object["mend"] = .string(mend)
        if let status = error.httpStatus { object["http_status"] = .integer(Int64(status)) }
        if let code = error.serverCode { object["server_code"] = .string(code) }
        if let code = error.tpmCode { object["tpm_code"] = .integer(Int64(code)) }
        if let wait = error.retryAfter { object["retry_after"] = .integer(wait.components.seconds) }
        let whole: JSON = ["error": .object(object)]
        let bytes = try? whole.encoded()
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    /// The service's code, if it is safe to print.
    private static func shown(_ code: String?) -> String {
        guard let code, code.utf8.count <= 64, code.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else { return "" }
        return " " + code
    }
}

extension TenonError.Category {
    var name: String {
        switch self {
        case .argument: "argument"
        case .format: "format"
        case .rejected: "rejected"
        case .transient: "transient"
        case .unavailable: "unavailable"
        case .permission: "permission"
        case .auth: "auth"
        case .gone: "gone"
        case .internal: "internal"
        case .state: "state"
        default: "unknown"
        }
    }
}

/// What to do about an error: a command where there is one.
enum Mend {
    static func of(_ error: TenonError) -> String {
        if error.isOutcomeOpen, error.code.category == .unknown { return again }
        if let pause = error.retryAfter, error.code.category == .transient { return later(pause) }
        if error.isOfAttestationCA { return error.httpStatus == 404 ? wrongCA : ofCA(error.code) }
        // A failed attestation is mended by mending its cause.
        return of(error.code == .attestationUnavailable ? error.cause ?? error.code : error.code)
    }

    private static func of(_ code: TenonError.Code) -> String {
        Services.mend(of: code) ?? byCode[code] ?? code.tpmCode.flatMap(byTPM) ?? byCategory[code.category]
            ?? "Look at: tenon doctor"
    }

    private static func later(_ pause: Duration) -> String {
        let seconds = max(1, pause.components.seconds)
        let again = "Do the same again in \(seconds) s"
        return seconds < 80_000 ? "\(again), or let it wait so long: --timeout \(seconds + 60)" : again + "."
    }

    private static let wrongCA =
        "Check --attestation-ca [TENON_ATTESTATION_CA]: what is there answers as no attestation CA."

    /// The mends for errors of the attestation CA, which has flags of its own.
    private static func ofCA(_ code: TenonError.Code) -> String {
        switch (code, code.category) {
        case (.tlsUntrusted, _), (.tlsTrustFile, _), (.tlsDate, _), (.httpLibrary, _): of(code)
        case (.httpURL, _): "Write it as --attestation-ca https://host[:port][/path] [TENON_ATTESTATION_CA]"
        case (.httpConnect, _), (.httpResolve, _), (.httpConnectTimeout, _), (.tlsHandshake, _), (.tlsHost, _):
            "Check --attestation-ca [TENON_ATTESTATION_CA], and that the CA runs; then do the same again."
        case (.attestationFailed, _):
            "Add what the TPM's maker signed with: --ek-chain FILE; or ask whoever runs the CA why it refuses."
        case (_, .rejected):
            "Name the roots that its certificates chain to: --attestation-roots FILE [TENON_ATTESTATION_ROOTS]"
        case (_, .format): wrongCA
        default: "Do the same again in a while; if that changes nothing, check --attestation-ca."
        }
    }

    private static let register = "Register: tenon register --service URL --app ID"
    private static let again = "Do the same again: it goes on where this ended."

    private static let byCode: [TenonError.Code: String] = [
        .tpmMissing: "Look at what is in the way: tenon doctor",
        .tpmPermission: "Look at what is in the way: tenon doctor",
        .tpmBusy: "Use the node that many may share: --tpm device:/dev/tpmrm0",
        .tcti: "Name the TPM: --tpm device:/dev/tpmrm0, tabrmd:, or swtpm:path=SOCKET [TENON_TPM]",
        .authNeeded: hierarchyAuth,
        .parentMissing: "Look at: tenon doctor",
        .ekMissing: "Allow it with --disclose-ek; if it was, see whether the TPM has a certificate: tenon doctor",
        .keyInvalidated: "Register the device anew: tenon register --disclose-ek",
        .keyGone: "Register the device anew: tenon register --disclose-ek",
        .notRegistered: register,
        .registrationPending: "Ask again later: tenon register",
        .registrationRejected: "Ask whoever runs the service; then: tenon register",
        .deviceRevoked: "Begin anew, if whoever revoked it agrees: tenon reset --yes",
        .attestationFailed:
            "Add what its maker signed with: --ek-chain FILE; or have the service trust that maker: tenon doctor names it",
        .method: "Write it in capitals, as: tenon sign POST /v1/x",
        .path: "Write it as the service mounts it, as: tenon sign POST /v1/x",
        .clockSkew: "If this device's clock is the wrong one, set it: sudo timedatectl set-ntp true",
        .tlsDate: "Set the clock: sudo timedatectl set-ntp true",
        .tlsUntrusted: "Name the CA that stands behind the server: --ca-file FILE [TENON_CA_FILE]",
        .tlsTrustFile: "Name a PEM file with certificates: --ca-file FILE [TENON_CA_FILE]",
        .httpConnect: "Check --service, and that the service runs; then do the same again.",
        .httpResolve: "Check the host in --service, and the network; then do the same again.",
        .httpLibrary: "Install it: sudo apt install libcurl4",
        .tlsHost: "Check the host in --service: its certificate has another name.",
        .serviceRefused: "Check --service and --app; whoever runs the service knows what its code means.",
        .serviceBusy: "Do the same again in a while: it goes on where this ended.",
        .keyRefused:
            "Begin anew, if the service knows this device no more: tenon reset --yes && tenon register --disclose-ek",
        .keyExpired: "Change the key: tenon rotate",
        .httpURL: "Write it as https://host[:port]/path",
        .appID: "Write it as --app ID, 1 to 200 characters without spaces.",
        .stateMissing: "Bring back the folder of the state; or begin anew: tenon reset --yes",
        .stateUnresolved: "Ask the service which key it holds: tenon register; or begin anew: tenon reset --yes",
        .recordForm: "Bring back the record from a backup; or begin anew: tenon reset --yes",
        .recordSum: "Bring back the record from a backup; or begin anew: tenon reset --yes",
        .recordVersion: "Use the version of tenon that wrote it, or a later one.",
        .stateOwner: "Give the folder to this user alone: chown and chmod 700; or name another: --state-dir DIR",
        .statePermission: "Run as the user that owns the state, or name another folder: --state-dir DIR",
        .stateKind: "Name a folder that is none of links: --state-dir DIR [TENON_STATE_DIR]",
        .statePath: "Name the folder of the state: --state-dir DIR [TENON_STATE_DIR]",
        .stateFull: "Make room on the disk of the state, or name another folder: --state-dir DIR",
        .stateBusy: "Wait until the other tenon has ended, then do the same again.",
        .dialectChanged: "Leave --dialect out; or begin anew: tenon reset --yes",
        .foreignTPM: "Bring the folder to the machine it came from; or begin anew: tenon reset --yes",
        .rotationFailed: "Ask whoever runs the service why; then: tenon rotate",
        .rotationOpen: "Ask whoever runs the service which key it holds; then do the same again.",
        .cancelled: again, .outcomeUnknown: again,
    ]

    private static let hierarchyAuth =
        "Give the hierarchy's auth value in a file: --owner-auth FILE, --endorsement-auth FILE"
    /// The mends by the TPM's response code (Part 2, 6.6). For format one, the parameter's number is ignored.
    private static func byTPM(_ code: UInt32) -> String? {
        switch code & 0x80 != 0 ? code & 0xbf : code & 0xfff {
        case 0x0a2: hierarchyAuth
        case 0x100: "Start the TPM: tpm2_startup -c; a software TPM does it by: --flags startup-clear"
        case 0x101: "Restart the machine; or the software TPM, with a folder of its state that it may write."
        case 0x14b: "Make room in its NV memory: tpm2_getcap handles-persistent; tpm2_evictcontrol -c HANDLE"
        case 0x902...0x906:
            "Wait for the programs that use the TPM; what one left that has ended, tenon doctor says how to flush."
        default: nil
        }
    }

    private static let byCategory: [TenonError.Category: String] = [
        .argument: "Look at: tenon --help",
        .format: "Give what was meant, as it was written.",
        .rejected: "Do not use it.",
        .transient: "Do the same again in a while.",
        .unavailable: "Look at: tenon doctor",
        .permission: "Look at: tenon doctor",
        .auth: "Wait until the TPM forgives a try, or lift it: tpm2_dictionarylockout --clear-lockout",
        .gone: "Register the device anew: tenon register --disclose-ek",
        .internal: "Report it, with what was typed and: tenon --version",
        .state: "Look at: tenon status",
        .unknown: again,
    ]
}
