// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TestFolders
import Testing

/// A test's folder, which is removed with this value.
final class TemporaryFolder: Sendable {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    var path: String { folder.path }

    subscript(_ name: String) -> String { path + "/" + name }

    func open(_ calls: SystemCalls = SystemCalls()) throws(TenonError) -> StateFolder {
        try StateFolder(at: path, calls: calls)
    }

    /// Writes a file, as another program would.
    func put(_ bytes: [UInt8], as name: String, mode: mode_t = 0o600) throws {
        let file = Glibc.open(self[name], O_WRONLY | O_CREAT | O_TRUNC, mode)
        try #require(file >= 0)
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
        try #require(fchmod(file, mode) == 0)
        close(file)
    }

    func put(_ text: String, as name: String) throws { try put(Array(text.utf8), as: name) }
}

/// The text of a file; nil when it is absent or unreadable.
func text(of name: String, in folder: StateFolder) -> String? {
    guard case .found(let file) = folder.read(name, atMost: 1 << 20) else { return nil }
    return String(decoding: file.bytes, as: UTF8.self)
}

extension Reading {
    var value: Value? {
        if case .found(let value) = self { value } else { nil }
    }

    var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }

    var code: TenonError.Code? {
        if case .unreadable(let error) = self { error.code } else { nil }
    }
}
