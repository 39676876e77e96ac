// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Synchronization
import Tenon
import TenonAuths
import TenonITWallet

/// A device that carries out commands line by line; the process that sends them is also its service.
struct Device {
    private let identity: DeviceIdentity
    private let vault: ScriptedVault
    private let service: ParentService
    private let time = FlowTime()
    private var provider: ITWallet?

    init(
        _ folder: String, _ calls: SystemCalls, _ profile: any ServiceProfile = PlainProfile(),
        ekCertificate: [UInt8] = [0x30, 0x00], ca: DeviceIdentity.AttestationService? = nil
    ) throws(TenonError) {
        service = ParentService(time: time)
        vault = ScriptedVault(seed: "one", ekCertificate: ekCertificate)
        var limits = FlowLimits()
        limits.retry.tries = 2
        identity = try DeviceIdentity(
            appID: "app", profile: profile, vault: vault, transport: service, attestationService: ca,
            folder: StateFolder(at: folder, calls: calls), clock: time.clock, limits: limits)
    }

    /// An instance at an IT-Wallet provider, whose attestation CA has this root.
    init(
        _ folder: String, _ calls: SystemCalls, at provider: ITWallet, ekCertificate: [UInt8], root: [UInt8]
    ) throws(TenonError) {
        try self.init(
            folder, calls, provider, ekCertificate: ekCertificate,
            ca: .init(url: "https://wallet.example/ca", roots: [root]))
        self.provider = provider
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
        case "share": return await share()
        case "fork": return try await forkTwice()
        default: return try await use(command)
        }
        return "ok"
    }

    private static let together = Array(
        repeating: (parts: RequestParts("POST", path: "/v1/x"), body: [1 as UInt8]), count: 20)

    /// Says so when a batch is under way, and stays there.
    private func share() async -> String {
        let gate = SigningGate()
        vault.put(behind: gate)
        gate.afterTaking {
            say("done waiting")
            while true { pause() }
        }
        return "\(await identity.sign(Self.together).count) signed"
    }

    /// Forks while the key is idle, and while it signs a batch. Gives the ends of the two children, which ask for a
    /// signature, and how many requests of the batch were signed here.
    private func forkTwice() async throws(TenonError) -> String {
        final class End: Sendable { let code = Atomic<Int32>(-1) }
        let (gate, busy, identity) = (SigningGate(), End(), identity)
        vault.put(behind: gate)
        _ = try await identity.sign("POST", path: "/v1/x")
        let idle = Self.endOfChild(identity)
        gate.afterTaking { busy.code.store(Self.endOfChild(identity), ordering: .releasing) }
        let signed = await identity.sign(Self.together).count { (try? $0.get()) != nil }
        return "\(idle) \(busy.code.load(ordering: .acquiring)) \(signed)"
    }

    /// 0 if a fork of this process may not sign.
    private static func endOfChild(_ identity: DeviceIdentity) -> Int32 {
        // Swift does not offer fork(2): only the thread that calls it is there in the child.
        guard let symbol = dlsym(nil, "fork") else { return -1 }
        let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
        guard child == 0 else {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0 && errno == EINTR {}
            return status
        }
        alarm(60)
        do throws(TenonError) {
            _ = try identity.sign("POST", path: "/v1/x")
            _exit(1)
        } catch {
            _exit(error.code == .forked ? 0 : 2)
        }
    }

    /// What only an IT-Wallet instance does.
    private func use(_ command: String) async throws(TenonError) -> String {
        guard let provider else { fail("no such command: \(command)") }
        switch command {
        case "attest": try await identity.attest(.instance, at: provider)
        case "status": return try await identity.walletStatus(at: provider).rawValue
        case "kept": return try await keepsOneWithItsKey() ? "ok" : "broken"
        default: fail("no such command: \(command)")
        }
        return "ok"
    }

    /// Whether one attestation is kept, with the key that it is about.
    private func keepsOneWithItsKey() async throws(TenonError) -> Bool {
        let kept = try identity.walletAttestations()
        for attestation in kept {
            let facts = try await vault.facts(ofFile: attestation.keyFile)
            guard try await vault.key(facts).publicKey == attestation.key else { return false }
        }
        return kept.count == 1
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
