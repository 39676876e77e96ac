// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine
internal import TenonITWallet

extension CommandService {
    /// A provider of the IT-Wallet.
    static let itWallet = CommandService(
        profile: ITWallet.profile, dialects: WalletDialect.all.map(\.name),
        registerDetails: """
            With --kind it-wallet the device becomes an instance of an IT-Wallet provider; --app is a local name, which
            the provider is not told. It needs an attestation CA. tenon reset removes the keys for good.
            """,
        verbs: Verb.itWallet, signFlags: [],
        mends: [
            .attestationUnavailable: "Give an attestation CA: --attestation-ca URL --attestation-roots FILE"
        ],
        normalURL: { url throws(TenonError) in try ITWallet(baseURL: url, appID: "x").baseURL },
        makeProfile: { url, app, dialect throws(TenonError) in
            try ITWallet(baseURL: url, appID: app, dialect: WalletDialect.named(dialect) ?? .seed)
        },
        signedPath: { _, arguments throws(TenonError) in
            throw arguments.mistake("An IT-Wallet instance signs no requests of this form. Use tenon it-wallet attest.")
        })
}

extension Verb {
    fileprivate static let itWallet = [
        Verb(
            words: ["it-wallet", "attest"], operands: "", summary: "Have the hardware key vouch for a fresh key",
            details: """
                Prints what the provider issued for the fresh key, and keeps it with the key; tenon maintain renews it.
                Nothing is printed for a call that issues nothing.
                """,
            flags: Flag.key + [.caFile, .timeout, .call],
            examples: ["tenon it-wallet attest --call instance"],
            run: { arguments throws(TenonError) in
                try await ITWalletAttestCommand.answer(Setting(arguments: arguments, kind: ITWallet.profile))
                    .give(arguments)
            }),
        Verb(
            words: ["it-wallet", "certificate"], operands: "",
            summary: "Have an access certificate issued for a fresh key of a relying party's instance",
            details: "Prints the certificate, and keeps it with the key. Dialects 1.0 and 1.4.",
            flags: Flag.key + [.caFile, .timeout], examples: ["tenon it-wallet certificate"],
            run: { arguments throws(TenonError) in
                try await ITWalletCertificateCommand.answer(Setting(arguments: arguments, kind: ITWallet.profile))
                    .give(arguments)
            }),
        Verb(
            words: ["it-wallet", "status"], operands: "", summary: "Ask the provider about this instance",
            details: """
                active, revoked or unknown. A revocation counts when the provider says it twice; tenon reset then
                removes the keys. The dialect seed has no such question.
                """,
            flags: Flag.key + [.caFile, .timeout], examples: ["tenon it-wallet status"],
            run: { arguments throws(TenonError) in
                try await ITWalletStatusCommand.answer(Setting(arguments: arguments, kind: ITWallet.profile))
                    .give(arguments)
            }),
    ]
}

extension Flag {
    fileprivate static let call = Flag(
        name: "--call", value: "NAME",
        summary: "wallet (dialect 1.0), instance, unit, key or relying-party; default: the dialect's first")
}

extension Setting {
    /// The provider of the instance, as its record names it.
    func provider(of identity: DeviceIdentity) throws(TenonError) -> ITWallet {
        for known in try identities() {
            guard case .found(let record) = known.record, record.name.appID == identity.appID else { continue }
            return try ITWallet(
                baseURL: record.name.baseURL, appID: record.name.appID,
                dialect: WalletDialect.named(record.dialect) ?? .seed)
        }
        throw TenonError(.notRegistered, message: "This device is not registered.")
    }
}

/// `tenon it-wallet attest`.
enum ITWalletAttestCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let identity = try setting.identity()
        let provider = try setting.provider(of: identity)
        let call = try call(setting.arguments, provider)
        guard let issued = try await identity.attest(call, at: provider) else {
            return Answer(lines: ["\(call.name): done"], json: ["call": .string(call.name)])
        }
        return Answer(
            lines: [issued.text],
            json: [
                "call": .string(call.name), "attestation": .string(issued.text), "expires_at": .or(issued.expiresAt),
            ])
    }

    private static func call(_ arguments: Arguments, _ provider: ITWallet) throws(TenonError) -> WalletCall {
        let names = provider.calls.map(\.name)
        guard let first = provider.calls.first else {
            throw arguments.mistake("The dialect \(provider.dialect.name) has no calls.")
        }
        guard let name = try arguments.value("--call") else { return first }
        guard let call = provider.calls.first(where: { $0.name == name }) else {
            throw arguments.mistake("--call must be \(Services.oneOf(names)) in the dialect \(provider.dialect.name).")
        }
        return call
    }
}

/// `tenon it-wallet certificate`.
enum ITWalletCertificateCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let identity = try setting.identity()
        let issued = try await identity.accessCertificate(at: setting.provider(of: identity))
        return Answer(lines: [issued.text], json: ["access_certificate": .string(issued.text)])
    }
}

/// `tenon it-wallet status`.
enum ITWalletStatusCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let identity = try setting.identity()
        let status = try await identity.walletStatus(at: setting.provider(of: identity))
        return Answer(
            lines: [status.rawValue], json: ["status": .string(status.rawValue)],
            category: category(status))
    }

    /// Only an active instance is a success.
    static func category(_ status: WalletStatus) -> TenonError.Category? { status == .active ? nil : .state }
}
