// SPDX-License-Identifier: Apache-2.0
public import FoundationEssentials
internal import Synchronization
package import Tenon
internal import TenonSynheart

/// The API of Synheart's iOS SDK, over Tenon: an app that uses it is ported by building it here.
///
/// ```swift
/// SynheartAuth.shared.configure(baseUrl: "https://api.synheart.ai/auth")
/// let result = try await SynheartAuth.shared.registerDevice(appId: "app_1")
/// let headers = try SynheartAuth.shared.signRequest(appId: "app_1", method: "POST", path: "/v1/hsi", bodyBytes: body)
/// ```
///
/// What it cannot say, `Tenon.DeviceIdentity` does.
public final class SynheartAuth: Sendable {
    /// The one of this process.
    public static let shared = SynheartAuth()

    package typealias Maker = @Sendable (_ baseUrl: String, _ appId: String) throws(TenonError) -> DeviceIdentity

    private struct State {
        var make: Maker
        var baseUrl: String?
        var identities: [String: DeviceIdentity] = [:]
        /// How often it was configured: an identity of an earlier time is never kept for a later one.
        var number = 0
    }

    private let state: Mutex<State>
    /// The apps whose identity is being changed; no new configuration ends that.
    private let busy = Mutex<Set<String>>([])

    /// - Parameter make: makes the identity of an app.
    package init(_ make: @escaping Maker = Platform().identity) { state = Mutex(State(make: make)) }

    /// Says where the service is, as `https://host/path`; with anything else nothing is configured. The keys are those
    /// of `/dev/tpmrm0`, and the state lies where `TENON_STATE_DIR`, systemd or XDG says.
    ///
    /// A service whose host is this machine (`localhost`, 127.0.0.0/8, ::1) is spoken to in the dialect `tenon`, and is
    /// shown the certificate of the TPM's endorsement key: so does `tenon-authority` as it starts by itself. Any other is
    /// spoken to in `docs` and is shown nothing, which ends in ``SynheartAuthError/attestationUnavailable`` until
    /// ``configure(baseUrl:tpm:stateDirectory:dialect:disclosure:attestationService:)`` says more. A device that is
    /// registered keeps its dialect. What that other one said before stays.
    public func configure(baseUrl: String) { configure(baseUrl, nil) }

    package func configure(_ baseUrl: String, _ make: Maker?) {
        let isURL = (try? Synheart(baseURL: baseUrl, appID: "-")) != nil
        state.withLock { state in
            state = State(make: make ?? state.make, baseUrl: isURL ? baseUrl : nil, number: state.number + 1)
        }
    }

    /// Whether the device is registered for an app, and may sign; false also when its state cannot be read.
    public func isRegistered(appId: String) -> Bool { (try? identity(appId))?.isRegistered ?? false }

    /// Registers the device for an app, or finds that it is.
    ///
    /// - Throws: ``SynheartAuthError/notConfigured``; ``SynheartAuthError/keychainError(_:)`` when the state cannot be
    ///   read, and nothing was done; ``SynheartAuthError/registrationInProgress`` while another call of this process
    ///   registers the app or changes its key, and when another process had it for too long. Whatever else goes wrong is
    ///   in the result.
    public func registerDevice(appId: String) async throws -> RegistrationResult {
        let identity = try identity(appId)
        guard begin(appId) else {
            // Its key may be changing, and yet it is registered.
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

    /// Signs a request, and blocks while the TPM does.
    ///
    /// - Parameters:
    ///   - path: as the service mounts it, without a query.
    ///   - bodyBytes: the very bytes that are sent.
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

    /// What the service calls the device; nil also when the state cannot be read.
    public func getDeviceId(appId: String) -> String? { (try? identity(appId))?.deviceID }

    /// Gives the device a new key; until the service has it the old one signs.
    ///
    /// - Throws: as ``registerDevice(appId:)``, and ``SynheartAuthError/notRegistered``.
    public func rotateKey(appId: String) async throws -> RotationResult {
        try await rotation(appId) { identity throws(TenonError) in try await identity.rotate() }
    }

    /// Gives the device a new key at once, as its service demands when there is a sign that somebody else may use the one
    /// that it has. The report is kept until the key was changed.
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

    /// Whether nobody else of this process changes the identity of the app.
    private func begin(_ appId: String) -> Bool { busy.withLock { $0.insert(appId).inserted } }

    private func end(_ appId: String) { busy.withLock { _ = $0.remove(appId) } }

    /// Forgets the identity of the device for an app. It waits at most 5 s for those who are at work on it.
    public func resetDeviceIdentity(appId: String) {
        try? identity(appId).reset(waitingAtMost: .seconds(5))
    }

    /// Has the identities that this process uses ask their auth service what the time is. Nobody else is believed
    /// about it, so of what an application was told nothing is taken; requests are signed by the clock as it is known
    /// until the service has answered.
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
