// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon
internal import TenonCommandLine
internal import TenonHTTP
internal import TenonSynheart
internal import TenonTPM

/// What the flags and the environment come to.
struct Setting {
    let arguments: Arguments

    /// Where the state lies; nothing is made there.
    func folderPath() throws(TenonError) -> String {
        try StateFolder.path(
            asked: arguments.value(Flag.stateDirectory.name), isRoot: geteuid() == 0, environment: Environment.variable)
    }

    /// nil when there is none, and so no identity either.
    func folder() throws(TenonError) -> StateFolder? {
        let path = try folderPath()
        return StateFolder.isThere(at: path) ? try StateFolder(at: path) : nil
    }

    /// The identities that the flags do not leave out.
    func identities() throws(TenonError) -> [KnownIdentity] {
        let (service, app) = (try arguments.value(Flag.service.name), try arguments.value(Flag.app.name))
        guard let all = try folder()?.identities() else { return [] }
        let wanted = try service.map { text throws(TenonError) in try Synheart(baseURL: text, appID: "x").baseURL }
        return all.filter { known in
            guard let name = known.name else { return wanted == nil && app == nil }
            return (wanted ?? name.baseURL) == name.baseURL && (app ?? name.appID) == name.appID
        }
    }

    /// The TPM's name.
    func tpmName() throws(TenonError) -> String {
        OpenedTPM.remember(name: try arguments.value(Flag.tpm.name) ?? "device:/dev/tpmrm0")
    }

    func tpm() throws(TenonError) -> TPM {
        OpenedTPM.remember(try TPM(tpmName(), options: tpmOptions()))
    }

    func tpmOptions() throws(TenonError) -> TPM.Options {
        var options = TPM.Options()
        // Who names a simulator means it.
        options.allowSimulator = true
        options.ownerAuth = try auth(Flag.ownerAuth)
        options.endorsementAuth = try auth(Flag.endorsementAuth)
        return options
    }

    /// What a file holds, less the line feed at its end.
    private func auth(_ flag: Flag) throws(TenonError) -> [UInt8] {
        guard let path = try arguments.value(flag.name) else { return [] }
        let bytes = try SmallFile.read(path)
        return bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes
    }

    func disclosure() throws(TenonError) -> TPM.Disclosure {
        let chain = try arguments.value(Flag.above.name)
        let whole = try arguments.value(Flag.certificate.name)
        guard arguments.has(Flag.disclosed.name) else {
            if chain ?? whole != nil {
                throw arguments.mistake("--ek-chain and --ek-certificate are for --disclose-ek.")
            }
            return .nothing
        }
        if let whole {
            if chain != nil { throw arguments.mistake("--ek-certificate says all of the chain, without --ek-chain.") }
            return .certificates(try SmallFile.certificates(whole))
        }
        return .endorsement(above: try chain.map(SmallFile.certificates) ?? [])
    }

    func attestationService() throws(TenonError) -> DeviceIdentity.AttestationService? {
        guard let url = try arguments.value(Flag.attestationCA.name) else { return nil }
        guard let roots = try arguments.value(Flag.attestationRoots.name) else {
            throw arguments.mistake("--attestation-ca needs --attestation-roots FILE.")
        }
        return .init(url: url, roots: try SmallFile.certificates(roots))
    }

    /// How long is waited for a service and for others, where the flags say so.
    func limits() throws(TenonError) -> FlowLimits {
        var limits = FlowLimits()
        guard let text = try arguments.value(Flag.timeout.name) else { return limits }
        guard let seconds = Int(text), 1...86_400 ~= seconds else {
            throw arguments.mistake("--timeout is a number of seconds, from 1 to 86400.")
        }
        limits.call = .seconds(seconds)
        limits.lock = min(limits.lock, limits.call)
        return limits
    }

    func transport() throws(TenonError) -> LateTransport {
        LateTransport(HTTPTransport.Options(caFile: try arguments.value(Flag.caFile.name)))
    }
}

/// Small files that the user names.
enum SmallFile {
    /// - Throws: ``TenonError/Code/options`` when it cannot be read.
    static func read(_ path: String, atMost limit: Int = 1 << 20) throws(TenonError) -> [UInt8] {
        var source = try ByteSource(path: path)
        var bytes: [UInt8] = []
        while let chunk = try source.next() {
            bytes += chunk
            guard bytes.count <= limit else { throw ByteSource.unreadable(path, "it is longer than \(limit) bytes") }
        }
        return bytes
    }

    static func certificates(_ path: String) throws(TenonError) -> [[UInt8]] {
        let chain = try CertificateFile.decode(read(path))
        guard !chain.isEmpty else { throw ByteSource.unreadable(path, "it holds no certificate in PEM") }
        return chain
    }
}

extension Setting {
    /// The identity that is meant: the only one, or the one that the flags say.
    ///
    /// - Throws: ``TenonError/Code/notRegistered`` when there is none, ``TenonError/Code/options`` when there are more.
    func identity(log: LogSink? = nil, withTPM: Bool = true) throws(TenonError) -> DeviceIdentity {
        let known = meant(try identities())
        let named = known.compactMap(\.name)
        guard named.count <= 1 else {
            let apps = named.map { "\($0.appID) at \($0.baseURL)" }.joined(separator: ", ")
            throw TenonError(
                .options, message: "There are several identities: \(apps).\nSay which: --app ID, --service URL")
        }
        if let name = named.first { return try identity(name.baseURL, name.appID, dialect(of: known), log, withTPM) }
        // Of what cannot be read the flags say the name.
        if let service = try arguments.value(Flag.service.name), let app = try arguments.value(Flag.app.name),
            try folder() != nil
        {
            return try identity(service, app, .docs, log, withTPM)
        }
        if let first = known.first, case .unreadable(let error) = first.record { throw error }
        throw TenonError(.notRegistered, message: "There is no identity in \(try folderPath()).")
    }

    /// Without those of which no service has heard: a URL that was mistyped is not one to ask about for ever.
    private func meant(_ known: [KnownIdentity]) -> [KnownIdentity] {
        guard known.count > 1 else { return known }
        let heard = known.filter { known in
            guard case .found(let record) = known.record else { return true }
            return record.state != .unregistered || record.journal != nil
        }
        return heard.isEmpty ? known : heard
    }

    /// The identity that is to be registered: the flags say of a new one all that there is to know.
    func identityToRegister(log: LogSink?) throws(TenonError) -> DeviceIdentity {
        let known = meant(try identities())
        let named = known.compactMap(\.name)
        let asked = try askedDialect()
        if named.count == 1 {
            return try identity(named[0].baseURL, named[0].appID, asked ?? dialect(of: known), log)
        }
        guard let service = try arguments.value(Flag.service.name), let app = try arguments.value(Flag.app.name) else {
            if named.count > 1 { return try identity(log: log) }
            throw arguments.mistake("register needs --service URL and --app ID the first time.")
        }
        return try identity(service, app, asked ?? .docs, log)
    }

    private func identity(
        _ service: String, _ app: String, _ dialect: Dialect, _ log: LogSink?, _ withTPM: Bool = true
    ) throws(TenonError) -> DeviceIdentity {
        let profile = try Synheart(baseURL: service, appID: app, dialect: dialect)
        let keys = try DeviceIdentity.Keys.tpm(withTPM ? tpm() : TPM(NoTPM()), disclosure: disclosure())
        return try DeviceIdentity(
            appID: profile.appID, profile: DeviceIdentity.Service(profile).profile, vault: keys.vault,
            transport: transport(), attestationService: attestationService(), folder: StateFolder(at: folderPath()),
            limits: limits(), log: log)
    }

    private func askedDialect() throws(TenonError) -> Dialect? {
        guard let name = try arguments.value(Flag.dialect.name) else { return nil }
        guard let dialect = Dialect.all.first(where: { $0.name == name }) else {
            throw arguments.mistake("--dialect is docs or tenon.")
        }
        return dialect
    }

    /// The one in which it was registered: the record keeps it.
    private func dialect(of known: [KnownIdentity]) -> Dialect {
        guard case .found(let record)? = known.first(where: { $0.name != nil })?.record else { return .docs }
        return Dialect.all.first { $0.name == record.dialect } ?? .docs
    }
}

extension Dialect {
    static let all = [docs, tenon]
}

/// For what needs no TPM, and has to work without.
private final class NoTPM: TPMTransport {
    func exchange(_ command: Span<UInt8>) throws -> [UInt8] {
        throw TenonError(.tpmMissing, message: "This needs no TPM.")
    }
}

/// The TPM of this process, which is left as it was found before the process ends.
enum OpenedTPM {
    private static let closing = Mutex<TPM.Closing?>(nil)
    private static let named = Mutex<String?>(nil)

    /// What it is called, once somebody wants it.
    static var name: String? { named.withLock { $0 } }

    static func remember(name: String) -> String {
        named.withLock { $0 = name }
        return name
    }

    static func remember(_ tpm: TPM) -> TPM {
        closing.withLock { $0 = tpm.closing }
        return tpm
    }

    /// Until it is let go of: by the tasks that have just ended, each in a thread of its own, and then by the TPM's.
    static func wait() async { await closing.withLock { $0 }?.wait() }
}
