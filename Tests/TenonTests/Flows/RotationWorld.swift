// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Synchronization
import Tenon
import Testing

/// The setting of a search: a service, its clock, and the device's design.
struct RotationManner: Sendable, CustomStringConvertible {
    /// The behaviour of a design.
    enum Rule: Sendable {
        /// The offered key stays and is offered again; it signs when the other one was refused.
        case keeps
        /// The offered key is dropped when the service proves to hold the old one, as the mobile SDKs do.
        case drops
        /// The offered key signs only when the service confirmed it, whatever the service says about the old one.
        case holdsOn
        /// The time from which it signs is compared with this device's clock.
        case comparesClocks
    }

    var settlements: [Settlement]
    /// The answer to a key that asks to be rotated to itself, if the service refuses that, and whether it comes before
    /// the check of the signature.
    var selfRotation: Int?
    var isUnseen = false
    /// The seconds by which the service's clock is ahead.
    var offset: Int64 = 0
    var rule = Rule.keeps
    /// Whether a message may have every fate; otherwise only those in which the designs differ.
    var isFull = false

    var description: String {
        "settled by \(settlements.map { "\($0)" }.joined(separator: ", "))"
            + (selfRotation.map { ", self-rotation answered with \($0)\(isUnseen ? " unseen" : "")" } ?? "")
            + (offset == 0 ? "" : ", clock \(offset) s ahead")
    }
}

/// A device, its disk, its service and the network between, at rest: nothing runs, and some requests are on their way.
struct RotationWorld {
    var files: [(name: String, bytes: [UInt8])] = []
    /// The record after the next process has recovered it.
    var record: IdentityRecord?
    var service: ScriptedService.State
    /// Keys that a weaker design dropped.
    var lost: Set<[UInt8]> = []
}

/// Runs a world in each chosen way, and checks the result.
final class RotationStage {
    /// The tries of a message in one call; the search covers the next call anyway. TENON_TEST_TRIES raises it.
    private static let tries = getenv("TENON_TEST_TRIES").flatMap { Int(String(cString: $0)) } ?? 1

    private let folder: TemporaryFolder
    private let profile: PlainProfile
    private let vault = ScriptedVault(.tokens)
    private let name: IdentityName
    private let manner: RotationManner
    /// The number of each key so far.
    private var generations: [String: Int] = [:]
    /// For each signature, the key that signed and the key that it offered.
    private var messages: [String: String] = [:]

    init(_ manner: RotationManner) throws {
        var profile = PlainProfile()
        profile.declaration.settlements = manner.settlements
        self.profile = profile
        self.manner = manner
        folder = try TemporaryFolder()
        name = try IdentityName(profile: "plain", baseURL: "https://service.example", appID: "app")
    }

    func first() async throws -> RotationWorld {
        var world = RotationWorld(service: ScriptedService.State())
        world.service.takesTokens = true
        world.service.refusesSelfRotation = manner.selfRotation.map { ($0, nil) }
        world.service.refusesUnseen = manner.isUnseen
        (world.service.skew, world.service.effectiveIn) = (manner.offset, manner.offset == 0 ? nil : 0)
        try await run(&world, nil) { identity, _ in try await identity.register() }
        return world
    }

    /// Runs a body in a process of the device.
    ///
    /// - Parameters:
    ///   - choices: nil if nothing fails.
    ///   - hours: the hours that passed before.
    /// - Returns: the worlds in which it died and that no earlier run reached.
    @discardableResult
    func run(
        _ world: inout RotationWorld, _ choices: Choices?, after hours: Int = 0,
        _ body: (DeviceIdentity, RotationNetwork) async throws -> Void
    ) async throws -> [RotationWorld] {
        try put(world)
        let time = FlowTime()
        time.advance(.seconds(hours * 3600))
        let (folder, id) = (folder, name.id)
        let network = RotationNetwork(ScriptedService(time), choices, manner) { Self.files(in: folder, of: id) }
        let state = world.service
        network.service.change { $0 = state }
        var limits = FlowLimits()
        limits.retry.tries = Self.tries
        let identity = try DeviceIdentity(
            appID: "app", profile: profile, vault: vault, transport: network, folder: folder.open(network.calls),
            clock: time.clock, limits: limits)
        try? await body(identity, network)
        let lost = world.lost
        world.files = Self.files(in: folder, of: id)
        world.service = network.service.state.withLock { $0 }
        try take(&world)
        return try network.deaths.withLock { $0 }.map { death in
            var world = death
            world.lost = lost
            try take(&world)
            return world
        }
    }

    private static func files(in folder: TemporaryFolder, of id: String) -> [(name: String, bytes: [UInt8])] {
        guard let there = try? folder.open(), let names = try? there.names() else { return [] }
        return names.compactMap { name in
            guard name.hasPrefix(id), !name.hasSuffix(".lock"), !name.hasSuffix(".tmp") else { return nil }
            return there.read(name, atMost: 1 << 20).value.map { (name, $0.bytes) }
        }
    }

    private func put(_ world: RotationWorld) throws {
        let there = try folder.open()
        for name in try there.names() where name != "attic" { unlink(folder[name]) }
        for (name, bytes) in world.files { try folder.put(bytes, as: name) }
        vault.bringBack()
        for key in world.lost { vault.lose(key) }
    }

    private func take(_ world: inout RotationWorld) throws {
        world.service.seen = []
        // A nonce occurs once, so it does not identify a world.
        world.service.challenges = []
        if manner.rule == .holdsOn { try holdOn(&world) }
        let file = try #require(world.files.first { $0.name == name.record })
        let record = try Recovery(of: RecordFile.decode(file.bytes), intact: [], present: []).record
        for key in record.keys where !world.lost.contains(key.facts.pem) {
            generations[try text(of: key)] = key.generation
        }
        world.record = record
    }

    /// The offered key signs only after it was confirmed.
    private func holdOn(_ world: inout RotationWorld) throws {
        guard let index = world.files.firstIndex(where: { $0.name == name.record }) else { return }
        var record = try RecordFile.decode(world.files[index].bytes)
        record.signsByNext = false
        world.files[index].bytes = try RecordFile.encode(record)
    }

    private func text(of key: IdentityKey) throws -> String {
        profile.text(of: try vault.blockingKey(key.facts).publicKey)
    }

    /// Two worlds with the same name continue in the same way.
    func name(of world: RotationWorld) throws -> String {
        let record = try #require(world.record)
        let keys = record.keys.map { "\($0.generation)\($0.role)\($0.isOffered ? "*" : "")" }
        let journal = record.journal.map { "\($0.phase) \($0.newGeneration)" } ?? "-"
        let lost = record.keys.filter { world.lost.contains($0.facts.pem) }.map(\.generation)
        let late = try world.service.late.map { try name(of: $0) }
        return [
            record.state.rawValue, "\(record.reason?.rawValue ?? "-")", "\(keys)", journal, "\(record.lastGeneration)",
            record.refusedAt == nil ? "-" : "refused", record.signsByNext ? "next" : "-",
            record.journal?.effectiveAt == nil ? "-" : "waits", "\(held(world))", "\(late)", "\(lost)",
        ].joined(separator: " ")
    }

    private func name(of late: HTTPRequest) throws -> String {
        let signature = late.headers.first { $0.name == "X-Signature" }?.value ?? ""
        if let known = messages[signature] { return known }
        let offered = try JSON(parsing: late.body)["new_public_key"]?.string.flatMap { generations[$0] } ?? 0
        var service = ScriptedService.State()
        service.takesTokens = true
        let signer = generations.first { service.isSigned(late, "/rotate", by: $0.key) }?.value ?? 0
        messages[signature] = "\(signer)>\(offered)"
        return "\(signer)>\(offered)"
    }

    /// The number of the key that the service holds.
    func held(_ world: RotationWorld) -> Int { world.service.devices.first.flatMap { generations[$0.value.key] } ?? 0 }
}

/// The network of a run, and its disk: at each request and each write of the record, a choice.
final class RotationNetwork: Transport {
    let service: ScriptedService
    /// The state at each point at which the process might have died, as if nothing had followed.
    let deaths = Mutex<[RotationWorld]>([])
    private let choices: Choices?
    private let manner: RotationManner
    private let files: @Sendable () -> [(name: String, bytes: [UInt8])]
    /// Whether this run sent a rotation.
    private let hasOffered = Mutex(false)
    /// The possible fates of the first rotation of a call.
    private static let fates: [ScriptedService.Fate] = [
        .arrives, .requestLost, .answerLost, .answers(503, nil), .denied(409, "ROTATION_FAILED"),
        .denied(401, "BAD_SIGNATURE"), .answers(401, "BAD_SIGNATURE"), .garbled, .late,
    ]
    private static let fewFates: [ScriptedService.Fate] = [
        .arrives, .answerLost, .denied(401, "BAD_SIGNATURE"), .late,
    ]

    init(
        _ service: ScriptedService, _ choices: Choices?, _ manner: RotationManner,
        _ files: @escaping @Sendable () -> [(name: String, bytes: [UInt8])]
    ) {
        self.service = service
        self.choices = choices
        self.manner = manner
        self.files = files
    }

    /// A disk that completes each call at once; the process may die before each change of the record.
    var calls: SystemCalls {
        SystemCalls { operation, name in
            if operation == .rename, name.hasSuffix(".record") { self.mayDie() }
            return operation == .sync || operation == .syncFolder ? .errno(0) : nil
        }
    }

    private func mayDie() {
        guard choices?.isNew == true else { return }
        let world = RotationWorld(files: files(), service: service.state.withLock { $0 })
        deaths.withLock { $0.append(world) }
    }

    private func choose(_ count: Int) -> Int { choices?.choose(count) ?? 0 }

    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        let late = service.state.withLock { $0.late.count }
        if late > 0, choose(2) == 1 { deliver() }
        // One request is held back at a time; those after the first rotation of a call arrive or are lost.
        let isFirst = offersAnother(request) && !hasOffered.withLock { $0 }
        if isFirst { hasOffered.withLock { $0 = true } }
        let fates = isFirst ? manner.isFull ? Self.fates : Self.fewFates : [.arrives, .requestLost]
        let fate = fates[choose(isFirst && late > 0 ? fates.count - 1 : fates.count)]
        service.change { $0.fates = [fate] }
        var answer = try service.exchange(request)
        if manner.rule == .comparesClocks {
            answer.headers.removeAll { $0.name == "Date" }
            answer.headers.append(("Date", imfDate(service.time.seconds)))
        }
        return answer
    }

    /// Whether the request may change anything: rotating a key to itself only asks, and a late one has no effect.
    private func offersAnother(_ request: HTTPRequest) -> Bool {
        guard ScriptedService.path(request) == "/rotate",
            let key = (try? JSON(parsing: request.body))?["new_public_key"]?.string
        else { return false }
        return service.state.withLock { !$0.isSigned(request, "/rotate", by: key) }
    }

    func deliver() {
        let request = service.state.withLock { $0.late.removeFirst() }
        service.answer(request)
    }
}
