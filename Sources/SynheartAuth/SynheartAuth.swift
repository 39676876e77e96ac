// SPDX-License-Identifier: Apache-2.0
public import FoundationEssentials
internal import Synchronization
package import Tenon
internal import TenonSynheart

/// The API of Synheart's iOS SDK, over Tenon: an app that uses the SDK is ported by a rebuild.
///
/// ```swift
/// SynheartAuth.shared.configure(baseUrl: "https://api.synheart.ai/auth")
/// let result = try await SynheartAuth.shared.registerDevice(appId: "app_1")
/// let headers = try SynheartAuth.shared.signRequest(appId: "app_1", method: "POST", path: "/v1/hsi", bodyBytes: body)
/// ```
///
/// `Tenon.DeviceIdentity` offers more than this API can express.
public final class SynheartAuth: Sendable {
    /// The instance of this process.
    public static let shared = SynheartAuth()

    /// Makes the identity of an app.
    package typealias Maker = @Sendable (_ baseUrl: String, _ appId: String) throws(TenonError) -> DeviceIdentity

    private struct State {
        var make: Maker
        var baseUrl: String?
        var identities: [String: DeviceIdentity] = [:]
        /// The number of configurations so far. An identity of an earlier configuration is never kept for a later one.
        var number = 0
    }

    private let state: Mutex<State>
    /// The apps whose identity is being changed. A new configuration does not end that.
    private let busy = Mutex<Set<String>>([])

    /// An instance that makes its identities with the given function.
    package init(_ make: @escaping Maker = Platform().identity) { state = Mutex(State(make: make)) }

    /// Configures the service's URL, as `https://host/path`; any other text leaves nothing configured. Keys live in
    /// `/dev/tpmrm0`, and the state in the folder that `TENON_STATE_DIR`, systemd or XDG names.
    ///
    /// For a service on this machine (`localhost`, 127.0.0.0/8, ::1), such as `tenon-authority` with its defaults, the
    /// dialect is `tenon`, and the service is shown the certificate of the TPM's endorsement key. For any other service
    /// the dialect is `docs`, and nothing is shown: registration then fails with
    /// ``SynheartAuthError/attestationUnavailable`` until
    /// ``configure(baseUrl:tpm:stateDirectory:dialect:disclosure:attestationService:)`` gives more. A registered device
    /// keeps its dialect. Overrides that were configured before stay.
    public func configure(baseUrl: String) { configure(baseUrl, nil) }

    /// Configures the service's URL, and how identities are made; nil keeps that.
    package func configure(_ baseUrl: String, _ make: Maker?) {
        let isURL = (try? Synheart(baseURL: baseUrl, appID: "-")) != nil
        state.withLock { state in
            state = State(make: make ?? state.make, baseUrl: isURL ? baseUrl : nil, number: state.number + 1)
        }
    }

    /// Whether the device is registered for an app and may sign. It is also false when the state cannot be read.
    public func isRegistered(appId: String) -> Bool { (try? identity(appId))?.isRegistered ?? false }

    /// Registers the device for an app, or finds that it is registered.
    ///
    /// - Throws: ``SynheartAuthError/notConfigured``; ``SynheartAuthError/keychainError(_:)`` when the state cannot be
    ///   read, and nothing was done; ``SynheartAuthError/registrationInProgress`` while another call of this process
    ///   registers the app or changes its key, or when another process held the identity for too long. The result holds
    ///   any other error.
    public func registerDevice(appId: String) async throws -> RegistrationResult {
        let identity = try identity(appId)
        guard begin(appId) else {
            // The other call may be a rotation, during which the device stays registered.
            guard identity.isRegistered else { throw SynheartAuthError.registrationInProgress }
            return RegistrationResult(status: .alreadyRegistered, deviceId: identity.deviceID)
        }
        defer { end(appId) }
        do throws(TenonError) {
            let registration = try await identity.register()
            let isNew = registration.status == .registered
            return RegistrationResult(
                status: isNew ? .success : .alreadyRegistered, deviceId: registration.deviceID)
        } catch {
            return RegistrationResult(status: .failed, error: try SynheartAuthError(error).unlessThrown())
        }
    }

    /// Signs a request, and blocks until the TPM has signed.
    ///
    /// - Parameters:
    ///   - appId: the app.
    ///   - method: the HTTP method.
    ///   - path: the path as the service mounts it, without a query.
    ///   - bodyBytes: exactly the bytes that are sent.
    public func signRequest(
        appId: String, method: String, path: String, bodyBytes: Data? = nil
    ) throws -> SignedHeaders {
        let identity = try identity(appId)
        do throws(TenonError) {
            let body = bodyBytes.map { Array($0) } ?? []
            return SignedHeaders(try identity.sign(method.uppercased(), path: path, body: body))
        } catch {
            throw SynheartAuthError(error)
        }
    }

    /// The device's id at the service; nil also when the state cannot be read.
    public func getDeviceId(appId: String) -> String? { (try? identity(appId))?.deviceID }

    /// Gives the device a new key. The old key signs until the service has accepted the new one.
    ///
    /// - Throws: as ``registerDevice(appId:)``, and ``SynheartAuthError/notRegistered``.
    public func rotateKey(appId: String) async throws -> RotationResult {
        try await rotation(appId) { identity throws(TenonError) in try await identity.rotate() }
    }

    /// Gives the device a new key at once, for when somebody else may be able to use the current one. The report is kept
    /// until the key was changed.
    ///
    /// - Throws: as ``rotateKey(appId:)``.
    public func reportCompromise(appId: String) async throws -> RotationResult {
        try await rotation(appId) { identity throws(TenonError) in try await identity.reportCompromise() }
    }

    private func rotation(
        _ appId: String, _ change: (DeviceIdentity) async throws(TenonError) -> Rotation
    ) async throws -> RotationResult {
        let identity = try identity(appId)
        guard begin(appId) else { throw SynheartAuthError.registrationInProgress }
        defer { end(appId) }
        do throws(TenonError) {
            _ = try await change(identity)
            return RotationResult(status: .success)
        } catch {
            return RotationResult(status: .failed, error: try SynheartAuthError(error).unlessThrown())
        }
    }

    /// Reserves the identity of the app for a change; false when another call of this process is changing it.
    private func begin(_ appId: String) -> Bool { busy.withLock { $0.insert(appId).inserted } }

    private func end(_ appId: String) { busy.withLock { _ = $0.remove(appId) } }

    /// Forgets the device's identity for an app. It waits at most 5 s for a running operation.
    public func resetDeviceIdentity(appId: String) {
        try? identity(appId).reset(waitingAtMost: .seconds(5))
    }

    /// Has the identities of this process ask their auth service for the time. Only that service is believed, so
    /// `serverTimestamp` is ignored; until it has answered, requests are signed with the known clock.
    public func correctClockSkew(serverTimestamp: TimeInterval) {
        for identity in state.withLock({ Array($0.identities.values) }) {
            Task { try? await identity.resolve() }
        }
    }

    private func identity(_ appId: String) throws(SynheartAuthError) -> DeviceIdentity {
        let (made, make, baseUrl, number) = state.withLock { ($0.identities[appId], $0.make, $0.baseUrl, $0.number) }
        if let made { return made }
        guard let baseUrl else { throw .notConfigured }
        let identity: DeviceIdentity
        do throws(TenonError) {
            identity = try make(baseUrl, appId)
        } catch {
            throw SynheartAuthError(error)
        }
        return state.withLock { state in
            guard state.number == number else { return identity }
            if let made = state.identities[appId] { return made }
            state.identities[appId] = identity
            return identity
        }
    }
}
