// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A service that an authority hosts, as a value: its routes, its settings in an app's record, the form of its
/// refusals, and its tables. The engine does the rest, and knows no service by name.
///
/// An app belongs to the service that `service` in its record names, or else to the first one that the program lists.
package struct HostedService: Sendable, Equatable {
    /// The name in an app's record. Below `/NAME/`, the engine refuses requests in this service's form.
    package var name: String
    /// A prefix that may precede every path, like `/auth`, and is ignored; "" means none.
    package var prefix: String
    package var routes: [ServiceRoute]
    /// Reads the part of an app's record that only this service uses. The rest of the record was read and checked
    /// before.
    package var settings: @Sendable (inout ConfigurationSection, AppRecord) throws(TenonError) -> any ServiceSettings
    /// The members of the app in the default configuration.
    package var exampleSettings: [(name: String, value: JSON)]
    /// SQL that upgrades the service's tables from each version to the next, in the language that SQLite and PostgreSQL
    /// share: BIGINT, TEXT and BYTEA. A released entry never changes.
    package var tables: [String]
    /// The app id that a request claims, if its path does not have it: for the log only, not checked.
    package var appNamed: @Sendable (AuthorityRequest) -> String?
    /// Makes the answer for a refusal, including the engine's own.
    package var refusal: @Sendable (Refusal, AuthorityInstant) -> AuthorityAnswer

    package init(
        name: String, prefix: String = "", routes: [ServiceRoute],
        settings: @escaping @Sendable (inout ConfigurationSection, AppRecord) throws(TenonError) -> any ServiceSettings,
        exampleSettings: [(name: String, value: JSON)] = [], tables: [String] = [],
        appNamed: @escaping @Sendable (AuthorityRequest) -> String? = { _ in nil },
        refusal: @escaping @Sendable (Refusal, AuthorityInstant) -> AuthorityAnswer
    ) {
        self.name = name
        self.prefix = prefix
        self.routes = routes
        self.settings = settings
        self.exampleSettings = exampleSettings
        self.tables = tables
        self.appNamed = appNamed
        self.refusal = refusal
    }

    package static func == (left: HostedService, right: HostedService) -> Bool { left.name == right.name }
}

/// A service's own settings in the record of an app. All of them count when instances compare their policies.
package protocol ServiceSettings: Equatable, Sendable {
    /// Notes for an operator about an app whose record is valid.
    func notes(on app: AppRecord) -> [String]
}

extension ServiceSettings {
    package func notes(on app: AppRecord) -> [String] { [] }

    fileprivate func isEqual(to other: any ServiceSettings) -> Bool { (other as? Self) == self }
}

/// The settings of any service, which only that service reads.
package struct AnyServiceSettings: Equatable, Sendable {
    let value: any ServiceSettings

    package static func == (left: AnyServiceSettings, right: AnyServiceSettings) -> Bool {
        left.value.isEqual(to: right.value)
    }
}

/// A route: its path, its method, its listeners, and the step that answers it.
package struct ServiceRoute: Sendable {
    package typealias Step = @Sendable (ServiceCall) async throws(Refusal) -> AuthorityAnswer

    /// The path of the request, or a path with `{app}` in place of an app's id. If the service has only one app, the
    /// part behind `{app}` is also a path of its own. Behind `{app}`, one more segment may be a name in braces: it stands
    /// for any text without a slash.
    package var path: String
    /// Nil means any method. Several routes with different methods may have one path.
    package var method: String?
    package var doors: [AuthorityRequest.Door]
    /// The most bytes of a body; nil means as many as the configuration allows.
    package var maxBody: Int?
    package var step: Step

    package init(
        _ path: String, _ method: String?, at doors: [AuthorityRequest.Door] = [.public], maxBody: Int? = nil,
        step: @escaping Step
    ) {
        self.path = path
        self.method = method
        self.doors = doors
        self.maxBody = maxBody
        self.step = step
    }

    func serves(_ method: String, at door: AuthorityRequest.Door) -> Bool {
        doors.contains(door) && (self.method == nil || self.method == method)
    }

    /// The label in metrics and in the log: the last segment that is not in braces.
    package var label: String { path.split(separator: "/").last { !$0.hasPrefix("{") }.map(String.init) ?? "" }
}

/// A request on its way through a route.
package struct ServiceCall: Sendable {
    package let engine: AuthorityEngine
    package let request: AuthorityRequest
    /// The app that the path names.
    package let app: AppRecord?
    /// The segment of the path that its route has in braces, as it was sent; not empty.
    package let parameter: String?
}

/// The routes of the engine and of the services that it hosts, found by path and listener.
struct RouteTable: Sendable {
    struct Entry: Sendable {
        let route: ServiceRoute
        /// Nil for a route of the engine.
        let service: HostedService?
    }

    struct Match: Sendable {
        var entry: Entry
        var app: AppRecord?
        var parameter: String?
    }

    let entries: [Entry]
    private let services: [HostedService]
    private let apps: [AppRecord]
    private let byPath: [String: [Entry]]
    /// The other entries, with the parts of their paths before and behind the app's id.
    private let byApp: [(before: String, behind: PathTail, entry: Entry)]

    init(_ own: [ServiceRoute], _ configuration: Configuration) {
        services = configuration.services
        apps = configuration.apps
        entries =
            own.map { Entry(route: $0, service: nil) }
            + services.flatMap { service in service.routes.map { Entry(route: $0, service: service) } }
        byPath = Dictionary(grouping: entries.filter { !$0.route.path.contains("{app}") }) { $0.route.path }
        byApp = entries.compactMap { entry in
            let parts = entry.route.path.split(separator: "{app}", omittingEmptySubsequences: false)
            return parts.count == 2 ? (String(parts[0]), PathTail(parts[1]), entry) : nil
        }
    }

    /// The route and the app of a path, if the listener has such a route: the first with this method, or else the first.
    func find(_ path: String, _ method: String, at door: AuthorityRequest.Door) -> Match? {
        let path = door == .admin ? path : withoutPrefix(path)
        return match(path) { $0.serves(method, at: door) } ?? match(path) { $0.doors.contains(door) }
    }

    private func match(_ path: String, _ isFit: (ServiceRoute) -> Bool) -> Match? {
        if let entry = byPath[path]?.first(where: { isFit($0.route) }) { return Match(entry: entry) }
        for (before, behind, entry) in byApp where isFit(entry.route) {
            guard let (head, parameter) = behind.split(path) else { continue }
            let apps = apps.filter { entry.service == nil || $0.service == entry.service?.name }
            let app = head.isEmpty && apps.count == 1 ? apps[0] : apps.first { head == before + $0.id }
            if let app { return Match(entry: entry, app: app, parameter: parameter) }
        }
        return nil
    }

    private func withoutPrefix(_ path: String) -> String {
        for service in services where !service.prefix.isEmpty && path.hasPrefix(service.prefix + "/") {
            return String(path.dropFirst(service.prefix.count))
        }
        return path
    }

    /// The service in whose form a request is refused: that of the route, that of the app, or the one whose name begins
    /// the path.
    func service(for match: Match?, _ path: String) -> HostedService? {
        if let service = match?.entry.service { return service }
        if let app = match?.app, let service = services.first(where: { $0.name == app.service }) { return service }
        return services.first { path.hasPrefix("/\($0.name)/") } ?? services.first
    }
}

/// The part of a route's path behind the app's id.
private struct PathTail: Sendable {
    private let before: String
    /// The part behind the segment in braces; nil if the path has no such segment.
    private let behind: String?

    init(_ text: Substring) {
        guard let open = text.firstIndex(of: "{"), let close = text.firstIndex(of: "}") else {
            (before, behind) = (String(text), nil)
            return
        }
        (before, behind) = (String(text[..<open]), String(text[text.index(after: close)...]))
    }

    /// The part of a path before this one, and the segment in braces; nil if the path does not end like this one.
    func split(_ path: String) -> (head: String, parameter: String?)? {
        guard let behind else { return path.hasSuffix(before) ? (String(path.dropLast(before.count)), nil) : nil }
        guard path.hasSuffix(behind) else { return nil }
        let whole = path.dropLast(behind.count)
        let segment = whole.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let head = whole.dropLast(segment.count)
        guard !segment.isEmpty, head.hasSuffix(before) else { return nil }
        return (String(head.dropLast(before.count)), String(segment))
    }
}
