// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Synchronization
import Tenon
import Testing

@testable import TenonTPM

/// Opening a TPM, its report about itself, and its errors.
@Suite(.timeLimit(.minutes(1))) struct TPMTests {
    private var tpm: TPM { OpenTPM.current.tpm }
    private var software: SoftwareTPM { OpenTPM.current.software }

    @Test(arguments: [
        ("", TenonError.Code.tcti), ("cmd:true", .tcti), ("/dev/tpmrm0", .tcti), ("device:", .tcti),
        ("swtpm:path=/nonexistent", .simulator), ("device:/nonexistent", .tpmMissing), ("device:/dev/", .tpmMissing),
    ])
    func names(_ name: String, _ code: TenonError.Code) {
        let refused = errorThrown { try TPM(name) }
        #expect(refused?.code == code)
        let way = errorThrown { try NamedTransport(name) }
        #expect(way?.code == code && way?.message == refused?.message)
    }

    @Test func options() throws {
        let software = try SoftwareTPM()
        let long = [UInt8](repeating: 1, count: 33)
        for options in [TPM.Options(ownerAuth: long), TPM.Options(endorsementAuth: long)] {
            #expect(errorThrown { try software.tpm(options) }?.code == .authValue)
        }
        #expect(!software.isOpen)
        let deadlines: [(Duration, UInt32)] = [
            (.milliseconds(1_999), 1_999), (.zero, 1), (.seconds(-1), 1), (.seconds(1 << 40), .max),
        ]
        for (deadline, core) in deadlines {
            #expect(TPM.Options(deadline: deadline).withCore { $0.pointee.deadline_ms } == core)
        }
    }

    /// Each command is told with what it was answered, and nothing that it holds.
    @Test func trace() throws {
        let told = Mutex<[TPM.Trace]>([])
        try withTPM(TPM.Options(trace: { trace in told.withLock { $0.append(trace) } })) { software, tpm in
            let key = try TPM.PrivateKey(in: tpm)
            _ = try key.blockingSignature(for: .event(Sample.event))
            let traces = told.withLock { $0 }
            #expect(traces.map(\.command) == ["CreatePrimary", "ReadPublic", "Create", "Load", "Sign", "FlushContext"])
            #expect(
                traces.map(\.handles.first) == [
                    .permanent, .persistent, .transient, .transient, .transient, .transient,
                ])
            #expect(traces.map(\.responseCode) == [0, 0x18b, 0, 0, 0, 0])
            #expect(traces.allSatisfy { $0.duration > .zero })
            support_fail_before(software.wire, support_next(SUPPORT_CC_SIGN), tenon_status(TENON_ERROR_TPM_TRANSPORT))
            _ = try key.blockingSignature(for: .event(Sample.event))
            let lost = told.withLock { $0.first { $0.responseCode == nil } }
            #expect(lost?.command == "Sign")
        }
    }

    @Test(.blockingTPM) func defaultIsOpenedOnce() throws {
        let kept = Mutex<TPM?>(nil)
        var tries = 0
        let failing = TenonError(.tpmMissing, message: "")
        for _ in 0..<2 {
            let error = errorThrown {
                try TPM.kept(in: kept) { () throws(TenonError) in
                    tries += 1
                    throw failing
                }
            }
            #expect(error == failing)
        }
        for _ in 0..<2 {
            let found = try TPM.kept(in: kept) { () throws(TenonError) in
                tries += 1
                return tpm
            }
            #expect(found === tpm)
        }
        #expect(tries == 3)
    }

    @Test func defaultIsTheSystems() {
        let first = Result { () throws(TenonError) in try TPM.default() }
        let second = Result { () throws(TenonError) in try TPM.default() }
        switch (first, second) {
        case (.success(let first), .success(let second)): #expect(first === second)
        case (.failure(let error), _), (_, .failure(let error)):
            #expect([.unavailable, .permission, .transient].contains(error.code.category))
        }
    }

    @Test(.blockingTPM) func info() throws {
        let fresh = try tpm.info()
        #expect(fresh.maker == "IBM")
        #expect(fresh.model == "SW   TPM")
        #expect(fresh.firmware != 0)
        #expect(fresh.revision >= 138)
        #expect(!fresh.isOwnerAuthSet && !fresh.isEndorsementAuthSet && !fresh.isLockoutAuthSet)
        #expect(!fresh.isClearDisabled && fresh.isStorageEnabled && fresh.isEndorsementEnabled)
        #expect(fresh.ekCertificates.isEmpty)
        #expect(!fresh.lockout.isLocked)
        #expect(support_lockout_parameters(software.device, nil, 5, 60, 70) == 0)
        #expect(support_nv_write(software.device, SUPPORT_NV_EK_P256, Sample.data, Sample.data.count) == 0)
        #expect(support_clear_control(software.device, SUPPORT_RH_LOCKOUT, nil, true) == 0)
        #expect(support_change_auth(software.device, SUPPORT_RH_OWNER, nil, "o") == 0)
        let later = try tpm.info()
        #expect(later.ekCertificates == .p256Low)
        #expect(later.isClearDisabled && later.isOwnerAuthSet && !later.isEndorsementAuthSet)
        #expect(later.lockout.maximumTries == 5)
        #expect(later.lockout.interval == .seconds(60))
        #expect(later.lockout.recovery == .seconds(70))
    }

    @Test(.blockingTPM) func lockout() throws {
        #expect(support_lock_out(software.device, nil, nil) == 0)
        let lockout = try tpm.info().lockout
        #expect(lockout.isLocked)
        #expect(lockout.failedTries >= lockout.maximumTries && lockout.maximumTries > 0)
    }

    @Test func ownerAuth() throws {
        let software = try SoftwareTPM()
        #expect(support_change_auth(software.device, SUPPORT_RH_OWNER, nil, "owner") == 0)
        let error = errorThrown { try TPM.PrivateKey(in: software.tpm()) }
        #expect(error?.code.category == .auth)
        let key = try TPM.PrivateKey(in: software.tpm(TPM.Options(ownerAuth: Array("owner".utf8))))
        try key.persist()
    }

    @Test func aBusyTPM() throws {
        try withTPM(TPM.Options(deadline: .zero)) { software, tpm in
            let key = try TPM.PrivateKey(in: tpm)
            support_fail_code(software.wire, support_times(SUPPORT_CC_SIGN, 1, SUPPORT_ALWAYS), 0x922)
            let error = errorThrown { try key.blockingSignature(for: .event(Sample.event)) }
            #expect(error?.code.category == .transient)
            #expect(error?.tpmCode == 0x922)
            #expect(error?.message.isEmpty == false)
        }
    }

    @Test func whatCannotBeOpenedIsNamed() {
        let missing = errorThrown { try TPM("device:/nonexistent") }
        #expect(missing?.message.hasSuffix("[/nonexistent]") == true)
        let refused = TenonError(.tpmPermission, message: "No.").opening("device:/etc/shadow")
        #expect(refused.message == "No. [/etc/shadow; its group is shadow]")
        let held = TenonError(.tpmBusy, message: "No.").opening("device:/dev/tpm0", waiting: .milliseconds(1500))
        #expect(held.message == "No. [/dev/tpm0; waited for 1.5 seconds]")
        #expect(TenonError(.simulator, message: "No.").opening("swtpm:").message == "No.")
    }

    @Test(.blockingTPM) func aWayThatFailed() throws {
        let key = try TPM.PrivateKey(in: tpm)
        let failure = tenon_status(TENON_ERROR_TPM_TRANSPORT)
        support_fail_before(software.wire, support_next(SUPPORT_CC_SIGN), failure)
        _ = try key.blockingSignature(for: .event(Sample.event))
        #expect(support_transport_reopens(software.wire) == 1)
        support_fail_before(software.wire, support_next(SUPPORT_CC_SIGN), failure)
        support_transport_fail_reopen(software.wire, 1, tenon_status(TENON_ERROR_TPM_PERMISSION))
        let error = errorThrown { try key.blockingSignature(for: .event(Sample.event)) }
        #expect(error?.code == .tpmPermission)
    }
}

/// Faulty transports.
@Suite struct TPMTransportTests {
    private final class Canned: TPMTransport {
        let answer: [UInt8]?
        init(_ answer: [UInt8]?) { self.answer = answer }

        struct Failure: Error {}
        func exchange(_ command: Span<UInt8>) throws -> [UInt8] {
            guard let answer else { throw Failure() }
            return answer
        }
    }

    @Test(arguments: [
        (nil, TenonError.Code.tpmTransport), ([], .tpmAnswer), ([UInt8](repeating: 0, count: 4096), .tpmAnswer),
        ([UInt8](repeating: 0, count: 4097), .tpmTransport),
    ])
    func answers(_ answer: [UInt8]?, _ code: TenonError.Code) throws {
        let tpm = try TPM(Canned(answer))
        #expect(errorThrown { try tpm.info() }?.code == code)
    }

    @Test func isLetGo() throws {
        weak var transport: Canned?
        do {
            let kept = Canned(nil)
            transport = kept
            let tpm = try TPM(kept)
            #expect(transport != nil)
            _ = tpm
        }
        #expect(transport == nil)
    }
}
