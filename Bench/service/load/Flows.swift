// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonBench
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

    func run() async throws -> BenchRecords {
        var steps = [
            FlowStep("register", "a registration"), FlowStep("request", "a signed request"),
            FlowStep("rotate", "a rotation"), FlowStep("maintain", "a maintenance"), FlowStep("reset", "a reset"),
        ]
        var docs = FlowStep("register-docs", "a first registration, dialect docs")
        for _ in 0..<(isSmoke ? 1 : 9) {
            let device = try FlowDevice(self, .tenon)
            try await steps[0].run(device) { try await device.identity.register() }
            try await steps[1].run(device) { try await device.request() }
            try await steps[2].run(device) { try await device.identity.rotate() }
            try await steps[3].run(device) { try await device.identity.maintain() }
            try await steps[4].run(device) { try await device.identity.reset() }
            let other = try FlowDevice(self, .docs)
            try await docs.run(other) { try await other.identity.register() }
        }
        return records([steps[0], docs] + steps[1...])
    }

    /// What is sent does not depend on the machine's load.
    private func records(_ steps: [FlowStep]) -> BenchRecords {
        var records = BenchRecords()
        for step in steps {
            if !isSmoke { records.add(step.line) }
            records.add(commands: step.commands, exchanges: step.exchanges, of: step.name)
            let most: Double? = ["flow-register": 2, "flow-register-docs": 4][step.name]
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
