// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Tenon
import Testing

@testable import TenonTPM

/// The asynchronous functions wait on the TPM's own thread, never on one of the cooperative pool.
@Suite(.timeLimit(.minutes(1))) struct AsyncTests {
    private var tpm: TPM { OpenTPM.current.tpm }
    private var software: SoftwareTPM { OpenTPM.current.software }

    @Test(.tpm) func eachFormOnce() async throws {
        let key = try await TPM.PrivateKey(in: tpm, options: .signsDigests)
        let digest = try Digest(hashing: Sample.data)
        #expect(try await key.publicKey.isValidSignature(key.signature(for: Sample.data), for: digest))
        #expect(try await key.publicKey.isValidSignature(key.signature(for: digest), for: digest))
        let handle = try await key.persist()
        try await key.check()
        #expect(try await tpm.persistentHandles() == [handle])
        let again = try await TPM.PrivateKey(dataRepresentation: key.dataRepresentation, in: tpm)
        #expect(again.publicKey == key.publicKey)
        #expect(
            await errorAwaited { try await again.signature(for: digest) }?.code == .digestNotAllowed)
        #expect(try await key.publicKey.isValidSignature(again.signature(for: Sample.data), for: Sample.data))
        try await key.evict()
        let imported = try await TPM.PrivateKey(importing: key.dataRepresentation, in: tpm)
        #expect(imported.isForeign && imported.publicKey == key.publicKey)
        #expect(try await tpm.info().maker == "IBM")
    }

    @Test(.tpm) func asADeviceKey() async throws {
        let key: any DeviceKey = try await TPM.PrivateKey(in: tpm)
        #expect(key.isHardware)
        var message = try RequestMessage(method: "GET", path: "/", timestamp: "1700000000")
        let request = try await key.signature(for: .request(message))
        #expect(try key.publicKey.isValidSignature(request, for: message.finish()))
        let rotation = try await key.signature(for: .rotation(to: key.publicKey))
        let point = try Digest(hashing: key.publicKey.x963Representation)
        #expect(key.publicKey.isValidSignature(rotation, for: point))
        let clientData = try await key.signature(for: .clientData(Sample.clientData))
        #expect(try key.publicKey.isValidSignature(clientData, for: Digest(hashing: Sample.clientData)))
        let event = try await key.signature(for: .event(Sample.event))
        #expect(try key.publicKey.isValidSignature(event, for: Digest(hashing: Sample.event)))
        #expect(
            await errorAwaited { try await key.signature(for: .event(Sample.clientData)) }?.code == .event)
    }

    /// It is for one use, also for one that fails.
    @Test(.tpm, arguments: [(Sample.event, nil), (Sample.clientData, .event)] as [([UInt8], TenonError.Code?)])
    func aPersonsValueIsForgotten(_ event: [UInt8], _ code: TenonError.Code?) async throws {
        let key = try await TPM.PrivateKey(in: tpm, guardedBy: Sample.secret)
        let used = await errorAwaited { try await key.signature(for: .event(event), guardedBy: Sample.secret) }
        #expect(used?.code == code)
        #expect(await errorAwaited { try await key.signature(for: .event(Sample.event)) }?.code == .authNeeded)
    }

    /// During the TPM's first command, no other one begins, and the pool does everything else.
    @Test(.tpm) func thePoolIsFree() async throws {
        let key: any DeviceKey = try await TPM.PrivateKey(in: tpm)
        let finished = Counter()
        support_transport_reset_counts(software.wire)
        support_hold(software.wire, support_next(SUPPORT_CC_SIGN))
        await withTaskGroup { group in
            for number in 0..<64 {
                group.addTask {
                    #expect(await signs(key, number))
                    finished.increase()
                }
            }
            while software.commands() == 0 { await Task.yield() }
            for _ in 0..<100 { await Task.yield() }
            #expect(software.commands() == 1)
            #expect(finished.count == 0)
            support_release(software.wire)
        }
        #expect(finished.count == 64)
        #expect(software.commands(SUPPORT_CC_SIGN) == 64)
        #expect(support_transport_overlaps(software.wire) == 0)
    }

    @Test(.tpm) func cancelledBeforeItsTurn() async throws {
        let key = try await TPM.PrivateKey(in: tpm)
        try await key.check()
        support_transport_reset_counts(software.wire)
        support_hold(software.wire, support_next(SUPPORT_CC_SIGN))
        let first = Task { await signs(key, 0) }
        while software.commands() == 0 { await Task.yield() }
        let others = (0..<8).map { _ in
            Task {
                await errorAwaited { try await key.signature(for: .event(Sample.event)) }
            }
        }
        // Some calls wait by now; those that do not yet wait end, too.
        for _ in 0..<1000 { await Task.yield() }
        for other in others { other.cancel() }
        for other in others { #expect(await other.value?.code == .cancelled) }
        first.cancel()
        support_release(software.wire)
        // The command that was begun continues.
        #expect(await first.value)
        #expect(software.commands() == 1)
    }

    @Test func aKeyOutlivesItsTPM() async throws {
        let software = try SoftwareTPM()
        weak var tpm: TPM?
        do {
            let key: TPM.PrivateKey
            do {
                let opened = try software.tpm()
                tpm = opened
                key = try await TPM.PrivateKey(in: opened)
            }
            #expect(await signs(key, 0))
            #expect(tpm === key.tpm)
            await key.tpm.closing.wait(atMost: .zero)
            #expect(software.isOpen, "whoever holds a key is not waited for any longer")
        }
        await software.waitUntilClosed()
        #expect(tpm == nil)
        #expect(software.leftovers == 0)
    }

    /// Dropping a key does not wait for the TPM to forget it.
    @Test(.tpm) func lettingGoDoesNotWait() async throws {
        let key = try await TPM.PrivateKey(in: tpm)
        var dropped: TPM.PrivateKey? = try await TPM.PrivateKey(in: tpm)
        support_transport_reset_counts(software.wire)
        support_hold(software.wire, support_next(SUPPORT_CC_SIGN))
        let signing = Task { await signs(key, 0) }
        while software.commands() == 0 { await Task.yield() }
        dropped = nil
        #expect(dropped == nil)
        #expect(software.commands() == 1)
        support_release(software.wire)
        #expect(await signing.value)
        // First come, first served: the flush is before this.
        _ = try await tpm.persistentHandles()
        #expect(software.commands(SUPPORT_CC_FLUSH_CONTEXT) >= 1)
    }

    private func signs(_ key: any DeviceKey, _ number: Int) async -> Bool {
        let data = Array(#"{"number":\#(number)}"#.utf8)
        guard let signature = try? await key.signature(for: .clientData(data)), let digest = try? Digest(hashing: data)
        else { return false }
        return key.publicKey.isValidSignature(signature, for: digest)
    }
}
