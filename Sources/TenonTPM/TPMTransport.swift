// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
internal import Glibc
public import Tenon

/// A transport to a TPM: for tests, for other hardware, for a TPM on another machine.
///
/// A ``TPM`` calls its transport from one thread at a time, and releases it when it is closed.
public protocol TPMTransport: AnyObject, Sendable {
    /// Sends one command and returns its answer, of at most 4096 bytes. After any error the TPM calls ``reopen()``
    /// once.
    func exchange(_ command: Span<UInt8>) throws -> [UInt8]

    /// Starts over after a failed exchange, for example with a fresh connection. By default it throws.
    func reopen() throws(TenonError)

    /// Whether objects that are loaded over it are isolated and vanish with the connection, as behind a resource manager.
    /// By default it is false: then nothing stays loaded between two calls, and a signature takes 3 to 5 commands.
    var isManaged: Bool { get }
}

extension TPMTransport {
    /// False: the transport isolates nothing.
    public var isManaged: Bool { false }

    /// Throws: the transport has no other connection.
    public func reopen() throws(TenonError) { throw TenonError(status: tenon_status(TENON_ERROR_TPM_TRANSPORT)) }
}

/// The context that the core holds for a transport until it calls `close`.
private final class TransportBox: Sendable {
    let transport: any TPMTransport

    init(_ transport: any TPMTransport) { self.transport = transport }

    static func at(_ context: UnsafeMutableRawPointer?) -> TransportBox? {
        context.map { Unmanaged<TransportBox>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension CoreHandle {
    /// Opens a TPM over a transport.
    convenience init(opening transport: any TPMTransport, _ options: TPM.Options) throws(TenonError) {
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
        // An error must never look like success, whatever its code.
        return error.code.rawValue != 0 ? error.code.rawValue : tenon_status(TENON_ERROR_TPM_TRANSPORT)
    }
}

/// The transport to a TPM by its name, for a caller that counts commands.
package final class NamedTransport: TPMTransport {
    // The table belongs to the core, which does not lock it: a TPM calls from one thread at a time.
    private nonisolated(unsafe) let table: tenon_tpm_transport

    /// Connects to the TPM.
    ///
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

extension TenonError {
    /// The error with the node that could not be opened, and its group or the time that was waited.
    func opening(_ name: String, waiting: Duration = .seconds(2)) -> TenonError {
        let device = "device:"
        guard name.hasPrefix(device), [.tpmMissing, .tpmPermission, .tpmBusy].contains(code) else { return self }
        let node = String(name.dropFirst(device.count))
        let more =
            switch code {
            case .tpmPermission: groupName(of: node).map { "; its group is \($0)" } ?? ""
            case .tpmBusy: "; waited for \(waiting)"
            default: ""
            }
        return TenonError(code, message: "\(message) [\(node)\(more)]")
    }
}

extension TenonError {
    /// TPM 2.0 Part 2, 6.6.3: OBJECT_MEMORY, SESSION_MEMORY, MEMORY, SESSION_HANDLES, OBJECT_HANDLES.
    var lacksRoom: Bool { code.category == .transient && tpmCode.map { 0x902...0x906 ~= $0 & 0xffff } == true }

    /// The error, with the handles that fill the TPM.
    func naming(_ handles: [UInt32]) -> TenonError {
        guard !handles.isEmpty else { return self }
        let names = handles.map { "0x" + String($0, radix: 16) }.joined(separator: " ")
        let isOne = handles.count == 1
        return TenonError(
            code,
            message: "The TPM has no room: \(names) \(isOne ? "is" : "are") loaded by other programs.")
    }
}

/// The name of a file's group, or its number.
private func groupName(of path: String) -> String? {
    var file = stat()
    guard stat(path, &file) == 0 else { return nil }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        guard getgrgid_r(file.st_gid, &entry, buffer.baseAddress, buffer.count, &found) == 0, found != nil else {
            return String(file.st_gid)
        }
        return String(cString: entry.gr_name)
    }
}
