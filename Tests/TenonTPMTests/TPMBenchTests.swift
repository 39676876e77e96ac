// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Synchronization
import Tenon
import TenonTPM
import Testing

@testable import TenonBench

/// The bench of a TPM: its commands, and that it leaves nothing behind, however it ends.
@Suite(.timeLimit(.minutes(2))) struct TPMBenchTests {
    private let software: SoftwareTPM

    init() throws { software = try SoftwareTPM() }

    private func bench(
        _ options: TPM.Options = TPM.Options(), _ change: (inout TPMBench.Plan) -> Void = { _ in },
        telling progress: @escaping @Sendable (String) -> Void = { _ in }
    ) -> TPMBench {
        var plan = TPMBench.Plan()
        plan.isSmoke = true
        change(&plan)
        return TPMBench(over: SoftwareTPMTransport(software), options: options, plan: plan, progress: progress)
    }

    private func expectNothingLeft(_ persistent: [UInt32] = []) throws {
        #expect(!software.isOpen)
        #expect(software.leftovers == 0)
        #expect(try software.tpm().persistentHandles() == persistent)
    }

    private func sent(_ result: TPMBenchResult) -> [String: String] {
        Dictionary(uniqueKeysWithValues: result.commands.map { ($0.line, $0.commands.joined(separator: " ")) })
    }

    private static let warm = [
        "tpm-sign": "Sign", "tpm-sign-salted": "Sign", "tpm-sign-encrypted": "Sign", "tpm-attest": "Certify",
        "tpm-sign-threads-4": "Sign Sign Sign Sign",
    ]

    @Test func eachLineSendsItsCommands() throws {
        let result = try bench().run()
        let first = ["tpm-first-primary": "CreatePrimary Load Sign FlushContext FlushContext"]
        #expect(sent(result) == Self.warm.merging(first) { $1 })
        #expect(result.lines.isEmpty && result.figures.isEmpty)
        #expect(software.commands(SUPPORT_CC_EVICT_CONTROL) == 0, "nothing is written")
        try expectNothingLeft()
    }

    @Test func underAStorageKey() throws {
        #expect(support_persist_srk(software.device, nil, SUPPORT_SRK_PROVISIONING) == 0)
        let result = try bench().run()
        let first = try #require(sent(result)["tpm-first-srk"])
        #expect(first == "Load Sign FlushContext")
        try expectNothingLeft([0x8100_0001])
    }

    @Test func withAPersistentCopy() throws {
        let result = try bench { $0.isPersisting = true }.run()
        #expect(sent(result)["tpm-first-handle"] == "Sign")
        #expect(software.commands(SUPPORT_CC_EVICT_CONTROL) == 2)
        try expectNothingLeft()
    }

    @Test func aBatchIsOneCommand() throws {
        let result = try bench { $0.isBatching = true }.run()
        for count in [1, 16, 256, 1024] { #expect(sent(result)["tpm-batch-\(count)"] == "Sign") }
        try expectNothingLeft()
    }

    @Test func pageShowsWhatWasMeasured() throws {
        let result = try bench {
            $0.isSmoke = false
            $0.rounds = 2
        }.run()
        let machine = BenchMachine(tpm: "A <chip> & co")
        let page = BenchPage(result, on: machine).html
        for title in ["signatures a second", "TPM commands", "work of the host", "a device's life"] {
            #expect(page.contains("aria-label=\"\(HTML.text(title))\""), "\(title)")
        }
        #expect(page.contains("A &lt;chip&gt; &amp; co") && !page.contains("<chip>"))
        #expect(page.contains("prefers-color-scheme: dark"))
        for outside in ["//", "url(", "@import", "<script", "<link", "<img"] {
            #expect(!page.contains(outside), "\(outside)")
        }
        #expect(page.ranges(of: "<figcaption>").count == 4 && page.contains("tpm-first-primary"))
        let cells = result.chipLine("A | chip", isSimulator: true, on: machine).split(separator: "|")
        #expect(cells.count == 9 && cells[0] == " A / chip " && cells[1] == " software ")
    }

    @Test func measures() throws {
        let told = Mutex<[String]>([])
        let progress: @Sendable (String) -> Void = { text in told.withLock { $0.append(text) } }
        let result = try bench(
            TPM.Options(),
            {
                $0.isSmoke = false
                $0.isPersisting = true
                $0.rounds = 2
            }, telling: progress
        ).run()
        try expectNothingLeft()
        #expect(told.withLock { $0.count } == 10)
        #expect(result.rounds == 2 && result.lines.allSatisfy { $0.rounds.count == 2 })
        let own = result.lines.filter { $0.by == "tenon" }
        #expect(own.map(\.line).count == 8 && own.filter { $0.commands == nil }.map(\.line) == ["sign"])
        #expect(own.compactMap { result.floor(of: $0)?.commands } == Array(repeating: 1, count: 7))
        let counted = result.figures.filter { $0.what.contains("TPM commands") }
        #expect(counted.map(\.name) == ["P1", "P2", "P2", "P5", "P5"] && counted.map(\.value) == [1, 1, 1, 2, 0])
        #expect(result.figures.count == 8 && counted.allSatisfy { $0.isReached == true })
        let records = result.records(of: BenchMachine(tpm: "a chip"))
        var bytes: [UInt8] = []
        for record in records { bytes += try record.encoded() + [10] }
        let read = try BenchResults(parsing: bytes, name: "a.json")
        #expect(read.machine["tpm"] == "a chip" && read.rounds.count == result.lines.count)
        let comparison = try Comparison(read, read)
        #expect(comparison.isOneMachine && !comparison.isRegressed)
    }

    /// The floor sends Tenon's own commands, byte for byte, even if the key has another handle by now.
    @Test func floorIsWhatWasSent() throws {
        let wire = BenchWire(over: SoftwareTPMTransport(software))
        let key = try TPMBenchKey(in: TPM(wire), wire)
        let floor = key.floor
        var record = support_record()
        for _ in 0..<2 {
            try floor.operation()
            #expect(support_transport_record(software.wire, 0, &record))
            let command = Array(UnsafeBufferPointer(start: record.command, count: record.command_n))
            #expect(command == wire.signing && command.count == 73 && record.rc == 0)
            let handle = command[10..<14].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            #expect(support_flush(software.device, handle) == 0)
        }
        let repeatable = wire.signing
        let salted = try TPM.PrivateKey(
            dataRepresentation: key.file, in: TPM(wire, options: TPM.Options(session: .salted)), options: .signsDigests)
        try TPMBenchKey.warmUp(salted, key.digest)
        #expect(wire.signing == repeatable, "there is a nonce in the other")
        software.forgetFaults()
        support_fail_code(software.wire, support_times(SUPPORT_CC_SIGN, 1, SUPPORT_ALWAYS), 0x101)
        #expect(errorThrown { try floor.operation() }?.tpmCode == 0x101)
    }

    @Test(arguments: [
        (SUPPORT_CC_SIGN, 1), (SUPPORT_CC_SIGN, 4), (SUPPORT_CC_SIGN, 7), (SUPPORT_CC_SIGN, 12),
        (SUPPORT_CC_CREATE_PRIMARY, 1), (SUPPORT_CC_CREATE_PRIMARY, 2), (SUPPORT_CC_LOAD, 2), (SUPPORT_CC_LOAD, 4),
        (SUPPORT_CC_CREATE, 2), (SUPPORT_CC_CERTIFY, 1), (SUPPORT_CC_START_AUTH_SESSION, 1),
        (SUPPORT_CC_START_AUTH_SESSION, 2), (SUPPORT_CC_EVICT_CONTROL, 1),
    ])
    func leavesNothingWhenALineFails(_ code: UInt32, _ nth: Int) throws {
        let when = support_times(code, UInt32(nth), code == SUPPORT_CC_EVICT_CONTROL ? 1 : SUPPORT_ALWAYS)
        support_fail_code(software.wire, when, 0x101)
        let failed = errorThrown { try bench { $0.isPersisting = true }.run() }
        #expect(failed?.tpmCode == 0x101)
        #expect(support_transport_pending(software.wire) == 0, "the fault did happen")
        software.forgetFaults()
        try expectNothingLeft()
    }

    @Test(arguments: [1, 3, 9]) func leavesNothingWhenTheWayFails(_ nth: Int) throws {
        let failure = Int32(truncatingIfNeeded: TENON_ERROR_TPM_TRANSPORT)
        support_fail_after(software.wire, support_times(SUPPORT_CC_SIGN, UInt32(nth), SUPPORT_ALWAYS), failure)
        let failed = errorThrown { try bench { $0.isPersisting = true }.run() }
        #expect(failed?.code == .tpmTransport)
        software.forgetFaults()
        try expectNothingLeft()
    }

    /// The TPM has made the copy, its answer is lost, and so is the way to ask.
    @Test func leavesNoCopyThatNobodyHeardOf() throws {
        let failure = Int32(truncatingIfNeeded: TENON_ERROR_TPM_TRANSPORT)
        support_fail_after(software.wire, support_times(SUPPORT_CC_EVICT_CONTROL, 1, 1), failure)
        support_transport_fail_reopen(software.wire, 1, failure)
        let failed = errorThrown { try bench { $0.isPersisting = true }.run() }
        #expect(failed?.code == .tpmTransport)
        software.forgetFaults()
        try expectNothingLeft()
    }

    /// Asks a bench to end when the nth command is under way.
    private final class Ending: TPMTransport {
        private let way: SoftwareTPMTransport
        private let nth: Int
        let bench = Mutex<TPMBench?>(nil)
        private let codes = Mutex<[UInt8]>([])

        init(_ software: SoftwareTPM, _ nth: Int) {
            way = SoftwareTPMTransport(software)
            self.nth = nth
        }

        /// The last bytes of the codes of the commands after that.
        var sentLater: Set<UInt8> { Set(codes.withLock { $0.dropFirst(nth) }) }

        func exchange(_ command: Span<UInt8>) throws -> [UInt8] {
            let code = command[9]
            let count = codes.withLock { codes in
                codes.append(code)
                return codes.count
            }
            if count == nth { bench.withLock { $0 }?.cancel() }
            return try way.exchange(command)
        }

        func reopen() throws(TenonError) { try way.reopen() }
    }

    @Test(arguments: [1, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 25, 28, 31, 35, 40, 45, 50, 60, 99])
    func endsEarly(_ nth: Int) throws {
        var plan = TPMBench.Plan()
        (plan.isPersisting, plan.rounds) = (true, 3)
        let way = Ending(software, nth)
        let failed: TenonError?
        do {
            let bench = TPMBench(over: way, plan: plan)
            way.bench.withLock { $0 = bench }
            failed = errorThrown { try bench.run() }
            way.bench.withLock { $0 = nil }
        }
        #expect(failed?.code == .cancelled && failed?.mend != nil)
        #expect(way.sentLater.isSubset(of: [0x65, 0x20, 0x73]), "nothing but what takes away")
        #expect(software.leftovers == 0)
        #expect(try software.tpm().persistentHandles() == [])
    }

    @Test func saysWhatItCouldNotTakeAway() throws {
        support_fail_code(software.wire, support_times(SUPPORT_CC_EVICT_CONTROL, 2, 1), 0x9a2)
        let failed = errorThrown { try bench { $0.isPersisting = true }.run() }
        #expect(failed?.code.category == .auth)
        #expect(failed?.message.contains("0x81080000") == true)
        #expect(failed?.mend == "Remove it: tpm2_evictcontrol -C o -c 0x81080000")
        try expectNothingLeft([0x8108_0000])
    }

    @Test func ownerAuth() throws {
        #expect(support_persist_srk(software.device, nil, SUPPORT_SRK_PROVISIONING) == 0)
        #expect(support_change_auth(software.device, SUPPORT_RH_OWNER, nil, "o") == 0)
        _ = try bench().run()
        let failed = errorThrown { try bench { $0.isPersisting = true }.run() }
        #expect(failed?.code.category == .auth)
        _ = try bench(TPM.Options(ownerAuth: Array("o".utf8))) { $0.isPersisting = true }.run()
        try expectNothingLeft([0x8100_0001])
    }

    @Test func inLockout() throws {
        #expect(support_lockout_parameters(software.device, nil, 0, 1000, 1000) == 0)
        let result = try bench().run()
        #expect(result.info.lockout.isLocked)
        try expectNothingLeft()
    }
}

extension SoftwareTPM {
    fileprivate func forgetFaults() { support_transport_forget_faults(wire) }
}
