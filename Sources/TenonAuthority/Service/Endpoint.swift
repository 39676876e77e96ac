// SPDX-License-Identifier: Apache-2.0

/// What may be asked: under which path, by which listener, with which method. `docs/openapi.json` describes each.
package enum Endpoint: String, CaseIterable, Sendable {
    case health = "/health"
    case challenge = "/v1/device/challenge"
    case register = "/v1/device/register"
    case rotateKey = "/v1/device/rotate-key"
    case ownState = "/v1/device/self"
    case echo = "/v1/echo"
    case attest = "/ca/{app}/attest"
    case secret = "/ca/{app}/secret"
    case verify = "/v1/device/verify"
    case devices = "/v1/devices"
    case revoke = "/v1/revoke"
    case allow = "/v1/allow"
    case decide = "/v1/decide"
    case authorities = "/v1/ca"
    case state = "/v1/health"
    case metrics = "/metrics"

    package var doors: [AuthorityRequest.Door] {
        switch self {
        case .health: [.public, .internal]
        case .challenge, .register, .rotateKey, .ownState, .echo, .attest, .secret: [.public]
        case .verify: [.internal]
        case .devices, .revoke, .allow, .decide, .authorities, .state: [.admin]
        case .metrics: [.admin, .metrics]
        }
    }

    /// Nil is any.
    package var method: String? {
        switch self {
        case .health, .echo: nil
        case .ownState, .devices, .authorities, .state, .metrics: "GET"
        case .challenge, .register, .rotateKey, .attest, .secret, .verify, .revoke, .allow, .decide: "POST"
        }
    }

    /// In metrics.
    var label: String { rawValue.split(separator: "/").last.map(String.init) ?? "" }

    /// One whose path is no app's; those are found by the apps that there are.
    init?(path: String, at door: AuthorityRequest.Door) {
        // Base URLs end with /auth or not (docs/synheart.md); what a device signs is the path as it is sent.
        guard !path.contains("{") else { return nil }
        let isPrefixed = door != .admin && path.hasPrefix("/auth/")
        guard let found = Endpoint(rawValue: isPrefixed ? String(path.dropFirst(5)) : path), found.doors.contains(door)
        else { return nil }
        self = found
    }
}
