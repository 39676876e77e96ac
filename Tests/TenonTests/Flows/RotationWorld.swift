// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Synchronization
import Tenon
import Testing

/// What a search is about: a service, its clock, and what the device makes of them.
struct RotationManner: Sendable, CustomStringConvertible {
    /// What a design does.
    enum Rule: Sendable {
        /// The key that was offered stays, and is offered again; it signs when the other one was refused.
        case keeps
        /// It is dropped when the service is seen to hold the old one, as nobody holds it: what the mobile SDKs do.
        case drops
        /// It signs only when the service confirmed it, whatever that says of the old one.
        case holdsOn
        /// From when on it signs is compared with this device's clock.
        case comparesClocks
    }

    var settlements: [Settlement]
    /// What is answered to a key that asks to be rotated to itself, where that is not done, and whether before the
    /// signature is looked at.
    var selfRotation: Int?
    var isUnseen = false
    /// How many seconds the service's clock is ahead.
    var offset: Int64 = 0
    var rule = Rule.keeps
    /// Whether a message has all its fates; else there are those that part the manners.
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
    /// As the next process mends it.
    var record: IdentityRecord?
    var service: ScriptedService.State
    /// Keys that a weaker design let go.
    var lost: Set<[UInt8]> = []
}

/// What wakes a world up, by each way that is chosen, and looks at what comes of it.
final class RotationStage {
    /// How often a message is tried in one call: what the next call does is searched anyway. TENON_TEST_TRIES says
    /// more.
    private static let tries = getenv("TENON_TEST_TRIES").flatMap { Int(String(cString: $0)) } ?? 1

    private let folder: TemporaryFolder
    private let profile: PlainProfile
    private let vault = ScriptedVault(.tokens)
    private let name: IdentityName
    private let manner: RotationManner
    /// The number of each key that there ever was.
    private var generations: [String: Int] = [:]
    /// By their signatures, who signed for which key.
    private var messages: [String: String] = [:]

    init(_ manner: RotationManner) throws {
        var profile = PlainProfile()
        profile.declaration.settlements = manner.settlements
        self.profile = profile
        self.manner = manner
        folder = try TemporaryFolder()
        name = try IdentityName(profile: "plain", baseURL: "https://service.example", appID: "app")
    }

    /// A device that is registered.
    func first() async throws -> RotationWorld {
        var world = RotationWorld(service: ScriptedService.State())
        world.service.takesTokens = true
        world.service.refusesSelfRotation = manner.selfRotation.map { ($0, nil) }
        world.service.refusesUnseen = manner.isUnseen
        (world.service.skew, world.service.effectiveIn) = (manner.offset, manner.offset == 0 ? nil : 0)
        try await run(&world, nil) { identity, _ in try await identity.register() }
        return world
    }

    /// Does something in a process of the device.
    ///
    /// - Parameters:
    ///   - choices: nil where all goes well.
    ///   - hours: that went by before.
    /// - Returns: the worlds in which it died of it, where no earlier run came to.
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
        // A nonce comes once, and a world is known without it.
        world.service.challenges = []
        if manner.rule == .holdsOn { try holdOn(&world) }
        let file = try #require(world.files.first { $0.name == name.record })
        let record = try Recovery(of: RecordFile.decode(file.bytes), intact: [], present: []).record
        for key in record.keys where !world.lost.contains(key.facts.pem) {
            generations[try text(of: key)] = key.generation
        }
        world.record = record
    }

    /// The offered key signs only when it was confirmed.
    private func holdOn(_ world: inout RotationWorld) throws {
        guard let index = world.files.firstIndex(where: { $0.name == name.record }) else { return }
        var record = try RecordFile.decode(world.files[index].bytes)
        record.signsByNext = false
        world.files[index].bytes = try RecordFile.encode(record)
    }

    private func text(of key: IdentityKey) throws -> String {
        profile.text(of: try vault.blockingKey(key.facts).publicKey)
    }

    /// Two worlds of one name go on in the same way.
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
    /// What was there each time that the process might have died; all that follows is as if it had not been.
    let deaths = Mutex<[RotationWorld]>([])
    private let choices: Choices?
    private let manner: RotationManner
    private let files: @Sendable () -> [(name: String, bytes: [UInt8])]
    /// Whether this run sent a rotation.
    private let hasOffered = Mutex(false)
    /// What may happen to the first rotation of a call.
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

    /// A disk that says at once that it has all; the process may die before each change of the record.
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

    /// 0 where all goes well.
    private func choose(_ count: Int) -> Int { choices?.choose(count) ?? 0 }

    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        let late = service.state.withLock { $0.late.count }
        if late > 0, choose(2) == 1 { deliver() }
        // One request is held back at a time; what follows the first rotation of a call comes, or is lost.
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

    /// Whether the request may change anything: a key that is to be rotated to itself only asks, and late it says
    /// nothing.
    private func offersAnother(_ request: HTTPRequest) -> Bool {
        guard ScriptedService.path(request) == "/rotate",
            let key = (try? JSON(parsing: request.body))?["new_public_key"]?.string
        else { return false }
        return service.state.withLock { !$0.isSigned(request, "/rotate", by: key) }
    }

    /// The request that was held back comes to the service.
    func deliver() {
        let request = service.state.withLock { $0.late.removeFirst() }
        service.answer(request)
    }
}
