// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Tenon
import TenonAuths

/// A device that carries out commands line by line; the process that sends them is also its service.
struct Device {
    private let identity: DeviceIdentity
    private let service: ParentService
    private let time = FlowTime()

    init(
        _ folder: String, _ calls: SystemCalls, _ profile: any ServiceProfile = PlainProfile()
    ) throws(TenonError) {
        service = ParentService(time: time)
        var limits = FlowLimits()
        limits.retry.tries = 2
        identity = try DeviceIdentity(
            appID: "app", profile: profile, vault: ScriptedVault(seed: "one"), transport: service,
            folder: StateFolder(at: folder, calls: calls), clock: time.clock, limits: limits)
    }

    /// Runs until the input ends. The result of a command is `done` and a word.
    func obey() async {
        while let command = readLine() {
            do throws(TenonError) {
                say("done " + (try await perform(command)))
            } catch {
                say("done \(error.code)")
            }
        }
    }

    private func perform(_ command: String) async throws(TenonError) -> String {
        switch command {
        case "register": try await identity.register()
        case "rotate": try await identity.rotate()
        case "maintain": try await identity.maintain()
        case "reset": try await identity.reset()
        case "try": return try await send(identity.sign("POST", path: "/v1/x", body: [1])).isTaken ? "ok" : "refused"
        case "sign": return try await sign()
        case "data": try await identity.signPlain([1])
        default: fail("no such command: \(command)")
        }
        return "ok"
    }

    /// Passes the service's answer to the identity, as an application does.
    private func sign() async throws(TenonError) -> String {
        let signed = try await identity.sign("POST", path: "/v1/x", body: [1])
        let answer = try await send(signed)
        if answer.isTaken { return "ok" }
        switch await identity.received(
            status: answer.status, headers: answer.headers, body: answer.body, for: signed)
        {
        case .done: return "refused"
        case .resend(let second): return try await send(second).isTaken ? "resent" : "refused"
        case .stop(let error): throw error
        }
    }

    private func send(_ signed: SignedRequest) async throws(TenonError) -> HTTPResponse {
        try await service.exchange(
            HTTPRequest(
                method: signed.method, url: "https://service.example" + signed.path, headers: signed.headers,
                body: signed.body ?? []),
            deadline: .now)
    }
}

/// The process that started this one is the service.
private struct ParentService: Transport {
    let time: FlowTime
    private let thread = WorkThread()

    init(time: FlowTime) { self.time = time }

    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        let time = time
        return try await thread.run { () throws(TenonError) in
            say(try ServiceLine.encode(request))
            guard let line = readLine() else { exit(3) }
            return try ServiceLine.decode(line, at: time.moment)
        }
    }
}

extension HTTPResponse {
    fileprivate var isTaken: Bool { status == 200 }
}
