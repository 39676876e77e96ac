// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Testing

@testable import Tenon

/// Requests of version 2 that share the commands of a key, and each fault of that.
@Suite(.timeLimit(.minutes(1))) struct RequestLineTests {
    /// A registered device whose service takes version 2, and the gate before its key.
    struct Rig {
        typealias Outcome = Result<SignedRequest, TenonError>
        typealias Signing = Task<Outcome, Never>

        let flow: FlowRig
        let gate = SigningGate()
        let identity: DeviceIdentity

        init(_ batchMax: Int64 = 1024, limits: FlowLimits = .patient) async throws {
            flow = try FlowRig()
            flow.service.change { state in
                state.signing = [
                    "versions": [1, 2], "hosts": ["service.example"], "batches": true, "batch_max": .integer(batchMax),
                ]
            }
            try await flow.identity.register()
            flow.vault.put(behind: gate)
            identity = try flow.restarted(limits: limits)
        }

        var key: PublicKey {
            get throws {
                let text = try #require(flow.service.devices.first?.value.key)
                return try PublicKey(derRepresentation: TextEncoding.base64.decode(text))
            }
        }

        func start(_ number: Int) -> Signing {
            let identity = identity
            return Task {
                do throws(TenonError) {
                    return .success(try await identity.sign("POST", path: "/v1/x", body: [UInt8(number & 0xff)]))
                } catch {
                    return .failure(error)
                }
            }
        }

        /// Starts a request that has the key, and others that wait for it, one behind the other.
        func started(_ waiting: Int) async -> [Signing] {
            gate.close()
            let first = start(0)
            while gate.held == 0 { await Task.yield() }
            var tasks = [first]
            for number in 1...waiting {
                tasks.append(start(number))
                while identity.waitingRequests < number { await Task.yield() }
            }
            return tasks
        }

        static func started(_ waiting: Int, _ batchMax: Int64 = 1024) async throws -> (Rig, [Signing]) {
            let rig = try await Rig(batchMax)
            return (rig, await rig.started(waiting))
        }

        /// Lets all go on, which are signed by commands of these sizes.
        func open(_ tasks: [Signing], _ sizes: [Int]) async throws {
            gate.open()
            try await expectSigned(tasks)
            #expect(gate.sizes == sizes)
        }

        /// The same with threads that wait. Gives what comes of them, in any order.
        func startedThreads(_ waiting: Int) async throws -> (first: Signing, others: AsyncStream<Outcome>) {
            gate.close()
            let first = start(0)
            while gate.held == 0 { await Task.yield() }
            let (others, end) = AsyncStream.makeStream(of: Outcome.self)
            for number in 1...waiting {
                try BlockingThread.start { [identity] in
                    end.yield(
                        Result { () throws(TenonError) in
                            try identity.sign("POST", path: "/v1/x", body: [UInt8(number)])
                        })
                }
            }
            while identity.waitingRequests < waiting { await Task.yield() }
            return (first, others)
        }

        /// Starts requests that come together.
        func startTogether(_ parts: [RequestParts]) -> Task<[Outcome], Never> {
            Task { [identity] in await identity.sign(parts.map { ($0, [1]) }) }
        }

        /// Starts so many, which wait behind the others.
        func join(_ count: Int) async -> Task<[Outcome], Never> {
            let waiting = identity.waitingRequests
            let together = startTogether(Array(repeating: parts, count: count))
            while identity.waitingRequests < waiting + count { await Task.yield() }
            return together
        }

        func expectSigned(_ tasks: [Signing]) async throws {
            var results: [Outcome] = []
            for task in tasks { results.append(await task.value) }
            try expectSigned(results)
        }

        func expectSigned(_ results: [Outcome]) throws {
            let key = try key
            var nonces: Set<String> = []
            for result in results {
                let signed = try result.get()
                #expect(try #require(Version2(signed.asSent)).isSigned(by: key))
                nonces.insert(signed.nonce)
            }
            #expect(nonces.count == results.count)
        }
    }

    @Test func oneRequestIsSignedAlone() async throws {
        let rig = try await Rig()
        for number in 0..<3 { try await rig.expectSigned([rig.start(number)]) }
        #expect(rig.gate.sizes == [0, 0, 0])
    }

    @Test(arguments: [(499, 1024, [0, 499]), (20, 8, [0, 8, 8, 4])] as [(Int, Int64, [Int])])
    func whatWaitsSharesTheNextCommands(_ waiting: Int, _ batchMax: Int64, _ sizes: [Int]) async throws {
        let (rig, tasks) = try await Rig.started(waiting, batchMax)
        try await rig.open(tasks, sizes)
        try await rig.expectSigned([rig.start(0)])
        #expect(rig.gate.sizes == sizes + [0])
    }

    /// What comes while a batch waits for its turn still belongs to it.
    @Test func membersAreSettledWhenTheTurnComes() async throws {
        let (rig, first) = try await Rig.started(3)
        rig.gate.passOne()
        while rig.gate.held == 0 { await Task.yield() }
        let tasks = first + (4...6).map(rig.start)
        while rig.identity.waitingRequests < 6 { await Task.yield() }
        try await rig.open(tasks, [0, 6])
    }

    @Test func blockedThreadsShareToo() async throws {
        let rig = try await Rig()
        let (first, others) = try await rig.startedThreads(4)
        rig.gate.open()
        for await result in others.prefix(4) {
            let request = try result.get()
            #expect(request.form == .batch && rig.flow.isAccepted(request))
        }
        #expect(try await first.value.get().form == .plain)
        #expect(rig.gate.sizes == [0, 4])
    }

    // MARK: Requests that come together

    private static let parts = RequestParts("POST", path: "/v1/x")

    @Test func whatComesTogetherIsOneCommand() async throws {
        let rig = try await Rig()
        try rig.expectSigned(await rig.startTogether(Array(repeating: Self.parts, count: 20)).value)
        #expect(rig.gate.sizes == [20])
        let alone = await rig.startTogether([Self.parts]).value
        #expect(try alone.map { try $0.get().form } == [.plain])
        #expect(rig.gate.sizes == [20, 0])
    }

    @Test func whatComesTogetherJoinsTheLine() async throws {
        let (rig, tasks) = try await Rig.started(2, 8)
        let together = await rig.join(12)
        rig.gate.open()
        try await rig.expectSigned(tasks)
        try rig.expectSigned(await together.value)
        #expect(rig.gate.sizes == [0, 8, 6])
    }

    /// Each request is signed as it would be alone, and one that is refused costs the others nothing.
    @Test func whatMayNotShareDoesNot() async throws {
        let rig = try await Rig()
        let results = await rig.startTogether([
            Self.parts, RequestParts("POST", path: "/v1/x", form: .plain), RequestParts("POST", path: "/v1/%7e"),
            RequestParts("POST", path: "/v1/x", host: "other.example"), Self.parts,
        ]).value
        #expect(results.map { (try? $0.get().form) } == [.batch, .plain, nil, nil, .batch])
        #expect(results[2].code == .path)
        #expect(try results[3].get().signatureVersion == "1")
        try rig.expectSigned([results[0], results[1], results[4]])
        #expect(rig.gate.sizes == [2, 0])
    }

    @Test func whatCameTogetherIsCancelled() async throws {
        let (rig, tasks) = try await Rig.started(1)
        let together = await rig.join(5)
        together.cancel()
        #expect(await together.value.map(\.code) == Array(repeating: .cancelled, count: 5))
        #expect(rig.identity.waitingRequests == 1)
        try await rig.open(tasks, [0, 1])
    }

    @Test func theKeyChangesBeforeTheirTurn() async throws {
        let (rig, tasks) = try await Rig.started(1)
        let together = await rig.join(5)
        try await rig.identity.rotate()
        rig.gate.open()
        _ = try await tasks[0].value.get()
        try rig.expectSigned(await together.value)
    }

    @Test func theCommandForAllFails() async throws {
        let rig = try await Rig()
        rig.gate.fail(TenonError(.tpmBusy, message: "Not now."))
        let results = await rig.startTogether(Array(repeating: Self.parts, count: 5)).value
        #expect(results.map(\.code) == Array(repeating: .tpmBusy, count: 5))
        // Those that waited may be told before the key is free: then the next is a batch of its own.
        try await rig.expectSigned([rig.start(1)])
        #expect(rig.gate.sizes == [0] || rig.gate.sizes == [1])
    }

    // MARK: Faults

    @Test func aRequestLeavesTheLine() async throws {
        let (rig, tasks) = try await Rig.started(6)
        for task in tasks[2...3] { task.cancel() }
        for task in tasks[2...3] { #expect(await task.value.code == .cancelled) }
        #expect(rig.identity.waitingRequests == 4)
        try await rig.open(tasks[..<2] + Array(tasks[4...]), [0, 4])
    }

    /// The handler of its task finds nothing in the line yet.
    @Test func aRequestIsCancelledBeforeItWaits() async throws {
        let (rig, tasks) = try await Rig.started(1)
        let signer = try await rig.identity.signer()
        let request = try UnsignedRequest(Self.parts, [1], for: signer)
        let cancelled = Task { [identity = rig.identity] () async -> TenonError.Code? in
            withUnsafeCurrentTask { $0?.cancel() }
            return await refusal { try await identity.sign(request, by: signer) }
        }
        #expect(await cancelled.value == .cancelled)
        #expect(rig.identity.waitingRequests == 1)
        try await rig.open(tasks, [0, 1])
    }

    /// Its leaf stays in the tree, so that the others are signed all the same.
    @Test func aRequestLeavesAfterItsBatchWasTaken() async throws {
        let (rig, tasks) = try await Rig.started(3)
        let taken = SigningPause()
        rig.gate.afterTaking { taken.pause() }
        rig.gate.open()
        await taken.began()
        tasks[2].cancel()
        #expect(await tasks[2].value.code == .cancelled)
        #expect(rig.identity.waitingRequests == 0)
        taken.end()
        try await rig.expectSigned([tasks[0], tasks[1], tasks[3]])
        #expect(rig.gate.sizes == [0, 3])
        #expect(try await Version2(tasks[3].value.get().asSent)?.size == 3)
    }

    @Test func aFullLineRefuses() async throws {
        let (rig, tasks) = try await Rig.started(8, 2)
        #expect(await rig.start(9).value.code == .batchFull)
        try await rig.open(tasks, [0, 2, 2, 2, 2])
    }

    @Test func aDeadlinePasses() async throws {
        var limits = FlowLimits()
        limits.line = .zero
        let rig = try await Rig(limits: limits)
        rig.gate.close()
        let first = rig.start(0)
        while rig.gate.held == 0 { await Task.yield() }
        #expect(await rig.start(1).value.code == .deadline)
        #expect(rig.identity.waitingRequests == 0)
        try await rig.open([first], [0])
    }

    /// All members are told what the key says, and those that come later get a command of their own.
    @Test func aBatchFails() async throws {
        let (rig, tasks) = try await Rig.started(6, 4)
        rig.gate.passOne()
        _ = await tasks[0].value
        rig.gate.fail(TenonError(.tpmBusy, message: "Not now."))
        rig.gate.open()
        for task in tasks[1...4] { #expect(await task.value.code == .tpmBusy) }
        try await rig.expectSigned([tasks[0], tasks[5], tasks[6]])
        #expect(rig.gate.sizes == [0, 2])
        try await rig.expectSigned([rig.start(7)])
    }

    @Test func aRequestAloneFails() async throws {
        let (rig, tasks) = try await Rig.started(2)
        rig.gate.fail(TenonError(.tpmMissing, message: "Not there."))
        rig.gate.open()
        #expect(await tasks[0].value.code == .tpmMissing)
        try await rig.expectSigned(Array(tasks[1...]))
        #expect(rig.gate.sizes == [2])
    }

    /// The TPM is cleared in the middle of a batch: everybody is told, also those that still wait.
    @Test(arguments: [false, true])
    func aKeyIsGone(_ isAlone: Bool) async throws {
        let (rig, tasks) = try await Rig.started(5, 2)
        if !isAlone {
            rig.gate.passOne()
            _ = try await tasks[0].value.get()
        }
        rig.gate.fail(TenonError(.keyGone, message: "The TPM was cleared."))
        rig.gate.open()
        for task in tasks[(isAlone ? 0 : 1)...] { #expect(await task.value.code == .keyInvalidated) }
        #expect(rig.gate.sizes == (isAlone ? [] : [0]))
        #expect(try rig.identity.status().state == .keyInvalid)
    }

    /// What waits when the key changes is hashed once more, for the new key; nothing goes out under the old one.
    @Test func aRotationPasses500() async throws {
        let rig = try await Rig()
        let old = try rig.key
        let tasks = await rig.started(500)
        try await rig.identity.rotate()
        #expect(try rig.key != old)
        rig.gate.open()
        let first = try #require(Version2(try await tasks[0].value.get().asSent))
        #expect(first.isSigned(by: old), "it had its turn before")
        try await rig.expectSigned(Array(tasks[1...]))
        #expect(rig.gate.sizes.reduce(0) { $0 + max($1, 1) } == 501)
    }

    @Test func aRotationPassesBlockedThreads() async throws {
        let rig = try await Rig()
        let (first, others) = try await rig.startedThreads(4)
        try await rig.identity.rotate()
        rig.gate.open()
        _ = try await first.value.get()
        try rig.expectSigned(await others.prefix(4).reduce(into: []) { $0.append($1) })
    }

    @Test func theServiceRevokesMeanwhile() async throws {
        let (rig, tasks) = try await Rig.started(5)
        rig.flow.service.change { state in for id in state.devices.keys { state.devices[id]?.isRevoked = true } }
        _ = try? await rig.identity.resolve()
        rig.gate.open()
        for task in tasks[1...] { #expect(await task.value.code == .deviceRevoked) }
        #expect(rig.gate.sizes == [0])
    }

    /// The time is that of the moment in which it was asked for, wherever the clock is set while it waits.
    @Test func theClockStepsMeanwhile() async throws {
        let (rig, tasks) = try await Rig.started(3)
        let created = String(rig.flow.time.seconds)
        rig.flow.time.setWall(by: .seconds(-7200))
        rig.gate.open()
        for task in tasks { #expect(try await task.value.get().timestamp == created) }
    }

    @Test func aMalformedRequestIsRefusedAndFreesTheKey() async throws {
        let rig = try await Rig()
        #expect(await refusal { try await rig.identity.sign("POST", path: "/v1/%7e") } == .path)
        #expect(await refusal { try await rig.identity.sign("POST", path: "/v1/x", query: "a#b") } == .query)
        #expect(
            await refusal {
                try await rig.identity.sign("POST", path: "/v1/x", contentType: " text/plain")
            } == .component)
        try await rig.expectSigned([rig.start(1)])
        #expect(rig.gate.sizes == [0])
    }
}

/// Holds a thread in the middle of a command.
final class SigningPause: Sendable {
    private let go = Semaphore()
    private let isBegun = Atomic(false)

    func pause() {
        isBegun.store(true, ordering: .releasing)
        go.wait()
    }

    func began() async { while !isBegun.load(ordering: .acquiring) { await Task.yield() } }

    func end() { go.signal() }
}

extension FlowLimits {
    /// For tests in which no deadline may pass, however slow the machine is.
    static var patient: FlowLimits {
        var limits = FlowLimits()
        limits.line = .seconds(50)
        return limits
    }
}
