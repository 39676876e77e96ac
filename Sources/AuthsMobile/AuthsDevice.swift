// SPDX-License-Identifier: Apache-2.0
internal import CTenonProcess
internal import Glibc
internal import Synchronization
internal import Tenon
internal import TenonAuths
public import TenonTPM

/// Where the identity of ``createIdentity(deviceName:)`` lives.
public enum AuthsDevice {
    private struct State {
        var tpm: TPM?
        var folder: String?
        var identity: DeviceIdentity?
    }

    private static let state = Mutex(State())

    /// Names the TPM and the state folder, before anything else is called.
    ///
    /// - Parameters:
    ///   - tpm: nil is `/dev/tpmrm0`.
    ///   - stateDirectory: nil is the folder that `TENON_STATE_DIR`, systemd or XDG names.
    public static func configure(tpm: TPM?, stateDirectory: String?) {
        state.withLock { $0 = State(tpm: tpm, folder: stateDirectory) }
    }

    static func identity() throws(TenonError) -> DeviceIdentity {
        try state.withLock { state throws(TenonError) in
            if let identity = state.identity { return identity }
            let folder = try StateFolder.path(asked: state.folder, isRoot: geteuid() == 0) { name in
                tenoni_process_variable(name).map { String(cString: $0) }
            }
            // The identity is of no service: its name is one that cannot be reached (RFC 6761, 6.4).
            let identity = try DeviceIdentity(
                Auths(baseURL: "https://device.invalid", appID: "auths-mobile"), keys: .tpm(state.tpm),
                transport: OwnLog(), stateDirectory: folder)
            state.identity = identity
            return identity
        }
    }
}

/// Takes the place of a service: an identifier exists as soon as its inception is signed and on disk, and the app tells
/// whom it likes.
private struct OwnLog: Transport {
    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        let moment = FlowClock.system.moment()
        let isInception = request.url.hasSuffix("/register")
        return HTTPResponse(
            status: isInception ? 200 : 404, headers: [("Content-Type", "application/json")],
            body: isInception ? Array(#"{"status":"registered"}"#.utf8) : [], sent: moment, received: moment)
    }
}

/// The threads of Swift's pool that wait here: one at least has to be left for what they wait for.
private let waiters = Atomic(0)

/// Runs asynchronous code and blocks the caller's thread until it ends.
func waiting<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(TenonError) -> Value
) throws(TenonError) -> Value {
    let isInTask = withUnsafeCurrentTask { $0 != nil }
    let count = waiters.add(isInTask ? 1 : 0, ordering: .relaxed).newValue
    defer { waiters.subtract(isInTask ? 1 : 0, ordering: .relaxed) }
    guard !isInTask || count < sysconf(Int32(_SC_NPROCESSORS_ONLN)) else {
        throw TenonError(
            .stateBusy, message: "This call blocks, and no thread is left for its work.",
            mend: "Call it outside of asynchronous code.")
    }
    let (semaphore, result) = (Semaphore(), Outcome<Value>())
    Task.detached {
        do throws(TenonError) { result.set(.success(try await body())) } catch { result.set(.failure(error)) }
        semaphore.signal()
    }
    semaphore.wait()
    return try result.value.get()
}

private final class Outcome<Value: Sendable>: Sendable {
    private let kept = Mutex<Result<Value, TenonError>>(.failure(.cancelled))

    var value: Result<Value, TenonError> { kept.withLock { $0 } }

    func set(_ value: Result<Value, TenonError>) { kept.withLock { $0 = value } }
}
