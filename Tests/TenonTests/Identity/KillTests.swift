// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import Testing

/// kill -9 before each system call that changes the disk, in each operation, while the service gets the request or not.
@Suite struct KillTests {
    /// A folder with the state of a device, and what the service committed.
    private struct World {
        let temporary: TemporaryFolder
        let store: RecordStore

        init(copying files: [(String, [UInt8])]) throws {
            temporary = try TemporaryFolder()
            mkdir(temporary["state"], 0o700)
            for (name, bytes) in files { try temporary.put(bytes, as: name) }
            store = RecordStore(try RecordShape.name(), in: try StateFolder(at: temporary["state"]))
        }

        var files: [(String, [UInt8])] {
            get throws {
                let inState = try store.folder.names().filter { !$0.hasSuffix(".lock") && $0 != "attic" }
                return (["service"] + inState.map { "state/" + $0 }).compactMap { name in
                    bytes(of: name).map { (name, $0) }
                }
            }
        }

        private func bytes(of name: String) -> [UInt8]? {
            let parts = name.split(separator: "/")
            let folder = parts.count == 1 ? try? temporary.open() : store.folder
            return folder?.read(String(parts.last!), atMost: 1 << 20).value?.bytes
        }

        /// What the service committed, a line each.
        var committed: [[Substring]] {
            let text = bytes(of: "service").map { String(decoding: $0, as: UTF8.self) } ?? ""
            return text.split(separator: "\n").map { $0.split(separator: " ") }
        }

        var heldByService: Substring? { committed.last?.last }

        func walk(_ operation: String, until number: Int = 0, _ service: String = "answers") throws -> Int32 {
            try Child("walk", temporary.path, operation, "\(number)", service).wait()
        }

        /// The keys that are still somewhere, in use or in the attic.
        var keptKeys: Set<Substring> {
            get throws {
                var keys: Set<Substring> = []
                for folder in [store.folder, try store.folder.attic()] {
                    for name in try folder.names() where name.contains(".g") {
                        let text = text(of: name, in: folder) ?? ""
                        if let key = text.split(whereSeparator: \.isWhitespace).last { keys.insert(key) }
                    }
                }
                return keys
            }
        }
    }

    @Test(arguments: ["register", "rotate", "reset"], ["answers", "is deaf"])
    func afterEachCutTheDeviceKnowsWhereItIs(_ operation: String, _ service: String) throws {
        let before = try World(copying: [])
        if operation != "register" { #expect(try before.walk("register") == 0) }
        let files = try before.files
        var (number, status) = (0, Int32(-9))
        while status != 0 {
            number += 1
            let world = try World(copying: files)
            status = try world.walk(operation, until: number, service)
            #expect(status == -9 || status == 0, "\(number)")
            try check(world, operation, "\(operation) \(service) \(number)")
            #expect(try world.walk(operation) == 0)
            try checkTheEnd(world, operation, "\(operation) \(service) \(number)")
        }
        #expect(number > 15)
        print("kill -9: \(operation), a service that \(service): \(number) cuts")
    }

    /// Eight processes on one identity, of which some are killed.
    @Test func eightProcessesAndSomeOfThemDie() throws {
        let operations = ["register", "rotate", "register", "rotate", "rotate", "reset", "register", "rotate"]
        for round in 0..<3 {
            let world = try World(copying: [])
            let children = try (0..<8).map { number in
                let turned = operations[number...] + operations[..<number]
                // The odd ones die somewhere.
                let deadly = number % 2 == 0 ? 0 : 40 + 37 * number + 11 * round
                return try Child(
                    "walk", world.temporary.path, turned.joined(separator: ","), "\(deadly)",
                    number == 4 ? "is deaf" : "answers")
            }
            let ends = children.map { $0.wait() }
            #expect(ends.allSatisfy { $0 == 0 || $0 == -9 } && ends.contains(0) && ends.contains(-9), "\(ends)")
            try check(world, "reset", "round \(round)")
            let registered = world.committed.filter { $0[0] == "register" }.map { $0[1] }
            #expect(Set(registered).count == registered.count)
            #expect(try world.keptKeys.isSuperset(of: world.committed.map { $0.last ?? "" }))
            #expect(try world.walk("register,rotate") == 0)
            let record = try #require(world.store.read().value)
            #expect(record.state == .registered && record.journal == nil)
            #expect(record.keys.map { Substring(TextEncoding.hex.encode($0.facts.name)) } == [world.heldByService])
        }
    }

    /// DESIGN 8: the device signs with the key that the service holds, or is cleanly unregistered, or knows that it does
    /// not know.
    private func check(_ world: World, _ operation: String, _ place: String) throws {
        let held = try #require(try world.store.lock.attempt(), "\(place)")
        guard case .found = world.store.read() else {
            #expect(world.store.read().isAbsent && world.heldByService == nil, "\(place)")
            return
        }
        let recovery = try world.store.recover(held)
        let record = recovery.record
        let keys = record.keys.map { Substring(TextEncoding.hex.encode($0.facts.name)) }
        let current = record.key(.current).map { Substring(TextEncoding.hex.encode($0.facts.name)) }
        switch (record.state, recovery.next) {
        case (.registered, .nothing): #expect(world.heldByService == current, "\(place)")
        case (.registered, .settle):
            #expect(keys.count == 2 && keys.contains { $0 == world.heldByService }, "\(place)")
        case (.unregistered, .register):
            // After a reset the service may still hold the key of before.
            #expect(
                world.heldByService == nil || world.heldByService == current || operation == "reset", "\(place)")
        case (.unregistered, .nothing): #expect(world.heldByService == nil || operation == "reset", "\(place)")
        default: Issue.record("\(place): \(record.state) \(recovery.next)")
        }
    }

    private func checkTheEnd(_ world: World, _ operation: String, _ place: String) throws {
        let record = try #require(world.store.read().value, "\(place)")
        if operation == "reset" {
            #expect(record.state == .unregistered && record.keys.isEmpty, "\(place)")
        } else {
            #expect(record.state == .registered && record.journal == nil, "\(place)")
            #expect(
                record.keys.map { Substring(TextEncoding.hex.encode($0.facts.name)) } == [world.heldByService],
                "\(place)")
        }
        // One device, whatever was sent again; each key that the service ever saw is somewhere; nothing half is left.
        #expect(world.committed.count { $0[0] == "register" } == 1, "\(place)")
        #expect(try world.keptKeys.isSuperset(of: world.committed.map { $0.last ?? "" }), "\(place)")
        let names = try world.store.folder.names()
        #expect(!names.contains { $0.hasSuffix(".tmp") }, "\(place)")
        #expect(names.count { $0.contains(".g") } == record.keys.count, "\(place)")
    }
}
