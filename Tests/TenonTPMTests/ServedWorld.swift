// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonAuthority
import TenonHTTP
import TenonSynheart
import TenonTPM
import TestFolders
import Testing

@testable import TenonAuthorityServer

/// A device with a software TPM, and running authorities that it speaks to over HTTP: all real parts, without
/// replacements.
struct ServedWorld: Sendable {
    let authorities: [ServedAuthority]
    let clock: ShiftedClock
    let wire: ServedWire
    let tpm: TPM
    let software: SoftwareTPM
    let folder: String

    /// - Parameter prepare: what is done to the TPM before it is used.
    static func with(
        _ stores: Stores, instances: Int = 1, options: TPM.Options = TPM.Options(), isBare: Bool = false,
        prepare: (SoftwareTPM) -> Void = { _ in }, _ body: (ServedWorld) async throws -> Void
    ) async throws {
        try await withTPM(options, state: Endorsed.state, isBare: isBare) { software, tpm in
            prepare(software)
            try await withFolder { folder in
                // An authority refuses requests that are dated before its start, so it started a little earlier.
                let clock = ShiftedClock(-5)
                let authorities = try await ServedAuthority.start(stores, instances, in: folder, clock)
                clock.shift(by: 5)
                let world = ServedWorld(
                    authorities: authorities, clock: clock, wire: try ServedWire(authorities.map(\.url)), tpm: tpm,
                    software: software, folder: folder)
                do { try await body(world) } catch {
                    for authority in authorities { await authority.stop() }
                    throw error
                }
                for authority in authorities { await authority.stop() }
            }
        }
    }

    /// Starts a process of the device.
    ///
    /// - Parameter isTold: the CA, and the certificates above the TPM's.
    func identity(
        _ dialect: Dialect, app: String = "demo", in place: String = "device", on other: TPM? = nil,
        isTold: Bool = true, disclosure: TPM.Disclosure? = nil
    ) throws -> DeviceIdentity {
        let above = isTold ? [try Endorsed.issuer()] : []
        return try DeviceIdentity(
            try service(dialect, app), keys: .tpm(other ?? tpm, disclosure: disclosure ?? .endorsement(above: above)),
            transport: wire, attestationService: isTold ? attestation(app) : nil, stateDirectory: "\(folder)/\(place)")
    }

    /// The same for a process that does not wait between its tries and uses the wire's clock.
    func hurried(
        _ dialect: Dialect, app: String = "demo", _ change: (inout FlowLimits) -> Void = { _ in }
    ) throws -> DeviceIdentity {
        var limits = FlowLimits()
        change(&limits)
        return try DeviceIdentity(
            appID: app, profile: service(dialect, app),
            vault: TPMKeyVault(tpm, .endorsement(above: [try Endorsed.issuer()])), transport: wire,
            attestationService: attestation(app), folder: StateFolder(at: folder + "/device"), clock: hurriedClock,
            limits: limits)
    }

    /// That of the wire; nobody waits.
    var hurriedClock: FlowClock {
        FlowClock(
            moment: { [wire] in wire.told(FlowClock.system.moment()) }, boot: FlowClock.system.boot,
            wait: { _ in try Task.checkCancellation() }, draw: { _ in .zero })
    }

    private func service(_ dialect: Dialect, _ app: String) throws -> Synheart {
        try Synheart(baseURL: authorities[0].url + "/auth", appID: app, dialect: dialect)
    }

    private func attestation(_ app: String) -> DeviceIdentity.AttestationService {
        .init(url: "\(authorities[0].url)/ca/\(app)", roots: authorities[0].instance.engine.keys.roots)
    }

    /// Sends a signed request to an instance.
    func send(
        _ headers: [(name: String, value: String)], _ method: String, _ path: String, _ body: [UInt8],
        to instance: Int = 0
    ) async throws -> HTTPResponse {
        let request = HTTPRequest(
            method: method, url: authorities[instance].url + path,
            headers: [("Content-Type", "application/json")] + headers, body: body)
        return try await HTTPTransport().exchange(request, deadline: .now + .seconds(20))
    }

    static let body = Array(#"{"a":1}"#.utf8)

    func signed(_ identity: DeviceIdentity) async throws -> Tenon.SignedRequest {
        try await identity.sign("POST", path: "/v1/echo", body: ServedWorld.body)
    }

    func send(_ signed: Tenon.SignedRequest, to instance: Int = 0) async throws -> HTTPResponse {
        try await send(signed.headers, "POST", "/v1/echo", ServedWorld.body, to: instance)
    }

    /// Checks that a request is accepted once, and only as it was signed.
    func expectSigns(_ identity: DeviceIdentity, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let signed = try await signed(identity)
        let other = Array(#"{"a":2}"#.utf8)
        var statuses = [try await send(signed.headers, "POST", "/v1/echo", other).status]
        for _ in 0..<2 { statuses.append(try await send(signed).status) }
        #expect(statuses == [401, 200, 409], sourceLocation: sourceLocation)
    }

    /// What a device makes of the answer to its request.
    func advice(_ identity: DeviceIdentity, _ status: Int) async throws -> ReceivedAnswer {
        let signed = try await signed(identity)
        let answer = try await send(signed)
        #expect(answer.status == status)
        return await identity.received(
            status: answer.status, headers: answer.headers, body: answer.body, for: signed)
    }

    /// Checks that a request is refused, and what the device sends then is accepted.
    func expectResent(_ identity: DeviceIdentity) async throws {
        guard case .resend(let second) = try await advice(identity, 401) else { throw WrongAdvice() }
        #expect(try await send(second).status == 200)
    }

    /// The devices of an app at the authority.
    func devices(_ app: String = "demo") async throws -> [JSON] {
        let answer = try await authorities[0].admin("GET", "/v1/devices?app=\(app)")
        return try #require(answer["devices"]?.array)
    }
}

struct WrongAdvice: Error {}
