// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
internal import Synchronization
public import Tenon

/// An open TPM 2.0.
///
/// It runs one command at a time, in the order of the calls, and waits for a TPM that is busy. Functions without
/// `async` block the caller's thread meanwhile; those with `async` wait on a thread that belongs to this value, and
/// asynchronous code gets them without asking. Work whose task is cancelled before its turn ends with
/// ``TenonError/Code/cancelled``; a command that was begun completes, and its result is returned.
///
/// A TPM is closed when it and all its keys are gone.
public final class TPM: Sendable {
    let thread = WorkThread()
    private let handle: Lease<CoreHandle>

    /// Opens a TPM by name: `device:/dev/tpmrm0`, or `tabrmd:`; with ``Options/allowSimulator`` also `swtpm:` and
    /// `mssim:`. Sends no command. If another process holds the node, as with an open `/dev/tpm0`, this waits for it
    /// until the deadline.
    ///
    /// - Throws: ``TenonError/Code/tcti`` for any other name, ``TenonError/Code/tpmMissing``,
    ///   ``TenonError/Code/tpmPermission``, ``TenonError/Code/tpmBusy``.
    public init(_ name: String, options: Options = Options()) throws(TenonError) {
        if let trace = options.trace {
            let named = try NamedTransport(name, allowSimulator: options.allowSimulator)
            handle = try Lease(CoreHandle(opening: TracedTransport(named, trace), options), on: thread)
            return
        }
        do throws(TenonError) {
            let handle = try CoreHandle(freedBy: tenon_tpm_free) { tpm in
                name.utf8.span.withUnsafeBytes { name in
                    let name = name.bindMemory(to: CChar.self)
                    return options.withCore { tenon_tpm_open(&tpm, name.baseAddress, name.count, $0) }
                }
            }
            self.handle = Lease(handle, on: thread)
        } catch {
            throw error.opening(name, waiting: options.deadline)
        }
    }

    /// Opens a TPM over a transport. Sends no command.
    public init(_ transport: any TPMTransport, options: Options = Options()) throws(TenonError) {
        let traced = options.trace.map { TracedTransport(transport, $0) }
        handle = try Lease(CoreHandle(opening: traced ?? transport, options), on: thread)
    }

    private static let shared = Mutex<TPM?>(nil)

    /// The TPM of the system, `device:/dev/tpmrm0`: opened once in a process, and tried again after a failure.
    public static func `default`() throws(TenonError) -> TPM {
        try kept(in: shared) { () throws(TenonError) in try TPM("device:/dev/tpmrm0") }
    }

    static func given(_ tpm: TPM?) throws(TenonError) -> TPM {
        if let tpm { tpm } else { try TPM.default() }
    }

    /// The kept TPM, or one that is opened now. A fork's child opens its own.
    static func kept(
        in kept: borrowing Mutex<TPM?>, _ open: () throws(TenonError) -> TPM
    ) throws(TenonError) -> TPM {
        try kept.withLock { kept throws(TenonError) in
            if let tpm = kept, tpm.thread.isOurs { return tpm }
            let tpm = try open()
            kept = tpm
            return tpm
        }
    }

    /// The handle, for calls of the core while this value is held.
    var pointer: OpaquePointer { handle.value.pointer }

    /// Runs a body with the TPM. If the TPM has no room, the error names the loaded objects, because a killed program
    /// leaves its objects behind.
    func using<Value>(_ body: () throws(TenonError) -> Value) throws(TenonError) -> Value {
        do throws(TenonError) {
            return try body()
        } catch {
            throw error.lacksRoom ? error.naming((try? handles(tenon_tpm_loaded_handles)) ?? []) : error
        }
    }

    /// The same on the TPM's own thread.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await thread.run { () throws(TenonError) in try self.using(body) }
    }
}

extension TPM {
    /// What the TPM reports about itself.
    public func info() throws(TenonError) -> Info { try readInfo() }

    /// What the TPM reports about itself.
    public func info() async throws(TenonError) -> Info {
        try await thread.run { () throws(TenonError) in try self.readInfo() }
    }

    /// The TPM's persistent handles, ascending.
    public func persistentHandles() throws(TenonError) -> [UInt32] { try handles(tenon_tpm_handles) }

    /// The TPM's persistent handles, ascending.
    public func persistentHandles() async throws(TenonError) -> [UInt32] {
        try await thread.run { () throws(TenonError) in try self.handles(tenon_tpm_handles) }
    }

    /// The handles of objects in the TPM that this value did not load: keys, ascending, and then sessions. On a TPM
    /// without a resource manager they belong to other programs, or were left by a program that was killed; a resource
    /// manager hides the objects of others.
    public func loadedHandles() throws(TenonError) -> [UInt32] { try handles(tenon_tpm_loaded_handles) }

    /// The handles of objects in the TPM that this value did not load.
    public func loadedHandles() async throws(TenonError) -> [UInt32] {
        try await thread.run { () throws(TenonError) in try self.handles(tenon_tpm_loaded_handles) }
    }

    /// The certificate (DER) of the endorsement key of this kind, from the TPM's memory. It identifies this TPM for
    /// ever: show it only to a service that needs it.
    ///
    /// - Throws: ``TenonError/Code/ekMissing`` when there is none.
    public func endorsementCertificate(_ kind: EndorsementKey.Kind) throws(TenonError) -> [UInt8] {
        try readCertificate(kind)
    }

    /// The certificate (DER) of the endorsement key of this kind, from the TPM's memory. It identifies this TPM for
    /// ever: show it only to a service that needs it.
    ///
    /// - Throws: ``TenonError/Code/ekMissing`` when there is none.
    public func endorsementCertificate(_ kind: EndorsementKey.Kind) async throws(TenonError) -> [UInt8] {
        try await thread.run { () throws(TenonError) in try self.readCertificate(kind) }
    }

    /// The certificate of the smallest endorsement key that has one, as ``endorsementCertificate(_:)``.
    func anyEndorsementCertificate() throws(TenonError) -> [UInt8] { try readCertificate(nil) }

    /// The same on the TPM's own thread.
    func anyEndorsementCertificate() async throws(TenonError) -> [UInt8] {
        try await thread.run { () throws(TenonError) in try self.readCertificate(nil) }
    }

    /// Another number whenever the TPM may be another one than before.
    var connection: UInt32 { tenon_tpm_connection(pointer) }

    /// Whether what is loaded stays loaded between two calls.
    var isManaged: Bool { tenon_tpm_is_managed(pointer) == 1 }

    private func readInfo() throws(TenonError) -> Info {
        var info = tenon_tpm_info()
        try TenonError.check(tenon_tpm_read_info(pointer, &info))
        return Info(core: info)
    }

    private func readCertificate(_ kind: EndorsementKey.Kind?) throws(TenonError) -> [UInt8] {
        try bytes(capacity: TENON_CERTIFICATE_MAX) {
            tenon_tpm_ek_certificate(pointer, kind?.rawValue ?? UInt32(TENON_EK_ANY), $0.baseAddress, $0.count, &$1)
        }
    }

    private typealias Listing = (
        OpaquePointer?, UnsafeMutablePointer<UInt32>?, Int, UnsafeMutablePointer<Int>?
    ) -> tenon_status

    /// Asks again with more room when there are more handles than room.
    private func handles(_ list: Listing) throws(TenonError) -> [UInt32] {
        var room = 32
        while true {
            var count = 0
            var status: tenon_status = 0
            let handles = [UInt32](unsafeUninitializedCapacity: room) { buffer, initialized in
                status = list(pointer, buffer.baseAddress, room, &count)
                initialized = status == 0 ? count : 0
            }
            guard status == TENON_ERROR_BUFFER_TOO_SMALL else {
                try TenonError.check(status)
                return handles
            }
            room = count
        }
    }
}

extension TPM {
    /// Tells when a TPM is closed.
    ///
    /// On a TPM without a resource manager, a call flushes what it loaded when it is over. A program that may be ended
    /// in the middle of a call waits for that before it exits. A program that has the results of all its calls leaves
    /// nothing behind, and need not wait.
    ///
    /// ```swift
    /// let closing = tpm.closing
    /// // ... and when nobody has the TPM, its keys and the identities over them any more:
    /// await closing.wait()
    /// ```
    public struct Closing: Sendable {
        fileprivate let queue: WorkQueue

        /// Returns when the TPM is closed and holds nothing of its keys, or after the limit.
        public func wait(atMost limit: Duration = .seconds(3)) async {
            let (ends, end) = AsyncStream.makeStream(of: Never.self)
            queue.whenEnded { end.finish() }
            let timer = Task {
                try await Sleep.lasting(limit)
                end.finish()
            }
            for await _ in ends {}
            timer.cancel()
        }
    }

    /// Tells when this TPM is closed.
    public var closing: Closing { Closing(queue: thread.queue) }
}
