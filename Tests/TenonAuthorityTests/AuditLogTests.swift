// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import TenonAuthority
import Testing

/// A verifier's result for the log of a folder.
enum AuditReader {
    static func verify(
        _ bytes: [UInt8], key: [UInt8], instance: String = "main", piece: Int = .max,
        checkHead: @escaping (AuditHead, [UInt8]) throws(TenonError) -> Void = { _, _ throws(TenonError) in }
    ) throws(TenonError) -> AuditVerifier.Summary {
        var verifier = try AuditVerifier(instance: instance, key: key, checkHead: checkHead)
        var rest = bytes[...]
        while !rest.isEmpty {
            try verifier.update(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        return try verifier.finish()
    }

    /// The summary of a log, by the keys of its folder.
    static func verified(_ folder: TestFolder) throws -> AuditVerifier.Summary {
        let keys = try #require(try AuthorityKeys(from: AuthorityFolder(folder.path)))
        let key = keys.audit.withBytes { span in span.indices.map { span[$0] } }
        return try verify(folder.read(AuditLog.fileName), key: key) { head, signature throws(TenonError) in
            try keys.publicKey.verify(Signature(derRepresentation: signature.span), for: Digest(hashing: head.message))
        }
    }

    static func lines(_ folder: TestFolder) throws -> [JSON] {
        try folder.read(AuditLog.fileName).split(separator: UInt8(ascii: "\n")).map { try JSON(parsing: Array($0)) }
    }

    /// Event and device of each line of a log whose chain is whole.
    static func events(_ folder: TestFolder, key: [UInt8]) throws -> [String] {
        _ = try verify(folder.read(AuditLog.fileName), key: key)
        return try lines(folder).map { "\($0["event"]?.string ?? "") \($0["device"]?.string ?? "")" }
    }
}

@Suite struct AuditLogTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    static let key = Array(UInt8(0)..<32)

    static func checkHead(_ head: AuditHead, _ signature: [UInt8]) throws(TenonError) {
        guard try Digest(authenticating: head.message, key: [1]).rawRepresentation == signature else {
            throw TenonError(.signatureInvalid, message: "The head was not signed.")
        }
    }

    static func sign(_ head: AuditHead) throws(TenonError) -> [UInt8] {
        try Digest(authenticating: head.message, key: [1]).rawRepresentation
    }

    /// Runs a test on the log of a folder, and closes it.
    static func withLog(
        _ folder: TestFolder, clock: FakeClock = FakeClock(), instance: String = "main", key: [UInt8] = key,
        sign: (@Sendable (AuditHead) throws(TenonError) -> [UInt8])? = nil, _ body: (AuditLog) async throws -> Void
    ) async throws {
        let log = try AuditLog(
            in: AuthorityFolder(folder.path), clock: clock, options: .init(instance: instance, key: key, sign: sign))
        try await body(log)
        await log.close()
    }

    static func event(_ number: Int) -> AuditEvent { AuditEvent(.registered, app: "demo", device: "device-\(number)") }

    @Test func aLineSaysWhatHappened() async throws {
        try await Self.withLog(folder) { log in
            try await log.append(
                AuditEvent(.deviceRevoked, app: "demo", device: "d", details: ["reason": "lost \"again\"\n"]))
            #expect(try AuditReader.lines(folder).count == 1)
        }
        let line = try #require(try AuditReader.lines(folder).first)
        #expect(line["event"]?.string == "device_revoked" && line["app"]?.string == "demo")
        #expect(line["device"]?.string == "d" && line["reason"]?.string == "lost \"again\"\n")
        #expect(line["instance"]?.string == "main" && line["sequence"]?.integer == 1)
        #expect(line["time"]?.integer == 1_800_000_000)
        // Written by hand, the chain is: HMAC(key, the mac before, the line without its own mac).
        var object = try #require(line.object)
        object["mac"] = nil
        let start = Array("tenon/audit/1\nmain\n0\n\(try Digest(hashing: []))\n".utf8)
        let before = try Digest(authenticating: start, key: Self.key)
        let mac = try Digest(
            authenticating: before.rawRepresentation + JSON.object(object).encoded(), key: Self.key)
        #expect(line["mac"]?.string == mac.description)
    }

    @Test func manyAtOnceAreOneChain() async throws {
        try await Self.withLog(folder) { log in
            _ = try await atOnce(500) { try await log.append(Self.event($0)) }
        }
        let bytes = try folder.read(AuditLog.fileName)
        for piece in [Int.max, 1_000, 7] {
            let summary = try AuditReader.verify(bytes, key: Self.key, piece: piece)
            #expect(summary.lines == 500 && summary.signedLines == 0)
        }
        #expect(Set(try AuditReader.events(folder, key: Self.key)).count == 500)
    }

    @Test func theChainGoesOnAfterAStart() async throws {
        for number in 0..<4 { try await Self.withLog(folder) { try await $0.append(Self.event(number)) } }
        let events = try AuditReader.events(folder, key: Self.key)
        #expect(events == (0..<4).map { "registered device-\($0)" })
    }

    // MARK: Heads

    @Test func headsAreSignedEach1000Lines() async throws {
        try await Self.withLog(folder, sign: Self.sign) { log in
            for start in stride(from: 0, to: 2_500, by: 100) {
                _ = try await atOnce(100) { try await log.append(Self.event(start + $0)) }
            }
        }
        let bytes = try folder.read(AuditLog.fileName)
        let summary = try AuditReader.verify(bytes, key: Self.key, checkHead: Self.checkHead)
        let heads = try AuditReader.lines(folder).filter { $0["event"]?.string == "head" }
        #expect(heads.count == 3)
        #expect(summary.lines == 2_503 && summary.signedLines == 2_502)
        // A head that another signed.
        let another = await errorThrown {
            try AuditReader.verify(bytes, key: Self.key) { _, signature throws(TenonError) in
                try Self.checkHead(AuditHead(instance: "other", sequence: 1, mac: Digest(hashing: [])), signature)
            }
        }
        #expect(another?.code == .signatureInvalid)
    }

    @Test func headsAreSignedEachHourAndAtTheEnd() async throws {
        let clock = FakeClock()
        func heads() throws -> Int { try AuditReader.lines(folder).count { $0["event"]?.string == "head" } }
        try await Self.withLog(folder, clock: clock, sign: Self.sign) { log in
            try await log.append(Self.event(1))
            #expect(try heads() == 0)
            clock.advance(3_599_999)
            try await log.append(Self.event(2))
            #expect(try heads() == 0)
            clock.advance(1)
            try await log.append(Self.event(3))
            // The head was signed after the answer to the third line; this call waits for that and has nothing to sign.
            try await log.signHead()
            #expect(try heads() == 1)
            try await log.append(Self.event(4))
            try await log.signHead()
            #expect(try heads() == 2)
            try await log.append(Self.event(5))
        }
        #expect(try heads() == 3)
        // A start and a stop do not sign the same head again.
        try await Self.withLog(folder, clock: clock, sign: Self.sign) { try await $0.signHead() }
        #expect(try heads() == 3)
    }

    /// Lines that a crash left without a signed head get one.
    @Test func unsignedLinesAreSignedAfterAStart() async throws {
        try await Self.withLog(folder) { try await $0.append(Self.event(1)) }
        try await Self.withLog(folder, sign: Self.sign) { try await $0.signHead() }
        let summary = try AuditReader.verify(
            folder.read(AuditLog.fileName), key: Self.key, checkHead: Self.checkHead)
        #expect(summary.lines == 2 && summary.signedLines == 1)
    }

    @Test func aHeadThatCannotBeSignedHoldsNobodyUp() async throws {
        let clock = FakeClock()
        let isBroken = Atomic(true)
        try await Self.withLog(folder, clock: clock) { head throws(TenonError) in
            if isBroken.load(ordering: .relaxed) { throw TenonError(.storeFailed, message: "The CA's TPM is busy.") }
            return try Self.sign(head)
        } _: { log in
            try await log.append(Self.event(1))
            clock.advance(3_600_000)
            try await log.append(Self.event(2))
            #expect(await errorThrown { try await log.signHead() }?.code == .storeFailed)
            isBroken.store(false, ordering: .relaxed)
            try await log.append(Self.event(3))
        }
        let summary = try AuditReader.verify(
            folder.read(AuditLog.fileName), key: Self.key, checkHead: Self.checkHead)
        #expect(summary.lines == 4 && summary.signedLines == 3)
    }

    @Test func aLongLineIsRefusedAndLeavesNoHole() async throws {
        try await Self.withLog(folder) { log in
            try await log.append(Self.event(1))
            let long = AuditEvent(.ekDenied, details: ["reason": .string(String(repeating: "x", count: 2_000))])
            #expect(await errorThrown { try await log.append(long) }?.code == .tooLarge)
            try await log.append(Self.event(2))
        }
        #expect(try AuditReader.events(folder, key: Self.key).count == 2)
    }

    @Test func afterCloseNothingIsWritten() async throws {
        let log = try AuditLog(
            in: AuthorityFolder(folder.path), clock: FakeClock(), options: .init(instance: "main", key: Self.key))
        await log.close()
        #expect(await errorThrown { try await log.append(Self.event(1)) }?.code == .storeClosed)
        #expect(await errorThrown { try await log.signHead() }?.code == .storeClosed)
    }
}
