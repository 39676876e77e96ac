// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// Finds the identities in a folder without knowing their names.
@Suite struct KnownIdentityTests {
    let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    private func put(_ shape: RecordShape, of name: IdentityName, as file: String) throws {
        try temporary.put(RecordFile.encode(shape.record(name)), as: file)
    }

    @Test func theyAreFoundByTheirFiles() throws {
        let names = try ["b", "a", "c"].map { try RecordShape.name($0) }
        let folder = try temporary.open()
        #expect(try folder.identities().isEmpty)
        try put(.registered, of: names[0], as: names[0].record)
        try put(.fresh, of: names[1], as: names[1].record)
        // An identity with only a lock does not count, nor does a file with a foreign name.
        try temporary.put("", as: names[2].lock)
        try temporary.put("", as: "notes.record")
        _ = try folder.attic()
        let known = try folder.identities()
        #expect(known.map(\.id) == [names[1].id, names[0].id])
        #expect(known.map(\.name) == [names[1], names[0]])
        let registered = try #require(known.first { $0.name == names[0] }?.record.value)
        #expect(registered.status.isRegistered && registered.status.deviceID != nil)
    }

    @Test func whatCannotBeReadIsListedToo() throws {
        let name = try RecordShape.name()
        let folder = try temporary.open()
        try temporary.put("damaged", as: name.record)
        var known = try #require(try folder.identities().first)
        #expect(known.name == nil && known.id == name.id && known.record.code == .recordForm)
        try put(.registered, of: name, as: name.record + ".prev")
        known = try #require(try folder.identities().first)
        #expect(known.name == name && known.record.code == .stateUnresolved)
    }

    /// A key without a record is not a new identity (decision: missing-state).
    @Test func aKeyAlone() throws {
        let name = try RecordShape.name()
        try temporary.put("key", as: name.file(.generation(1)))
        let known = try #require(try temporary.open().identities().first)
        #expect(known.name == nil && known.record.code == .stateMissing)
    }

    /// A record that was copied under another name says nothing about that identity.
    @Test func anotherIdentitysRecord() throws {
        let (name, other) = (try RecordShape.name("a"), try RecordShape.name("b"))
        try put(.registered, of: other, as: name.record)
        let known = try #require(try temporary.open().identities().first)
        #expect(known.id == name.id && known.name == nil && known.record.value == nil)
    }

    @Test func theAtticOfOneIsEmptied() throws {
        let plan = CallPlan()
        let folder = try temporary.open(plan.calls)
        for name in ["a.g1", "a.g2", "b.g1"] {
            try temporary.put("", as: "x")
            try folder.moveToAttic("x", as: name)
        }
        #expect(try folder.atticNames() == ["a.g1", "a.g2", "b.g1"])
        plan.forget()
        #expect(try folder.emptyAttic(of: "a.") == ["a.g1", "a.g2"])
        #expect(plan.made == ["remove a.g1", "remove a.g2", "syncFolder attic"])
        #expect(try folder.atticNames() == ["b.g1"])
        #expect(try folder.emptyAttic(of: "a.") == [])
    }

    @Test func aFolderIsLookedForAndNotMade() {
        #expect(StateFolder.isThere(at: temporary.path))
        #expect(!StateFolder.isThere(at: temporary["absent"]))
    }
}
