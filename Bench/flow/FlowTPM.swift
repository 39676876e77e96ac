// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Synchronization
import Tenon
import TenonTPM

/// A software TPM of its own, with an EK of RSA-2048 and no other, which notes what is sent to it.
final class FlowTPM: TPMTransport {
    // The functions of CTestSupport may be called by any thread.
    private nonisolated(unsafe) let device: OpaquePointer
    private let sent = Mutex<[UInt32]>([])

    /// - Parameter state: a folder that Tests/Scripts/swtpm_state.sh made.
    init(state: String) throws(TenonError) {
        guard let device = support_swtpm_start(state + "/state") else {
            throw TenonError(.tpmTransport, message: "swtpm does not start.")
        }
        self.device = device
        // The other, which would be taken first, of P-384.
        guard support_nv_remove(device, 0x01C0_0016) == 0 else {
            throw TenonError(.tpmTransport, message: "The software TPM keeps its other EK certificate.")
        }
    }

    deinit { support_swtpm_stop(device) }

    /// The names of the commands since the last call.
    func takeCommands() -> [String] {
        sent.withLock { sent in
            defer { sent = [] }
            return sent.map { FlowTPM.names[$0] ?? "other" }
        }
    }

    func exchange(_ command: Span<UInt8>) throws -> [UInt8] {
        let code = (6..<10).reduce(UInt32(0)) { $0 << 8 | ($1 < command.count ? UInt32(command[$1]) : 0) }
        sent.withLock { $0.append(code) }
        var status: tenon_status = 0
        let answer = [UInt8](unsafeUninitializedCapacity: 4096) { answer, length in
            status = command.withUnsafeBufferPointer {
                support_swtpm_exchange(device, answer.baseAddress, answer.count, &length, $0.baseAddress, $0.count)
            }
        }
        guard status == 0 else { throw TenonError(.tpmTransport, message: "The software TPM gave no answer.") }
        return answer
    }

    private static let names: [UInt32: String] = [
        SUPPORT_CC_ACTIVATE_CREDENTIAL: "ActivateCredential", SUPPORT_CC_CERTIFY: "Certify",
        SUPPORT_CC_CONTEXT_LOAD: "ContextLoad", SUPPORT_CC_CONTEXT_SAVE: "ContextSave", SUPPORT_CC_CREATE: "Create",
        SUPPORT_CC_CREATE_PRIMARY: "CreatePrimary", SUPPORT_CC_EVICT_CONTROL: "EvictControl",
        SUPPORT_CC_FLUSH_CONTEXT: "FlushContext", SUPPORT_CC_GET_CAPABILITY: "GetCapability", SUPPORT_CC_LOAD: "Load",
        SUPPORT_CC_NV_READ: "NV_Read", SUPPORT_CC_NV_READ_PUBLIC: "NV_ReadPublic",
        SUPPORT_CC_POLICY_SECRET: "PolicySecret", SUPPORT_CC_READ_PUBLIC: "ReadPublic", SUPPORT_CC_SIGN: "Sign",
        SUPPORT_CC_START_AUTH_SESSION: "StartAuthSession",
    ]
}
