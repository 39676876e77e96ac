// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine
internal import TenonTPM

extension Setting {
    /// An identity, as it is known before it is opened.
    private struct Target {
        let service: CommandService
        let baseURL: String
        let app: String
        let dialect: String

        /// A new identity, or one whose record cannot be read.
        init(_ baseURL: String, _ app: String, _ service: CommandService, dialect: String?) {
            self.dialect = dialect ?? service.dialects[0]
            (self.service, self.baseURL, self.app) = (service, baseURL, app)
        }

        /// An identity with a record, which keeps its dialect.
        init(_ known: KnownIdentity, _ name: IdentityName, dialect: String?) throws(TenonError) {
            service = try Services.of(name)
            (baseURL, app) = (name.baseURL, name.appID)
            guard case .found(let record) = known.record, service.dialects.contains(record.dialect) else {
                self.dialect = dialect ?? service.dialects[0]
                return
            }
            self.dialect = dialect ?? record.dialect
        }
    }

    /// The identity that the flags select, or the only one.
    ///
    /// - Throws: ``TenonError/Code/notRegistered`` if no identity fits, ``TenonError/Code/options`` if several do.
    func identity(log: LogSink? = nil, withTPM: Bool = true) throws(TenonError) -> DeviceIdentity {
        let known = withoutUnheard(try identities())
        let named = known.compactMap(\.name)
        guard named.count <= 1 else {
            let apps = named.map { "\($0.appID) at \($0.baseURL)" }.joined(separator: ", ")
            throw TenonError(
                .options, message: "There are several identities: \(apps).", mend: "Name one: --app ID, --service URL")
        }
        if let target = try target(among: known, dialect: nil) { return try open(target, log, withTPM) }
        // The flags name an identity whose record cannot be read.
        if let service = try arguments.value(Flag.service.name), let app = try arguments.value(Flag.app.name),
            try folder() != nil
        {
            return try open(Target(service, app, askedService(nil), dialect: nil), log, withTPM)
        }
        if let first = known.first, case .unreadable(let error) = first.record { throw error }
        throw TenonError(.notRegistered, message: "There is no identity in \(try folderPath()).")
    }

    /// The identity to register: the flags describe a new one completely.
    func identityToRegister(log: LogSink?) throws(TenonError) -> DeviceIdentity {
        let known = withoutUnheard(try identities())
        let names = known.compactMap(\.name).count
        let dialect = try askedDialect()
        let asked = try askedService(dialect)
        if names == 1, let target = try target(among: known, dialect: dialect) { return try open(target, log) }
        guard let service = try arguments.value(Flag.service.name), let app = try arguments.value(Flag.app.name) else {
            if names > 1 { return try identity(log: log) }
            throw arguments.mistake("register needs --service URL and --app ID the first time.")
        }
        return try open(Target(service, app, asked, dialect: dialect), log)
    }

    /// The service of an identity.
    func service(of identity: DeviceIdentity) throws(TenonError) -> CommandService {
        let known = try identities().first { $0.name?.appID == identity.appID }
        guard let name = known?.name else { return Services.all[0] }
        return try Services.of(name)
    }

    /// If there are others, leaves out identities that no service knows, for example of a mistyped URL.
    private func withoutUnheard(_ known: [KnownIdentity]) -> [KnownIdentity] {
        guard known.count > 1 else { return known }
        let heard = known.filter { known in
            guard case .found(let record) = known.record else { return true }
            return record.state != .unregistered || record.journal != nil
        }
        return heard.isEmpty ? known : heard
    }

    /// The first identity that has a name.
    private func target(among known: [KnownIdentity], dialect: String?) throws(TenonError) -> Target? {
        guard let first = known.first(where: { $0.name != nil }), let name = first.name else { return nil }
        return try Target(first, name, dialect: dialect)
    }

    private func open(_ target: Target, _ log: LogSink?, _ withTPM: Bool = true) throws(TenonError) -> DeviceIdentity {
        Services.remember(target.service)
        let profile = try target.service.makeProfile(target.baseURL, target.app, target.dialect)
        let keys = try DeviceIdentity.Keys.tpm(withTPM ? tpm() : TPM(NoTPM()), disclosure: disclosure())
        return try DeviceIdentity(
            appID: target.app, profile: profile, vault: keys.vault, transport: transport(),
            attestationService: attestationService(), folder: StateFolder(at: folderPath()), limits: limits(), log: log)
    }

    /// The kind of service that the flags name, or that has the dialect.
    private func askedService(_ dialect: String?) throws(TenonError) -> CommandService {
        let asked = try arguments.value(Flag.kind.name)
        guard let name = kind ?? asked else {
            return dialect.flatMap(Services.speaking) ?? Services.all[0]
        }
        guard let service = Services.named(name) else {
            throw arguments.mistake("--kind must be \(Services.oneOf(Services.kinds)).")
        }
        guard dialect.map(service.dialects.contains) ?? true else {
            throw arguments.mistake("--dialect must be \(Services.oneOf(service.dialects)) for --kind \(name).")
        }
        return service
    }

    private func askedDialect() throws(TenonError) -> String? {
        guard let name = try arguments.value(Flag.dialect.name) else { return nil }
        guard Services.dialects.contains(name) else {
            throw arguments.mistake("--dialect must be \(Services.oneOf(Services.dialects)).")
        }
        return name
    }
}

/// Stands for the TPM in commands that work without one.
private final class NoTPM: TPMTransport {
    func exchange(_ command: Span<UInt8>) throws -> [UInt8] {
        throw TenonError(.tpmMissing, message: "This needs no TPM.")
    }
}
