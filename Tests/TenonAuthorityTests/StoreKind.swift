// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import TenonAuthority
import TestFolders
import Testing

/// The kinds of stores that the suite of store tests runs on.
enum StoreKind: CaseIterable, CustomTestStringConvertible {
    case sqlite
    /// Redis and PostgreSQL, if they run: see Tests/Scripts/stores.sh.
    case shared

    static var allCases: [StoreKind] { SharedServers.folder == nil ? [.sqlite] : [.sqlite, .shared] }

    var testDescription: String { "\(self)" }

    /// Runs a test on empty stores with a clock that the test sets.
    func withStores(
        maxChallenges: Int = 10_000, replayLimits: MemoryReplayStore.Limits = .init(),
        services: [HostedService] = [], _ body: (TestStores) async throws -> Void
    ) async throws {
        let clock = FakeClock()
        switch self {
        case .sqlite:
            let folder = try TestFolder()
            var options = SQLiteStore.Options(maxChallenges: maxChallenges)
            options.services = services
            let store = try SQLiteStore(in: AuthorityFolder(folder.path), clock: clock, options: options)
            let replays = try await MemoryReplayStore(clock: store.clock, horizon: store, limits: replayLimits)
            let answers = MemoryAnswerStore(clock: store.clock, limit: 64)
            try await body(
                TestStores(challenges: store, devices: store, replays: replays, answers: answers, clock: clock))
            await store.close()
        case .shared:
            let instance = try SharedInstance(
                clock: clock, maxChallenges: maxChallenges, requestsPerDevice: replayLimits.perDevice,
                rootsPerDevice: replayLimits.rootsPerDevice, services: services)
            try await body(instance.stores)
            await instance.close()
        }
    }
}

struct TestStores: Given {
    @TaskLocal static var held: TestStores?
    static var given: TaskLocal<TestStores?> { $held }

    static func on(_ kind: StoreKind, _ body: (TestStores) async throws -> Void) async throws {
        try await kind.withStores(body)
    }

    let challenges: any ChallengeStore
    let devices: any DeviceStore
    let replays: any ReplayStore
    let answers: any AnswerStore
    let clock: FakeClock

    func put(_ entry: ChallengeEntry, _ text: String) async throws {
        try await challenges.put(entry, under: Digest(hashing: Array(text.utf8)))
    }

    func take(_ text: String, _ purpose: ChallengeEntry.Purpose = .registration) async throws -> ChallengeEntry? {
        try await challenges.take(purpose, under: Digest(hashing: Array(text.utf8)))
    }

    func remember(_ use: SignedUse) async throws -> SignedUse.Outcome { try await replays.remember(use) }

    func register(_ registration: DeviceRegistration) async throws(TenonError) -> DeviceRegistration.Outcome {
        try await devices.register(registration, at: clock.now())
    }

    func rotate(_ rotation: KeyRotation) async throws(TenonError) -> KeyRotation.Outcome {
        try await devices.rotate(rotation, at: clock.now())
    }

    func revoke(_ revocation: Revocation) async throws(TenonError) -> Revocation.Outcome {
        try await devices.revoke(revocation, reason: "a test", at: clock.now())
    }

    /// Registers a new device.
    func registered(_ sample: Sample) async throws -> Device { try await registered(sample.registration()) }

    func registered(_ registration: DeviceRegistration) async throws -> Device {
        let outcome = try await register(registration)
        guard case .registered(let device) = outcome else { throw Surprise("\(outcome)") }
        return device
    }

    /// Registers a known key again.
    func known(_ registration: DeviceRegistration) async throws -> Device {
        let outcome = try await register(registration)
        guard case .known(let device) = outcome else { throw Surprise("\(outcome)") }
        return device
    }
}

struct Surprise: Error {
    let what: String

    init(_ what: String) { self.what = what }
}

/// An empty folder, which is removed with this value.
final class TestFolder: Sendable {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    var path: String { folder.path }

    var names: [String] { fileNames(in: path) }

    func read(_ name: String) throws -> [UInt8] { try readFile("\(path)/\(name)") }

    func write(_ bytes: [UInt8], to name: String) throws { try writeFile(bytes, to: "\(path)/\(name)") }
}

/// A device of a test, with a key of its own.
struct Sample: Sendable {
    let number: Int
    let key: PublicKey

    private static let count = Atomic(0)

    init() throws {
        number = Sample.count.add(1, ordering: .relaxed).newValue
        key = try SoftwareKey().publicKey
    }

    static func digest(_ text: String) throws -> Digest { try Digest(hashing: Array(text.utf8)) }

    static func attestation(ek: String) throws -> Device.Attestation {
        Device.Attestation(ek: try digest(ek), akName: Array("name of \(ek)".utf8), akPublic: [0, 1, 2])
    }

    func device(
        app: String = "demo", level: Device.Level = .unattested, attestation: Device.Attestation? = nil
    ) throws -> Device {
        Device(
            id: "device-\(number)", app: app, level: level, publicKey: key, thumbprint: try key.thumbprint,
            attestation: attestation, signatureVersions: [1, 2], platform: "linux", localID: "local-\(number)",
            registeredAt: 1_800_000_000)
    }

    /// - Parameter ek: attests the device, with that EK.
    func registration(
        app: String = "demo", ek: String? = nil, challenge: String? = nil, id: String? = nil,
        certificate: DeviceRegistration.Certificate? = nil, limit: Int? = nil
    ) throws -> DeviceRegistration {
        var device = try device(
            app: app, level: ek == nil ? .unattested : .attested, attestation: ek.map(Sample.attestation))
        if let id { device.id = id }
        // The same numbers in a child process.
        let fresh = "challenge \(getpid()) \(number) \(Sample.count.add(1, ordering: .relaxed).newValue)"
        return DeviceRegistration(
            device: device, challenge: try Sample.digest(challenge ?? fresh), certificate: certificate,
            maxDevicesPerEK: limit)
    }

    func rotation(
        of device: Device, by signer: PublicKey? = nil, app: String? = nil,
        vouching: KeyRotation.Vouching = .proof
    ) throws -> KeyRotation {
        KeyRotation(
            app: app ?? device.app, deviceID: device.id, signer: signer ?? device.publicKey, newKey: key,
            newThumbprint: try key.thumbprint, vouching: vouching)
    }
}

/// The results of bodies that all run at once, each in a task of its own.
func atOnce<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for index in 0..<count { group.addTask { try await body(index) } }
        var values: [Value] = []
        for try await value in group { values.append(value) }
        return values
    }
}

func errorThrown<Value>(_ body: () async throws -> Value) async -> TenonError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? TenonError
    }
}

/// Expects an error whose sentence contains these words.
func expectError<Value>(
    _ words: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async {
    let message = await errorThrown(body)?.message ?? "no error"
    #expect(message.contains(words), sourceLocation: sourceLocation)
}
