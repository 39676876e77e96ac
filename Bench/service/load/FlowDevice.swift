// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuths
internal import TenonBench
internal import TenonITWallet
internal import TenonSynheart
internal import TenonTPM
internal import TestFolders

/// A device that was never registered, at a running authority.
struct FlowDevice {
    let wire: BenchWire
    let transport: FlowTransport
    let identity: DeviceIdentity
    private let folder: ScratchFolder
    private let origin: String

    init(_ place: Flows, _ dialect: Dialect, latency: UInt32) throws {
        wire = BenchWire(over: try FlowTPM(state: place.tpmState, latency: latency))
        transport = try FlowTransport(to: place.authority)
        folder = try ScratchFolder()
        origin = place.authority
        identity = try DeviceIdentity(
            Synheart(baseURL: origin + "/auth", appID: "demo", dialect: dialect),
            keys: .tpm(
                TPM(wire, options: TPM.Options(allowSimulator: true)), disclosure: .endorsement(above: [place.issuer])),
            transport: transport, attestationService: .init(url: origin + "/ca/demo", roots: [place.root]),
            stateDirectory: folder.path)
    }

    /// A KERI identifier.
    init(identifierAt place: Flows, latency: UInt32) throws {
        wire = BenchWire(over: try FlowTPM(state: place.tpmState, latency: latency))
        transport = try FlowTransport(to: place.authority)
        folder = try ScratchFolder()
        origin = place.authority
        identity = try DeviceIdentity(
            Auths(baseURL: origin + "/auths/log", appID: "log"),
            keys: .tpm(TPM(wire, options: TPM.Options(allowSimulator: true))), transport: transport,
            stateDirectory: folder.path)
    }

    /// An instance at an IT-Wallet provider.
    init(instanceAt place: Flows, latency: UInt32) throws {
        wire = BenchWire(over: try FlowTPM(state: place.tpmState, latency: latency))
        transport = try FlowTransport(to: place.authority)
        folder = try ScratchFolder()
        origin = place.authority
        identity = try DeviceIdentity(
            place.provider(),
            keys: .tpm(
                TPM(wire, options: TPM.Options(allowSimulator: true)), disclosure: .endorsement(above: [place.issuer])),
            transport: transport, attestationService: .init(url: origin + "/ca/wallet", roots: [place.root]),
            stateDirectory: folder.path)
    }

    /// Signs a request, which the authority has to accept.
    func request() async throws {
        let body = Array(#"{"heart_rate":62}"#.utf8)
        let signed = try await identity.sign("POST", path: "/v1/echo", body: body)
        let answer = try await transport.exchange(
            HTTPRequest(
                method: "POST", url: origin + "/v1/echo",
                headers: [("Content-Type", "application/json")] + signed.headers,
                body: body),
            deadline: .now + .seconds(30))
        guard answer.status == 200 else {
            throw TenonError(.serviceAnswer, message: "The authority answered \(answer.status).")
        }
    }
}
