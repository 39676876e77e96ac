// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A folder of one test in TMPDIR, which is removed with this value.
package final class ScratchFolder: Sendable {
    package let path: String

    package init() throws {
        let place = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(place)/tenon-test-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw NoFolder(place: place, errno: errno) }
        path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { Self.removeAll(path) }

    private static func removeAll(_ path: String) {
        if let folder = opendir(path) {
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != ".", name != "..", unlink(path + "/" + name) != 0 { removeAll(path + "/" + name) }
            }
            closedir(folder)
        }
        rmdir(path)
    }
}

/// Runs a body with a folder that is removed afterwards.
package func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = try ScratchFolder()
    defer { withExtendedLifetime(folder) {} }
    return try await body(folder.path)
}

private struct NoFolder: Error {
    let place: String
    let errno: Int32
}
