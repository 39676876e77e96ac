// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// How much of everything there may be.
package struct AuthorityLimits: Equatable, Sendable {
    /// Challenges outstanding, in all.
    package var challenges = 10_000
    /// Of one IPv4 address or one IPv6 /64 while they are scarce; nil is a 256th.
    package var challengesPerAddress: Int?
    /// Requests of one device within the time that they are remembered.
    package var requestsPerDevice = 10_000
    /// Requests that are remembered, in all.
    package var requests = 2_000_000
    /// Requests to the public listener a minute, from one IPv4 address or one IPv6 /64.
    package var perAddressPerMinute = 600
    /// The same, for one app.
    package var perAppPerMinute = 60_000
    /// Activations that are computed or wait for it; more get 503.
    package var activations = 64
    package var connections = 1_024
    /// Of one address, of the public listener, while they are scarce; nil is a 128th.
    package var connectionsPerAddress: Int?
    /// Bytes of a body (decision: body-limits).
    package var bodyBytes = 32_768
    /// Seconds in which a stop answers what was asked; behind them the process ends all the same.
    package var stopSeconds = 25

    package init() {}

    init(_ section: inout ConfigurationSection) throws(TenonError) {
        challenges = try section.integer("challenges", 1...10_000_000, default: challenges)
        challengesPerAddress = try section.optionalInteger("challenges_per_address", 1...10_000_000)
        requestsPerDevice = try section.integer("requests_per_device", 1...1_000_000, default: requestsPerDevice)
        requests = try section.integer("requests", 1...100_000_000, default: requests)
        perAddressPerMinute = try section.integer("per_address_per_minute", 1...1_000_000, default: perAddressPerMinute)
        perAppPerMinute = try section.integer("per_app_per_minute", 1...100_000_000, default: perAppPerMinute)
        activations = try section.integer("activations", 1...1_024, default: activations)
        connections = try section.integer("connections", 1...65_536, default: connections)
        connectionsPerAddress = try section.optionalInteger("connections_per_address", 1...65_536)
        bodyBytes = try section.integer("body_bytes", 1_024...1_048_576, default: bodyBytes)
        stopSeconds = try section.integer("stop_seconds", 1...600, default: stopSeconds)
    }
}
