// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc
import Synchronization
import Tenon
import TenonTPM
import Testing

/// A test's software TPM, behind a transport that counts and that fails on demand.
final class SoftwareTPM: Sendable {
    // The functions of CTestSupport may be called by any thread.
    nonisolated(unsafe) let device: OpaquePointer
    nonisolated(unsafe) let wire: OpaquePointer
    private let open = Mutex(0)
    private let closings = Mutex<[TPM.Closing]>([])

    /// A factory-fresh TPM, or one with the state of a folder; a bare one has no resource manager.
    init(state: String? = nil, isBare: Bool = false) throws {
        device = try #require(support_swtpm_start(state))
        wire = support_transport_new(device)
        support_transport_bare(wire, isBare)
    }

    deinit {
        support_transport_free(wire)
        support_swtpm_stop(device)
    }

    /// Opens it once more.
    func tpm(_ options: TPM.Options = TPM.Options()) throws(TenonError) -> TPM {
        let tpm = try TPM(SoftwareTPMTransport(self), options: options)
        closings.withLock { $0.append(tpm.closing) }
        return tpm
    }

    fileprivate func opened() { open.withLock { $0 += 1 } }

    fileprivate func closed() { open.withLock { $0 -= 1 } }

    var isOpen: Bool { open.withLock { $0 != 0 } }

    /// Waits until each TPM that was opened is closed.
    func waitUntilClosed() async {
        for closing in closings.withLock({ $0 }) { await closing.wait(atMost: .seconds(30)) }
        #expect(!isOpen)
    }

    /// Commands since the last reset.
    func commands(_ code: UInt32 = SUPPORT_ANY) -> UInt32 { support_transport_count(wire, code) }

    /// The number of leaked objects and sessions.
    var leftovers: UInt32 { support_transient_count(device) + support_session_count(device) }
}

/// The transport, through the public protocol.
final class SoftwareTPMTransport: TPMTransport {
    private let tpm: SoftwareTPM
    // The table and what it points to are never written.
    private nonisolated(unsafe) let table: tenon_tpm_transport

    init(_ tpm: SoftwareTPM) {
        self.tpm = tpm
        table = support_transport_table(tpm.wire)
        tpm.opened()
    }

    deinit { tpm.closed() }

    var isManaged: Bool { table.managed == 1 }

    func exchange(_ command: Span<UInt8>) throws -> [UInt8] {
        var status: tenon_status = 0
        let answer = [UInt8](unsafeUninitializedCapacity: 4096) { answer, length in
            status = command.withUnsafeBufferPointer {
                table.exchange(table.context, answer.baseAddress, answer.count, &length, $0.baseAddress, $0.count)
            }
        }
        guard status == 0 else { throw Failure(status: status) }
        return answer
    }

    func reopen() throws(TenonError) {
        let status = table.reopen(table.context)
        guard status == 0 else { throw TenonError(TenonError.Code(rawValue: status), message: "") }
    }

    struct Failure: Error { let status: tenon_status }
}

/// Runs a blocking test on a TPM of its own, and checks that nothing is left in it.
func withTPM(
    _ options: TPM.Options = TPM.Options(), state: String? = nil, _ body: (SoftwareTPM, TPM) throws -> Void
) throws {
    let software = try SoftwareTPM(state: state)
    try body(software, software.tpm(options))
    #expect(!software.isOpen)
    #expect(software.leftovers == 0)
}

/// Runs an asynchronous test on a TPM of its own, and checks that nothing is left in it.
func withTPM(
    _ options: TPM.Options = TPM.Options(), state: String? = nil, isBare: Bool = false,
    _ body: (SoftwareTPM, TPM) async throws -> Void
) async throws {
    let software = try SoftwareTPM(state: state, isBare: isBare)
    try await body(software, software.tpm(options))
    await software.waitUntilClosed()
    #expect(software.leftovers == 0)
}

/// The error that the body throws; nil when it throws nothing.
func errorThrown<Value>(_ body: () throws -> Value) -> TenonError? {
    known(Result(catching: body))
}

func errorAwaited<Value>(_ body: () async throws -> Value) async -> TenonError? {
    do { return known(.success(try await body())) } catch { return known(Result<Value, any Error>.failure(error)) }
}

private func known<Value>(_ result: Result<Value, any Error>) -> TenonError? {
    guard case .failure(let error) = result else { return nil }
    if !(error is TenonError) { Issue.record(error) }
    return error as? TenonError
}

/// Counts the actions of many tasks.
final class Counter: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func increase() { value.add(1, ordering: .relaxed) }
}

enum Sample {
    static let data = Array("a message".utf8)
    static let clientData = Array(#"{"challenge":"x"}"#.utf8)
    static let event = Array(#"{"v":"KERI10JSON00012f_","t":"icp"}"#.utf8)
    static let secret = Array("a secret of 20 bytes".utf8)
}

/// Checks that a key signs.
///
/// - Parameter made: the public key; its own by default.
func expectSigns(
    _ key: TPM.PrivateKey, as made: PublicKey? = nil, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let signature = try key.blockingSignature(for: .event(Sample.event))
    let isGood = try (made ?? key.publicKey).isValidSignature(signature, for: Digest(hashing: Sample.event))
    #expect(isGood, sourceLocation: sourceLocation)
}
