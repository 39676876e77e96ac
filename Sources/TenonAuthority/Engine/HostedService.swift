// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A service that an authority hosts, as a value: its routes, what an app's record says about it, how it refuses, and
/// its tables. The engine does the rest, and names none.
///
/// An app belongs to one service, by `service` in its record; without it, to the first that the program lists.
package struct HostedService: Sendable, Equatable {
    /// The name in an app's record. Below `/NAME/`, the engine refuses requests in this service's form.
    package var name: String
    /// A prefix that may precede every path, like `/auth`, and is ignored; "" means none.
    package var prefix: String
    package var routes: [ServiceRoute]
    /// Reads what an app's record says about this service alone; the record is read and checked before.
    package var settings: @Sendable (inout ConfigurationSection, AppRecord) throws(TenonError) -> any ServiceSettings
    /// Members of the app in the configuration that is written where there is none.
    package var exampleSettings: [(name: String, value: JSON)]
    /// SQL that makes each version of the service's tables out of the one before, in words that SQLite and PostgreSQL
    /// share: BIGINT, TEXT and BYTEA. What was released is never changed.
    package var tables: [String]
    /// The app id that a request claims, if its path does not have it: for the log only, not checked.
    package var appNamed: @Sendable (AuthorityRequest) -> String?
    /// How a refusal is answered, including the engine's own.
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

/// What the record of an app says about its service alone. All of it counts when instances compare their policies.
package protocol ServiceSettings: Equatable, Sendable {
    /// What an operator should know of an app whose record is right.
    func notes(on app: AppRecord) -> [String]
}

extension ServiceSettings {
    package func notes(on app: AppRecord) -> [String] { [] }

    fileprivate func isEqual(to other: any ServiceSettings) -> Bool { (other as? Self) == self }
}

/// Settings of any service, which only that service looks into.
package struct AnyServiceSettings: Equatable, Sendable {
    let value: any ServiceSettings

    package static func == (left: AnyServiceSettings, right: AnyServiceSettings) -> Bool {
        left.value.isEqual(to: right.value)
    }
}

/// What may be asked: at which listeners, under which path, with which method, and what is done then.
package struct ServiceRoute: Sendable {
    package typealias Step = @Sendable (ServiceCall) async throws(Refusal) -> AuthorityAnswer

    /// As it is asked, or with `{app}` in the place of an app's id: then what stands behind that is a path of its own
    /// where there is one such app.
    package var path: String
    /// Nil is any.
    package var method: String?
    package var doors: [AuthorityRequest.Door]
    /// Bytes that a body may have, where that is less than the configuration allows.
    package var maxBody: Int
    package var step: Step

    package init(
        _ path: String, _ method: String?, at doors: [AuthorityRequest.Door] = [.public], maxBody: Int = .max,
        step: @escaping Step
    ) {
        self.path = path
        self.method = method
        self.doors = doors
        self.maxBody = maxBody
        self.step = step
    }

    /// In metrics and in the log.
    package var label: String { path.split(separator: "/").last.map(String.init) ?? "" }
}

/// A request on its way through a route.
package struct ServiceCall: Sendable {
    package let engine: AuthorityEngine
    package let request: AuthorityRequest
    /// The app that the path names.
    package let app: AppRecord?
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
    }

    let entries: [Entry]
    private let services: [HostedService]
    private let apps: [AppRecord]
    private let byPath: [String: [Entry]]
    /// What stands before and behind the app's id in the others' paths.
    private let byApp: [(before: String, behind: String, entry: Entry)]

    init(_ own: [ServiceRoute], _ configuration: Configuration) {
        services = configuration.services
        apps = configuration.apps
        entries =
            own.map { Entry(route: $0, service: nil) }
            + services.flatMap { service in service.routes.map { Entry(route: $0, service: service) } }
        byPath = Dictionary(grouping: entries.filter { !$0.route.path.contains("{app}") }) { $0.route.path }
        byApp = entries.compactMap { entry in
            let parts = entry.route.path.split(separator: "{app}", omittingEmptySubsequences: false)
            return parts.count == 2 ? (String(parts[0]), String(parts[1]), entry) : nil
        }
    }

    /// What is asked for, if it is asked at a listener that has it.
    func find(_ path: String, at door: AuthorityRequest.Door) -> Match? {
        let path = door == .admin ? path : withoutPrefix(path)
        if let entry = byPath[path]?.first(where: { $0.route.doors.contains(door) }) { return Match(entry: entry) }
        for (before, behind, entry) in byApp where entry.route.doors.contains(door) && path.hasSuffix(behind) {
            let apps = apps.filter { entry.service == nil || $0.service == entry.service?.name }
            let app = path == behind && apps.count == 1 ? apps[0] : apps.first { path == before + $0.id + behind }
            if let app { return Match(entry: entry, app: app) }
        }
        return nil
    }

    private func withoutPrefix(_ path: String) -> String {
        for service in services where !service.prefix.isEmpty && path.hasPrefix(service.prefix + "/") {
            return String(path.dropFirst(service.prefix.count))
        }
        return path
    }

    /// In whose form a request is refused: of the service that has the route or the app, or whose mount it is below.
    func service(for match: Match?, _ path: String) -> HostedService? {
        if let service = match?.entry.service { return service }
        if let app = match?.app, let service = services.first(where: { $0.name == app.service }) { return service }
        return services.first { path.hasPrefix("/\($0.name)/") } ?? services.first
    }
}
