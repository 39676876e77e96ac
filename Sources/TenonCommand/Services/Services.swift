// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon
internal import TenonCommandLine

/// The services that the command knows; a further service is a further entry.
enum Services {
    /// The first is the default for a new identity.
    static let all: [CommandService] = [.synheart, .itWallet, .auths]

    /// The names that `--dialect` takes; the first is the default.
    static var dialects: [String] { all.flatMap(\.dialects) }

    /// The service of a dialect.
    static func speaking(_ dialect: String) -> CommandService? { all.first { $0.dialects.contains(dialect) } }

    /// The kinds of services that `--kind` takes; the first is the default.
    static var kinds: [String] { all.map(\.profile) }

    /// The service of a kind.
    static func named(_ kind: String) -> CommandService? { all.first { $0.profile == kind } }

    /// A list for people: `docs or tenon`.
    static func oneOf(_ names: [String]) -> String {
        names.count < 2 ? names.joined() : names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
    }

    /// The normal form of a base URL, by the first service that accepts it.
    ///
    /// - Throws: what the last service throws when none accepts it.
    static func normalURL(_ text: String) throws(TenonError) -> String {
        for service in all.dropLast() {
            if let url = try? service.normalURL(text) { return url }
        }
        return try all[all.count - 1].normalURL(text)
    }

    private static let opened = Mutex<CommandService?>(nil)

    /// The service of the identity that this run opened last.
    static var current: CommandService? { opened.withLock { $0 } }

    static func remember(_ service: CommandService) { opened.withLock { $0 = service } }

    /// The service of an identity.
    ///
    /// - Throws: ``TenonError/Code/recordVersion`` for a service that this version does not know.
    static func of(_ name: IdentityName) throws(TenonError) -> CommandService {
        guard let service = all.first(where: { $0.profile == name.profile }) else {
            throw TenonError(
                .recordVersion, message: "This version of tenon does not know the service \(name.profile).")
        }
        return service
    }
}

/// A service as the command sees it: its dialects, flags and words, and how an identity is made for it.
struct CommandService: Sendable {
    typealias MakeProfile =
        @Sendable (_ baseURL: String, _ app: String, _ dialect: String) throws(TenonError) -> any ServiceProfile

    /// The name of its profile, as records keep it.
    let profile: String
    /// The names of its dialects; the first is the default.
    let dialects: [String]
    /// The lines of `help register` about its dialects.
    let registerDetails: String
    /// The flags that a person gives each time a device registers, with a space before.
    var registerFlags = " --disclose-ek"
    /// Verbs that only this service has.
    var verbs: [Verb] = []
    /// The flags of `sign` that only this service has.
    let signFlags: [Flag]
    /// The mends for its own errors, and for those that its dialects resolve.
    let mends: [TenonError.Code: String]
    /// The normal form of a base URL: two URLs of one service become equal.
    let normalURL: @Sendable (_ baseURL: String) throws(TenonError) -> String
    /// The profile of a service in a dialect.
    let makeProfile: MakeProfile
    /// The path that is signed for a URL.
    let signedPath: @Sendable (_ url: String, _ arguments: Arguments) throws(TenonError) -> String
}
