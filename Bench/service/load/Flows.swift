// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonBench
internal import TenonITWallet
internal import TenonSynheart

/// Figure P12: what a device's life costs in TPM commands and HTTP exchanges.
struct Flows {
    let authority: String
    let tpmState: String
    /// The certificate above the EK's, DER.
    let issuer: [UInt8]
    /// The authority's CA.
    let root: [UInt8]
    let isSmoke: Bool

    /// - Parameter tpmState: a folder that Tests/Scripts/swtpm_state.sh made.
    /// - Throws: ``TenonError/Code/options``.
    init(_ options: Options, tpmState: String) throws(TenonError) {
        (authority, isSmoke) = (options.instances[0].url, options.isSmoke)
        self.tpmState = tpmState
        root = try Flows.certificate(options.root)
        issuer = try Flows.certificate(tpmState + "/issuer.pem")
    }

    private static func certificate(_ path: String) throws(TenonError) -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Options.mistake("There is no \(path).") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = fread(&bytes, 1, bytes.count, file)
        let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
            .drop { $0 != "-----BEGIN CERTIFICATE-----" }.dropFirst()
        return try TextEncoding.base64.decode(lines.prefix { $0 != "-----END CERTIFICATE-----" }.joined())
    }

    /// As measured, and with a TPM whose every command takes some milliseconds longer; and how many rounds of each.
    private static let latencies: [(milliseconds: UInt32, rounds: Int)] = [(0, 9), (17, 3), (35, 3), (200, 2)]

    func run() async throws -> BenchRecords {
        var records = told(by: try await life(latency: 0, rounds: isSmoke ? 1 : Self.latencies[0].rounds))
        for (latency, rounds) in Self.latencies.dropFirst() where !isSmoke {
            for step in try await life(latency: latency, rounds: rounds) { records.add(step.line) }
        }
        return records
    }

    private func life(latency: UInt32, rounds: Int) async throws -> [FlowStep] {
        var steps = [
            ("register", "a registration"), ("request", "a signed request"), ("rotate", "a rotation"),
            ("maintain", "a maintenance"), ("reset", "a reset"),
        ].map { FlowStep($0, $1, latency: latency) }
        var inception = FlowStep("register-auths", "a first registration of a KERI identifier", latency: latency)
        var event = FlowStep("rotate-auths", "a rotation of a KERI identifier", latency: latency)
        var docs = FlowStep("register-docs", "a first registration, dialect docs", latency: latency)
        for _ in 0..<rounds {
            let device = try FlowDevice(self, .tenon, latency: latency)
            try await steps[0].run(device) { try await device.identity.register() }
            try await steps[1].run(device) { try await device.request() }
            try await steps[2].run(device) { try await device.identity.rotate() }
            try await steps[3].run(device) { try await device.identity.maintain() }
            try await steps[4].run(device) { try await device.identity.reset() }
            let other = try FlowDevice(self, .docs, latency: latency)
            try await docs.run(other) { try await other.identity.register() }
            let identifier = try FlowDevice(identifierAt: self, latency: latency)
            try await inception.run(identifier) { try await identifier.identity.register() }
            try await event.run(identifier) { try await identifier.identity.rotate() }
        }
        return try await [steps[0], docs] + steps[1...] + [inception, event]
            + instance(latency: latency, rounds: rounds)
    }

    func provider() throws(TenonError) -> ITWallet {
        try ITWallet(baseURL: authority + "/it-wallet/wallet", appID: "wallet", dialect: .v14)
    }

    /// The life of an IT-Wallet instance. One whose attestation key has its certificate is one whose first try ended
    /// before anything was sent of its key.
    private func instance(latency: UInt32, rounds: Int) async throws -> [FlowStep] {
        var first = FlowStep("wallet-first", "a first initialization of an IT-Wallet instance", latency: latency)
        var later = FlowStep(
            "wallet-initialize", "an initialization of an IT-Wallet instance with a certified AK", latency: latency)
        var use = FlowStep("wallet-use", "an attestation by an IT-Wallet instance", latency: latency)
        let provider = try provider()
        for _ in 0..<rounds {
            let device = try FlowDevice(instanceAt: self, latency: latency)
            try await first.run(device) { try await device.identity.register() }
            // The first one also asks for the provider's keys.
            try await device.identity.attest(.instance, at: provider)
            try await use.run(device) { try await device.identity.attest(.instance, at: provider) }
            let other = try FlowDevice(instanceAt: self, latency: latency)
            other.transport.refuseNext("/nonce")
            _ = try? await other.identity.register()
            try await later.run(other) { try await other.identity.register() }
        }
        return [first, later, use]
    }

    /// What is sent does not depend on the machine's load.
    private func told(by steps: [FlowStep]) -> BenchRecords {
        var records = BenchRecords()
        for step in steps {
            if !isSmoke { records.add(step.line) }
            records.add(commands: step.commands, exchanges: step.exchanges, of: step.name)
            let most: Double? = [
                "flow-register": 2, "flow-register-docs": 4, "flow-register-auths": 1, "flow-rotate-auths": 2,
                "flow-wallet-first": 4, "flow-wallet-initialize": 2, "flow-wallet-use": 2,
            ][step.name]
            records.add([
                BenchFigure(
                    "P12", "HTTP exchanges of \(step.what)", most.map { .atMost($0) }, Double(step.exchanges.count),
                    isGate: most != nil),
                BenchFigure("P12", "  its TPM commands", nil, Double(step.commands.count)),
            ])
        }
        return records
    }
}
