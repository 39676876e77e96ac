// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
public import Tenon

/// A way to a TPM: for tests, for other hardware, for a TPM behind a wire.
///
/// A ``TPM`` calls its transport from one thread at a time, and lets go of it when it is closed.
public protocol TPMTransport: AnyObject, Sendable {
    /// Sends one command and gives its answer, of at most 4096 bytes. Any error is a way that failed: it is begun anew
    /// with ``reopen()``, once.
    func exchange(_ command: Span<UInt8>) throws -> [UInt8]

    /// Starts over after an exchange failed, as by a fresh connection. By default it throws: there is no other way.
    func reopen() throws(TenonError)

    /// Whether what is loaded over it is nobody else's and goes with the connection, as behind a resource manager. By
    /// default it is false: then nothing stays loaded in the TPM between two calls, and a signature is 4 to 5 commands.
    var isManaged: Bool { get }
}

extension TPMTransport {
    public var isManaged: Bool { false }

    public func reopen() throws(TenonError) { throw TenonError(status: tenon_status(TENON_ERROR_TPM_TRANSPORT)) }
}

/// What the core is given for a transport: it keeps the box until it calls `close`.
private final class TransportBox: Sendable {
    let transport: any TPMTransport

    init(_ transport: any TPMTransport) { self.transport = transport }

    static func at(_ context: UnsafeMutableRawPointer?) -> TransportBox? {
        context.map { Unmanaged<TransportBox>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension CoreHandle {
    /// Opens a TPM over a transport.
    init(opening transport: any TPMTransport, _ options: TPM.Options) throws(TenonError) {
        let box = Unmanaged.passRetained(TransportBox(transport))
        var table = tenon_tpm_transport(
            size: MemoryLayout<tenon_tpm_transport>.size, context: box.toOpaque(), exchange: exchange, reopen: reopen,
            close: { context in context.map { Unmanaged<TransportBox>.fromOpaque($0).release() } },
            managed: transport.isManaged ? 1 : 0)
        do throws(TenonError) {
            try self.init(freedBy: tenon_tpm_free) { tpm in
                options.withCore { tenon_tpm_open_transport(&tpm, &table, $0) }
            }
        } catch {
            box.release()
            throw error
        }
    }
}

private func exchange(
    _ context: UnsafeMutableRawPointer?, _ answer: UnsafeMutablePointer<UInt8>?, _ size: Int,
    _ length: UnsafeMutablePointer<Int>?, _ command: UnsafePointer<UInt8>?, _ count: Int
) -> tenon_status {
    let failure = tenon_status(TENON_ERROR_TPM_TRANSPORT)
    guard let box = TransportBox.at(context), let answer, let length else { return failure }
    let command = UnsafeBufferPointer(start: command, count: count)
    guard let bytes = try? box.transport.exchange(command.span), bytes.count <= size else { return failure }
    _ = UnsafeMutableBufferPointer(start: answer, count: size).update(fromContentsOf: bytes)
    length.pointee = bytes.count
    return 0
}

private func reopen(_ context: UnsafeMutableRawPointer?) -> tenon_status {
    do throws(TenonError) {
        try TransportBox.at(context)?.transport.reopen()
        return 0
    } catch {
        // An error is never taken for success, whatever its code.
        return error.code.rawValue != 0 ? error.code.rawValue : tenon_status(TENON_ERROR_TPM_TRANSPORT)
    }
}
