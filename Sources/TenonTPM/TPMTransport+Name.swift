// SPDX-License-Identifier: Apache-2.0
internal import CTenonTPM
package import Tenon

/// The way to a TPM that a name says, for who counts what goes over it.
package final class NamedTransport: TPMTransport {
    // What it points to is the core's, which locks nothing: a TPM calls from one thread at a time.
    private nonisolated(unsafe) let table: tenon_tpm_transport

    /// - Throws: what opening a ``TPM`` by that name throws.
    package init(_ name: String, allowSimulator: Bool = false) throws(TenonError) {
        var table = tenon_tpm_transport()
        let status = name.utf8.span.withUnsafeBytes { name in
            tenon_tpm_transport_open(
                &table, name.bindMemory(to: CChar.self).baseAddress, name.count, allowSimulator ? 1 : 0)
        }
        guard status == 0 else { throw TenonError(status: status).opening(name) }
        self.table = table
    }

    deinit { table.close(table.context) }

    package var isManaged: Bool { table.managed == 1 }

    package func exchange(_ command: Span<UInt8>) throws -> [UInt8] {
        var status: tenon_status = 0
        let answer = [UInt8](unsafeUninitializedCapacity: Int(TENON_TPM_BUFFER_SIZE)) { answer, length in
            status = command.withUnsafeBufferPointer {
                table.exchange(table.context, answer.baseAddress, answer.count, &length, $0.baseAddress, $0.count)
            }
        }
        try TenonError.check(status)
        return answer
    }

    package func reopen() throws(TenonError) { try TenonError.check(table.reopen(table.context)) }
}
