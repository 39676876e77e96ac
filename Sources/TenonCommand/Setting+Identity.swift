// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine
internal import TenonSynheart
internal import TenonTPM

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
