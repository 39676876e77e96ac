// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import Testing

@Suite struct StateFolderTests {
    let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func isMadeWithTheFoldersAboveIt() throws {
        let plan = CallPlan()
        let path = temporary["a/b/c"]
        _ = try StateFolder(at: path + "//", calls: plan.calls)
        for folder in ["a", "a/b", "a/b/c"] { #expect(mode(temporary[folder]) == 0o700) }
        // A name is on disk once the folder above it is synced.
        let above = temporary.path.split(separator: "/").last!
        #expect(
            plan.made == [
                "makeFolder c", "makeFolder b", "makeFolder a", "syncFolder \(above)", "makeFolder b", "syncFolder a",
                "makeFolder c", "syncFolder b",
            ])
        plan.forget()
        _ = try StateFolder(at: path, calls: plan.calls)
        #expect(plan.made == [])
    }

    @Test func whatCannotBeMadeIsSaid() throws {
        for number in 1...8 {
            let path = try TemporaryFolder()["a/b/c"]
            let plan = CallPlan(.errno(EROFS), at: number)
            // At the first try to make it the errno says whether the one above is there.
            #expect(codeThrown { try StateFolder(at: path, calls: plan.calls) } == .stateReadOnly)
            #expect(plan.made.count == number)
        }
    }

    /// The folder appears between the check and its making.
    @Test func anotherProcessMayMakeItFirst() throws {
        let path = temporary["a"]
        let calls = SystemCalls { operation, name in
            if operation == .makeFolder { mkdir(name == "attic" ? path + "/attic" : name, 0o700) }
            return nil
        }
        let folder = try StateFolder(at: path, calls: calls)
        #expect(try folder.attic().names() == [])
        #expect(mode(path) == 0o700 && mode(path + "/attic") == 0o700)
    }

    @Test(arguments: [mode_t(0o720), 0o702, 0o777, 0o1777])
    func othersMayNotWrite(_ mode: mode_t) throws {
        chmod(temporary.path, mode)
        #expect(codeThrown { try temporary.open() } == .stateOwner)
        chmod(temporary.path, 0o755)
        #expect(codeThrown { try temporary.open() } == nil)
    }

    @Test func belongsToItsUser() throws {
        // Root's own folder, or, when root runs the test, one that it gives away.
        let path = geteuid() == 0 ? temporary.path : "/usr"
        if geteuid() == 0 { #expect(chown(path, 1, 1) == 0) }
        #expect(codeThrown { try StateFolder(at: path) } == .stateOwner)
    }

    @Test func isNoLinkAndNoFile() throws {
        mkdir(temporary["real"], 0o700)
        symlink("real", temporary["link"])
        try temporary.put("", as: "file")
        for (name, code) in [
            ("real/", nil), ("link", TenonError.Code.stateKind), ("link/", .stateKind), ("file", .stateKind),
        ] {
            #expect(codeThrown { try StateFolder(at: temporary[name]) } == code, "\(name)")
        }
    }

    @Test(arguments: ["", "a\0b", String(repeating: "a", count: 4096)])
    func pathsThatAreNone(_ path: String) {
        #expect(codeThrown { try StateFolder(at: path) } == .statePath)
    }

    @Test func readingHasThreeOutcomes() throws {
        let folder = try temporary.open()
        #expect(folder.read("x", atMost: 9).isAbsent)
        #expect(folder.stamp(of: "x").isAbsent)
        try temporary.put("123456789", as: "x")
        #expect(text(of: "x", in: folder) == "123456789")
        #expect(folder.read("x", atMost: 9).value?.bytes.count == 9)
        #expect(folder.read("x", atMost: 8).code == .recordForm)
        #expect(folder.stamp(of: "x").value == folder.read("x", atMost: 9).value?.stamp)
    }

    @Test func whatIsNotOursIsUnreadable() throws {
        let folder = try temporary.open()
        try temporary.put([], as: "target")
        symlink("target", temporary["link"])
        symlink("nowhere", temporary["dangling"])
        mkfifo(temporary["pipe"], 0o600)
        mkdir(temporary["folder"], 0o700)
        for name in ["link", "dangling", "pipe", "folder"] {
            #expect(folder.read(name, atMost: 9).code == .stateKind, "\(name)")
            #expect(folder.stamp(of: name).code == .stateKind, "\(name)")
        }
        for mode in [mode_t(0o640), 0o604, 0o620, 0o602, 0o610, 0o601] {
            try temporary.put([], as: "open", mode: mode)
            #expect(folder.read("open", atMost: 9).code == .stateOwner)
            #expect(folder.stamp(of: "open").code == .stateOwner)
        }
        // Only root can give a file away.
        if geteuid() == 0 {
            chown(temporary["target"], 1, 1)
            #expect(folder.read("target", atMost: 9).code == .stateOwner)
        }
    }

    @Test func aFolderThatIsGoneHasNoAbsentFiles() throws {
        mkdir(temporary["a"], 0o700)
        let folder = try StateFolder(at: temporary["a"])
        #expect(folder.read("x", atMost: 9).isAbsent)
        rmdir(temporary["a"])
        #expect(folder.read("x", atMost: 9).code == .stateFolderGone)
        #expect(folder.stamp(of: "x").code == .stateFolderGone)
    }

    @Test func namesAreListed() throws {
        let folder = try temporary.open()
        #expect(try folder.names() == [])
        for number in 0..<300 { try temporary.put("", as: "file-\(number)") }
        #expect(try Set(folder.names()) == Set((0..<300).map { "file-\($0)" }))
        #expect(try folder.names().count == 300)
    }

    @Test func stampTellsAWrittenFile() throws {
        let folder = try temporary.open()
        try folder.write([1], to: "x", keepingPrevious: true)
        let first = folder.stamp(of: "x").value
        #expect(folder.stamp(of: "x").value == first)
        try folder.write([1], to: "x", keepingPrevious: true)
        #expect(folder.stamp(of: "x").value != first)
    }

    @Test func theEnvironmentNamesItInOrder() throws {
        func path(_ asked: String?, _ isRoot: Bool, _ environment: [String: String]) throws(TenonError) -> String {
            try StateFolder.path(asked: asked, isRoot: isRoot) { environment[$0] }
        }
        var all = [
            "TENON_STATE_DIR": "t", "STATE_DIRECTORY": "/s:/more", "XDG_STATE_HOME": "/x", "HOME": "/h",
        ]
        #expect(try path("asked", true, all) == "asked")
        #expect(try path(nil, true, all) == "t")
        all["TENON_STATE_DIR"] = ""
        #expect(try path(nil, true, all) == "/s")
        all["STATE_DIRECTORY"] = "relative"
        #expect(try path(nil, true, all) == "/x/tenon")
        all["XDG_STATE_HOME"] = "relative"
        #expect(try path(nil, true, all) == "/var/lib/tenon")
        #expect(try path(nil, false, all) == "/h/.local/state/tenon")
        all["HOME"] = nil
        #expect(codeThrown { try path(nil, false, all) } == .statePath)
        #expect(codeThrown { try path("", true, [:]) } == .statePath)
    }
}
