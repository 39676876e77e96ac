// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon
internal import TenonCommandLine
internal import TenonHTTP
internal import TenonTPM

/// The values that a verb's flags and the environment give.
struct Setting {
    let arguments: Arguments
    /// The kind of service that a verb is for; nil for a verb of all kinds.
    var kind: String?

    /// The path of the state's folder; the folder is not made.
    func folderPath() throws(TenonError) -> String {
        try StateFolder.path(
            asked: arguments.value(Flag.stateDirectory.name), isRoot: geteuid() == 0, environment: Environment.variable)
    }

    /// The state's folder; nil when it does not exist.
    func folder() throws(TenonError) -> StateFolder? {
        let path = try folderPath()
        return StateFolder.isThere(at: path) ? try StateFolder(at: path) : nil
    }

    /// The identities that match the flags.
    func identities() throws(TenonError) -> [KnownIdentity] {
        let (service, app) = (try arguments.value(Flag.service.name), try arguments.value(Flag.app.name))
        guard let all = try folder()?.identities() else { return [] }
        let wanted = try service.map(Services.normalURL)
        let asked = try arguments.value(Flag.kind.name)
        let kind = self.kind ?? asked
        return all.filter { known in
            guard let name = known.name else { return wanted == nil && app == nil && kind == nil }
            guard (kind ?? name.profile) == name.profile else { return false }
            return (wanted ?? name.baseURL) == name.baseURL && (app ?? name.appID) == name.appID
        }
    }

    /// The name of the TPM, which is remembered for error reports.
    func tpmName() throws(TenonError) -> String {
        OpenedTPM.remember(name: try arguments.value(Flag.tpm.name) ?? "device:/dev/tpmrm0")
    }

    /// Opens the TPM.
    func tpm() throws(TenonError) -> TPM {
        OpenedTPM.remember(try TPM(tpmName(), options: tpmOptions()))
    }

    /// The options for opening the TPM.
    func tpmOptions() throws(TenonError) -> TPM.Options {
        var options = TPM.Options()
        // A simulator is used only when it is named.
        options.allowSimulator = true
        options.ownerAuth = try auth(Flag.ownerAuth)
        options.endorsementAuth = try auth(Flag.endorsementAuth)
        if arguments.has(Flag.trace.name) { options.trace = { Terminal.note($0.line) } }
        return options
    }

    /// The content of a file, without its last line feed.
    private func auth(_ flag: Flag) throws(TenonError) -> [UInt8] {
        guard let path = try arguments.value(flag.name) else { return [] }
        let bytes = try SmallFile.read(path)
        return bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes
    }

    /// The part of the TPM's identity that the service may be shown.
    func disclosure() throws(TenonError) -> TPM.Disclosure {
        let chain = try arguments.value(Flag.endorsementChain.name)
        let whole = try arguments.value(Flag.endorsementCertificate.name)
        guard arguments.has(Flag.disclosed.name) else {
            if chain ?? whole != nil {
                throw arguments.mistake("--ek-chain and --ek-certificate need --disclose-ek.")
            }
            return .nothing
        }
        if let whole {
            if chain != nil { throw arguments.mistake("--ek-certificate holds the whole chain; leave out --ek-chain.") }
            return .certificates(try SmallFile.certificates(whole))
        }
        return .endorsement(above: try chain.map(SmallFile.certificates) ?? [])
    }

    /// The attestation CA, if the flags name one.
    func attestationService() throws(TenonError) -> DeviceIdentity.AttestationService? {
        guard let url = try arguments.value(Flag.attestationCA.name) else { return nil }
        guard let roots = try arguments.value(Flag.attestationRoots.name) else {
            throw arguments.mistake("--attestation-ca needs --attestation-roots FILE.")
        }
        return .init(url: url, roots: try SmallFile.certificates(roots))
    }

    /// The limits of an operation, with `--timeout`.
    func limits() throws(TenonError) -> FlowLimits {
        var limits = FlowLimits()
        guard let text = try arguments.value(Flag.timeout.name) else { return limits }
        guard let seconds = Int(text), 1...86_400 ~= seconds else {
            throw arguments.mistake("--timeout must be a number of seconds from 1 to 86400.")
        }
        limits.call = .seconds(seconds)
        limits.lock = min(limits.lock, limits.call)
        return limits
    }

    /// The transport to the service.
    func transport() throws(TenonError) -> LazyTransport {
        LazyTransport(HTTPTransport.Options(caFile: try arguments.value(Flag.caFile.name)))
    }
}

extension TPM.Trace {
    /// For example `   12.3 ms  000  Load (persistent)`.
    fileprivate var line: String {
        let tenths = duration / .microseconds(100)
        let whole = String(Int(tenths / 10))
        let padding = String(repeating: " ", count: max(0, 6 - whole.count))
        let code = responseCode.map { String($0, radix: 16) } ?? "no answer"
        let zeros = String(repeating: "0", count: max(0, 3 - code.count))
        let kinds = handles.isEmpty ? "" : " (" + handles.map(\.rawValue).joined(separator: ", ") + ")"
        return "\(padding)\(whole).\(Int(tenths) % 10) ms  \(zeros)\(code)  \(command)\(kinds)"
    }
}

/// The TPM of this process. The process waits until it is closed, so that nothing stays loaded in it.
enum OpenedTPM {
    private static let closing = Mutex<TPM.Closing?>(nil)
    private static let named = Mutex<String?>(nil)

    /// The TPM's name, once a verb has asked for it.
    static var name: String? { named.withLock { $0 } }

    static func remember(name: String) -> String {
        named.withLock { $0 = name }
        return name
    }

    static func remember(_ tpm: TPM) -> TPM {
        closing.withLock { $0 = tpm.closing }
        return tpm
    }

    /// Waits until the TPM is closed; tasks that have just ended may still hold it on other threads.
    static func wait() async { await closing.withLock { $0 }?.wait() }
}
