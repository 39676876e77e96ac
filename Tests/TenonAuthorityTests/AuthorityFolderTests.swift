// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonAuthority
import Testing

@Suite struct AuthorityFolderTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    static func open(_ path: String) throws(TenonError) { _ = try SQLiteStore(in: AuthorityFolder(path)) }

    @Test func aMissingFolderIsMadeForUsAlone() async throws {
        do {
            let store = try SQLiteStore(in: AuthorityFolder("\(folder.path)/new"))
            #expect(mode("\(folder.path)/new") == 0o700)
            for name in ["authority.lock", "authority.db", "authority.db-wal"] {
                #expect(mode("\(folder.path)/new/\(name)") == 0o600)
            }
            await store.close()
        }
        for name in ["authority.lock", "authority.db"] { unlink("\(folder.path)/new/\(name)") }
        #expect(rmdir("\(folder.path)/new") == 0)
    }

    private func mode(_ path: String) -> mode_t {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts.st_mode & 0o777 : 0
    }

    @Test func oneHolderAtATime() async throws {
        var store: SQLiteStore? = try SQLiteStore(in: AuthorityFolder(folder.path))
        #expect(await errorThrown { try Self.open(folder.path) }?.code == .storeInUse)
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            #expect(await errorThrown { try AuthorityFolderTests.open(path) }?.code == .storeInUse)
        }
        await store?.close()
        store = nil
        let again = try SQLiteStore(in: AuthorityFolder(folder.path))
        await again.close()
    }

    @Test(arguments: [mode_t(0o770), 0o707, 0o722, 0o702, 0o720])
    func aFolderThatOthersMayWriteIsRefused(_ mode: mode_t) async throws {
        chmod(folder.path, mode)
        let isWritable = mode & 0o022 != 0
        let error = await errorThrown { try Self.open(folder.path) }
        #expect(error?.code == (isWritable ? .storePermission : nil))
        chmod(folder.path, 0o700)
    }

    @Test func anothersFolderAndFilesAreRefused() async throws {
        // Only root can give a file away; for other users, root's files belong to another user.
        guard geteuid() == 0 else {
            #expect(await errorThrown { try Self.open("/usr") }?.code == .storePermission)
            return
        }
        chown(folder.path, 65_534, 65_534)
        #expect(await errorThrown { try Self.open(folder.path) }?.code == .storePermission)
        chown(folder.path, 0, 0)
        try folder.write([], to: "authority.db")
        chown("\(folder.path)/authority.db", 65_534, 65_534)
        #expect(await errorThrown { try Self.open(folder.path) }?.code == .storePermission)
    }

    @Test(arguments: ["authority.db", "authority.lock"])
    func filesAreOursAloneAndFiles(_ name: String) async throws {
        let path = "\(folder.path)/\(name)"
        try folder.write([], to: name)
        for mode: mode_t in [0o640, 0o604, 0o660, 0o602] {
            chmod(path, mode)
            #expect(await errorThrown { try Self.open(folder.path) }?.code == .storePermission)
        }
        unlink(path)
        try folder.write([], to: "elsewhere")
        #expect(symlink("\(folder.path)/elsewhere", path) == 0)
        #expect(await errorThrown { try Self.open(folder.path) }?.code == .storePermission)
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        #expect(await errorThrown { try Self.open(folder.path) }?.code == .storePermission)
    }

    @Test func aLinkIsNoFolderButMayLeadThere() async throws {
        let (folder, links) = (try TestFolder(), try TestFolder())
        #expect(mkdir("\(folder.path)/state", 0o700) == 0)
        #expect(symlink("\(folder.path)/state", "\(links.path)/last") == 0)
        #expect(await errorThrown { try Self.open("\(links.path)/last") }?.code == .storePermission)
        #expect(symlink(folder.path, "\(links.path)/parent") == 0)
        #expect(await errorThrown { try Self.open("\(links.path)/parent/state") } == nil)
        // Waits until the threads of the store have closed it.
        for name in ["authority.lock", "authority.db", "authority.db-wal", "authority.db-shm"] {
            unlink("\(folder.path)/state/\(name)")
        }
        rmdir("\(folder.path)/state")
    }

    @Test func whereThereIsNoFolderThereIsNoStore() async throws {
        try folder.write([], to: "file")
        for path in ["", "\(folder.path)/file/state", "\(folder.path)/file", "/dev/null"] {
            #expect(await errorThrown { try Self.open(path) }?.code == .storePermission)
        }
    }
}
