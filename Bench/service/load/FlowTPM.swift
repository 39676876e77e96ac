// SPDX-License-Identifier: Apache-2.0
internal import CTestSupport
internal import Glibc
internal import Tenon
internal import TenonTPM

/// A software TPM of its own, with an EK of RSA-2048 and no other.
final class FlowTPM: TPMTransport {
    // The functions of CTestSupport may be called by any thread.
    private nonisolated(unsafe) let device: OpaquePointer
    private let latency: UInt32

    /// - Parameters:
    ///   - state: a folder that Tests/Scripts/swtpm_state.sh made.
    ///   - latency: the milliseconds that each command takes longer, as on a chip.
    init(state: String, latency: UInt32) throws(TenonError) {
        self.latency = latency
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

    /// As behind /dev/tpmrm0: what a device has loaded stays loaded.
    var isManaged: Bool { true }

    func exchange(_ command: Span<UInt8>) throws -> [UInt8] {
        usleep(latency * 1000)
        var status: tenon_status = 0
        let answer = [UInt8](unsafeUninitializedCapacity: 4096) { answer, length in
            status = command.withUnsafeBufferPointer {
                support_swtpm_exchange(device, answer.baseAddress, answer.count, &length, $0.baseAddress, $0.count)
            }
        }
        guard status == 0 else { throw TenonError(.tpmTransport, message: "The software TPM gave no answer.") }
        return answer
    }
}
