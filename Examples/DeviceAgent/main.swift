// SPDX-License-Identifier: Apache-2.0

// DeviceAgent TCTI URL APP STATE-DIR [TIMES]
//
// An agent for a device: registers it, sends a signed measurement to POST /v1/echo once a minute, handles the answer,
// and does what is due once a day. With TIMES it ends after that many. A crash or a power cut at any moment costs
// nothing: the next start continues where this one stopped, with the same key.

import Glibc
import Tenon
import TenonHTTP
import TenonSynheart
import TenonTPM

struct Agent {
    let identity: DeviceIdentity
    let transport: HTTPTransport
    let origin: String

    init(tpm: TPM, url: String, app: String, folder: String) throws {
        transport = try HTTPTransport()
        identity = try DeviceIdentity(
            Synheart(baseURL: url, appID: app, dialect: .tenon),
            keys: .tpm(tpm, disclosure: .endorsement()), transport: transport, stateDirectory: folder)
        origin = url.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//")
    }

    /// Tries again what may be tried again, until the service has decided.
    func register() async throws {
        while try await !isRegistered() { try await Task.sleep(for: .seconds(60)) }
    }

    private func isRegistered() async throws -> Bool {
        do {
            let registration = try await identity.register()
            print("\(registration.status): \(registration.deviceID)")
            return true
        } catch {
            guard [.transient, .unknown].contains(error.code.category) else { throw error }
            print("not registered yet: \(error.message)")
            return false
        }
    }

    func send(_ body: [UInt8]) async throws {
        var signed = try await identity.sign("POST", path: "/v1/echo", body: body, contentType: "application/json")
        // Once more if Tenon says that it helps: the clock was wrong, or the key has changed meanwhile.
        for _ in 0..<2 {
            let headers = [("Content-Type", "application/json")] + signed.headers.map { ($0.name, $0.value) }
            let answer = try await transport.exchange(
                HTTPRequest(method: "POST", url: origin + "/v1/echo", headers: headers, body: body),
                deadline: .now + .seconds(30))
            print("sent: \(answer.status)")
            switch await identity.received(
                status: answer.status, headers: answer.headers, body: answer.body, for: signed)
            {
            case .done: return
            case .resend(let again): signed = again
            case .stop(let error): throw error
            }
        }
    }

    func run(times: Int?) async throws {
        try await register()
        for minute in 0..<(times ?? .max) {
            if minute > 0 { try await Task.sleep(for: .seconds(60)) }
            if minute % 1_440 == 0 { try await identity.maintain() }
            do {
                try await send(Array(#"{"load":"\#(loadAverage())"}"#.utf8))
            } catch let error as TenonError where [.transient, .unknown].contains(error.code.category) {
                print("later: \(error.message)")
            }
        }
    }

    private func loadAverage() -> Double {
        var load = 0.0
        return getloadavg(&load, 1) == 1 ? load : 0
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard 4...5 ~= arguments.count else {
    print("usage: DeviceAgent TCTI URL APP STATE-DIR [TIMES]")
    exit(1)
}

/// When this returns, the agent has freed everything, so the program can wait for the TPM.
func run() async throws -> TPM.Closing {
    // An agent for real devices does not allow a simulator.
    let tpm = try TPM(arguments[0], options: TPM.Options(allowSimulator: arguments[0].hasPrefix("swtpm:")))
    let agent = try Agent(tpm: tpm, url: arguments[1], app: arguments[2], folder: arguments[3])
    try await agent.run(times: arguments.count == 5 ? Int(arguments[4]) : nil)
    return tpm.closing
}

do {
    try await run().wait()
} catch let error as TenonError {
    print("DeviceAgent: \(error.message)")
    exit(error.code.category.rawValue)
}
