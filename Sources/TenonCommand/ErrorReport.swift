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
        mend = error.mend ?? Mend.of(error, at: Services.current)
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
    /// - Parameter service: that of the identity, if one was opened.
    static func of(_ error: TenonError, at service: CommandService? = nil) -> String {
        let service = service ?? Services.all[0]
        if error.isOutcomeOpen, error.code.category == .unknown { return again }
        if let pause = error.retryAfter, error.code.category == .transient { return later(pause) }
        if error.isOfAttestationCA { return error.httpStatus == 404 ? wrongCA : ofCA(error.code) }
        // A failed attestation is mended by mending its cause.
        let code = error.code == .attestationUnavailable ? error.cause ?? error.code : error.code
        return anew(code, service) ?? service.mends[code] ?? of(code)
    }

    private static func of(_ code: TenonError.Code) -> String {
        byCode[code] ?? code.tpmCode.flatMap(byTPM) ?? byCategory[code.category] ?? "Run: tenon doctor"
    }

    /// The mends that begin another identity at the same service.
    private static func anew(_ code: TenonError.Code, _ service: CommandService) -> String? {
        if code == .keyRefused {
            let register = "tenon register\(service.registerFlags)"
            return "If the service has lost this device, start again: tenon reset --yes && \(register)"
        }
        guard code.category == .gone, byCode[code] == nil else { return nil }
        return "Register the device again: tenon register\(service.registerFlags)"
    }

    private static func later(_ pause: Duration) -> String {
        let seconds = max(1, pause.components.seconds)
        let again = "Try again in \(seconds) s"
        return seconds < 80_000 ? "\(again), or allow the wait: --timeout \(seconds + 60)" : again + "."
    }

    private static let wrongCA =
        "Check --attestation-ca [TENON_ATTESTATION_CA]: the server there does not answer like an attestation CA."

    /// The mends for errors of the attestation CA, which has flags of its own.
    private static func ofCA(_ code: TenonError.Code) -> String {
        switch (code, code.category) {
        case (.tlsUntrusted, _), (.tlsTrustFile, _), (.tlsDate, _), (.httpLibrary, _): of(code)
        case (.httpURL, _): "Give it as --attestation-ca https://host[:port][/path] [TENON_ATTESTATION_CA]"
        case (.httpConnect, _), (.httpResolve, _), (.httpConnectTimeout, _), (.tlsHandshake, _), (.tlsHost, _):
            "Check --attestation-ca [TENON_ATTESTATION_CA], and that the CA is running. Then try again."
        case (.attestationFailed, _):
            "Add the maker's intermediate certificates: --ek-chain FILE; or ask the CA's operator."
        case (_, .rejected):
            "Give the CA's root certificates: --attestation-roots FILE [TENON_ATTESTATION_ROOTS]"
        case (_, .format): wrongCA
        default: "Try again later; if that does not help, check --attestation-ca."
        }
    }

    private static let register = "Register: tenon register --service URL --app ID"
    private static let again = "Run the same command again: it continues where this one stopped."

    private static let byCode: [TenonError.Code: String] = [
        .tpmMissing: "Find the problem: tenon doctor",
        .tpmPermission: "Find the problem: tenon doctor",
        .tpmBusy: "Use the node that programs can share: --tpm device:/dev/tpmrm0",
        .tcti: "Give the TPM as --tpm device:/dev/tpmrm0, tabrmd:, or swtpm:path=SOCKET [TENON_TPM]",
        .authNeeded: hierarchyAuth,
        .parentMissing: "Run: tenon doctor",
        .ekMissing: "Allow it with --disclose-ek; if you did, check that the TPM has a certificate: tenon doctor",
        .notRegistered: register,
        .registrationPending: "Ask again later: tenon register",
        .registrationRejected: "Ask the service's operator; then: tenon register",
        .deviceRevoked: "If the service's operator agrees, start again: tenon reset --yes",
        .attestationFailed:
            "Add the maker's intermediate certificates: --ek-chain FILE; or ask the service's operator why it refused",
        .method: "Write it in capitals, for example: tenon sign POST /v1/x",
        .path: "Write it as the service mounts it, for example: tenon sign POST /v1/x",
        .clockSkew: "If this device's clock is the wrong one, set it: sudo timedatectl set-ntp true",
        .tlsDate: "Set the clock: sudo timedatectl set-ntp true",
        .tlsUntrusted: "Give the CA that signed the server's certificate: --ca-file FILE [TENON_CA_FILE]",
        .tlsTrustFile: "Give a PEM file with certificates: --ca-file FILE [TENON_CA_FILE]",
        .httpConnect: "Check --service, and that the service is running. Then try again.",
        .httpResolve: "Check the host in --service, and the network. Then try again.",
        .httpLibrary: "Install it: sudo apt install libcurl4",
        .tlsHost: "Check the host in --service: the certificate there is for another name.",
        .serviceRefused: "Check --service and --app, or ask the service's operator what the code means.",
        .serviceAnswer: "Check --service; if it is right, ask the service's operator.",
        .serviceURL: "Give it as --service https://host[:port][/path]",
        .serviceBusy: "Run the same command again later: it continues where this one stopped.",
        .keyExpired: "Change the key: tenon rotate",
        .httpURL: "Give it as https://host[:port]/path",
        .appID: "Give it as --app ID, with 1 to 200 characters and no spaces.",
        .stateMissing: "Restore the state folder; or start again: tenon reset --yes",
        .stateUnresolved: "Ask the service which key it holds: tenon register; or start again: tenon reset --yes",
        .recordForm: "Restore the record from a backup; or start again: tenon reset --yes",
        .recordSum: "Restore the record from a backup; or start again: tenon reset --yes",
        .recordVersion: "Use the version of tenon that wrote it, or a later one.",
        .stateOwner: "Give the folder (mode 700) and its files (600) to this user; or use another: --state-dir DIR",
        .statePermission: "Run as the user that owns the state, or use another folder: --state-dir DIR",
        .stateKind: "Use a folder without links and special files: --state-dir DIR [TENON_STATE_DIR]",
        .statePath: "Give the state folder: --state-dir DIR [TENON_STATE_DIR]",
        .stateFull: "Free space on the disk of the state, or use another folder: --state-dir DIR",
        .stateBusy: "Wait until other programs have ended, then try again.",
        .dialectChanged: "Leave out --dialect; or start again: tenon reset --yes",
        .foreignTPM: "Take the folder back to its machine; or start again: tenon reset --yes",
        .rotationFailed: "Ask the service's operator why; then: tenon rotate",
        .rotationOpen: "Ask the service's operator which key it holds; then try again.",
        .cancelled: again, .outcomeUnknown: again,
    ]

    private static let hierarchyAuth =
        "Give the hierarchy's auth value in a file: --owner-auth FILE, --endorsement-auth FILE"
    /// The mends by the TPM's response code (Part 2, 6.6). For format one, the parameter's number is ignored.
    private static func byTPM(_ code: UInt32) -> String? {
        switch code & 0x80 != 0 ? code & 0xbf : code & 0xfff {
        case 0x0a2: hierarchyAuth
        case 0x100: "Start the TPM: tpm2_startup -c; or start a software TPM with: --flags startup-clear"
        case 0x101: "Restart the machine, or the software TPM with a state folder that it can write."
        case 0x14b: "Make room in its NV memory: tpm2_getcap handles-persistent; tpm2_evictcontrol -c HANDLE"
        case 0x902...0x906:
            "Wait for the other programs. tenon doctor says how to flush what an ended program left."
        default: nil
        }
    }

    private static let byCategory: [TenonError.Category: String] = [
        .argument: "See: tenon --help",
        .format: "Check the input: it is damaged or of another kind.",
        .rejected: "Do not use it: the check failed.",
        .transient: "Try again later.",
        .unavailable: "Run: tenon doctor",
        .permission: "Run: tenon doctor",
        .auth: "Wait until the TPM forgives a try, or end the lockout: tpm2_dictionarylockout --clear-lockout",
        .internal: "Report this with the command line and the output of: tenon --version",
        .state: "See: tenon status",
        .unknown: again,
    ]
}
