// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
internal import Synchronization
public import Tenon

/// A TPM 2.0 that is open.
///
/// It takes one command at a time, in the order in which it is asked, and waits for a TPM that is busy. Functions
/// without `async` block the caller's thread meanwhile; those with it wait on a thread that belongs to this value. In
/// asynchronous code the latter are chosen by themselves. Work whose task is cancelled before its turn ends with
/// ``TenonError/Code/cancelled``; a command that was begun goes on, and its result is given.
///
/// A TPM is closed when it and all its keys are gone.
public final class TPM: Sendable {
    let thread = WorkThread()
    let core: Lease<OpenTPM>

    /// Opens a TPM by name: `device:/dev/tpmrm0`, or `tabrmd:`; with ``Options/allowSimulator`` also `swtpm:` and
    /// `mssim:`. Sends no command. A node that another process holds, as one does that has `/dev/tpm0` open, is waited
    /// for until the deadline.
    ///
    /// - Throws: ``TenonError/Code/tcti`` for any other name, ``TenonError/Code/tpmMissing``,
    ///   ``TenonError/Code/tpmPermission``, ``TenonError/Code/tpmBusy``.
    public init(_ name: String, options: Options = Options()) throws(TenonError) {
        do {
            core = try Lease(OpenTPM(name, options), on: thread)
        } catch {
            throw error.opening(name, waiting: options.deadline)
        }
    }

    /// Opens a TPM over a transport. Sends no command.
    public init(_ transport: any TPMTransport, options: Options = Options()) throws(TenonError) {
        core = try Lease(OpenTPM(transport, options), on: thread)
    }

    private static let shared = Mutex<TPM?>(nil)

    /// The TPM of the system, `device:/dev/tpmrm0`: opened once in a process, and tried again after a failure.
    public static func `default`() throws(TenonError) -> TPM {
        try kept(in: shared) { () throws(TenonError) in try TPM("device:/dev/tpmrm0") }
    }

    /// What is kept, or else what is opened now. A fork's child opens its own.
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

    /// What the TPM says of itself.
    public func info() throws(TenonError) -> Info { try core.value.info() }

    /// What the TPM says of itself.
    public func info() async throws(TenonError) -> Info {
        try await thread.run { () throws(TenonError) in try self.core.value.info() }
    }

    /// The TPM's persistent handles, ascending.
    public func persistentHandles() throws(TenonError) -> [UInt32] { try core.value.persistentHandles() }

    /// The TPM's persistent handles, ascending.
    public func persistentHandles() async throws(TenonError) -> [UInt32] {
        try await thread.run { () throws(TenonError) in try self.core.value.persistentHandles() }
    }

    /// What is loaded in the TPM and not by this value: the handles of keys, ascending, and behind them those of
    /// sessions. On a TPM without a resource manager these are other programs', or what a program left that was killed;
    /// a resource manager shows nobody what is another's.
    public func loadedHandles() throws(TenonError) -> [UInt32] { try core.value.loadedHandles() }

    /// What is loaded in the TPM and not by this value.
    public func loadedHandles() async throws(TenonError) -> [UInt32] {
        try await thread.run { () throws(TenonError) in try self.core.value.loadedHandles() }
    }

    /// Does something with the TPM. Where it has no room, the error says what is there: a program that was killed does
    /// not take it away any more.
    func using<Value>(_ body: () throws(TenonError) -> Value) throws(TenonError) -> Value {
        do throws(TenonError) {
            return try body()
        } catch {
            throw error.lacksRoom ? error.naming((try? core.value.loadedHandles()) ?? []) : error
        }
    }

    /// The same on the TPM's own thread.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await thread.run { () throws(TenonError) in try self.using(body) }
    }

    /// Makes a key by a function of the core; or loads that of a file of ours.
    func key(
        _ options: PrivateKey.Options, of file: [UInt8]? = nil,
        _ make: (OpaquePointer, inout OpaquePointer?) -> tenon_status
    ) throws(TenonError) -> Lease<LoadedKey> {
        try using { () throws(TenonError) in
            try Lease(LoadedKey(options, of: file) { make(core.value.handle.pointer, &$0) }, on: thread)
        }
    }

    /// Makes an attestation key by a function of the core.
    func attestationKey(
        _ make: (OpaquePointer, inout OpaquePointer?) -> tenon_status
    ) throws(TenonError) -> Lease<LoadedAttestationKey> {
        try using { () throws(TenonError) in
            try Lease(LoadedAttestationKey { make(core.value.handle.pointer, &$0) }, on: thread)
        }
    }
}

/// Owns a `tenon_tpm`. Freeing it may send commands.
final class OpenTPM: Sendable {
    let handle: CoreHandle

    init(_ name: String, _ options: TPM.Options) throws(TenonError) {
        handle = try CoreHandle(freedBy: tenon_tpm_free) { tpm in
            name.utf8.span.withUnsafeBytes { name in
                let name = name.bindMemory(to: CChar.self)
                return options.withCore { tenon_tpm_open(&tpm, name.baseAddress, name.count, $0) }
            }
        }
    }

    init(_ transport: any TPMTransport, _ options: TPM.Options) throws(TenonError) {
        handle = try CoreHandle(opening: transport, options)
    }

    func info() throws(TenonError) -> TPM.Info {
        var info = tenon_tpm_info()
        try TenonError.check(tenon_tpm_read_info(handle.pointer, &info))
        return TPM.Info(core: info)
    }

    func endorsementCertificate(_ kind: EndorsementKey.Kind) throws(TenonError) -> [UInt8] {
        try bytes(capacity: TENON_CERTIFICATE_MAX) {
            tenon_tpm_ek_certificate(handle.pointer, kind.rawValue, $0.baseAddress, $0.count, &$1)
        }
    }

    func persistentHandles() throws(TenonError) -> [UInt32] { try handles(tenon_tpm_handles) }

    func loadedHandles() throws(TenonError) -> [UInt32] { try handles(tenon_tpm_loaded_handles) }

    private typealias Listing = (
        OpaquePointer?, UnsafeMutablePointer<UInt32>?, Int, UnsafeMutablePointer<Int>?
    ) -> tenon_status

    /// Asks again with more room when there were more handles than room.
    private func handles(_ list: Listing) throws(TenonError) -> [UInt32] {
        var room = 32
        while true {
            var count = 0
            var status: tenon_status = 0
            let handles = [UInt32](unsafeUninitializedCapacity: room) { buffer, initialized in
                status = list(handle.pointer, buffer.baseAddress, room, &count)
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
