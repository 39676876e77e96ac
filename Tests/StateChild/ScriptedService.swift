// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A service in a file: each line is what it committed, and the last word of the last line is the key that it holds.
struct ScriptedService {
    private let path: String
    /// Whether a request comes to it; if not, no answer comes back.
    private let answers: Bool

    init(_ folder: String, answers: Bool) {
        umask(0o077)
        path = folder + "/service"
        self.answers = answers
    }

    /// - Returns: nil when no answer came.
    func register(_ key: String) -> Bool? {
        guard answers else { return nil }
        if held != key { commit("register \(key)") }
        return true
    }

    func rotate(from old: String, to new: String) -> Bool? {
        guard answers else { return nil }
        guard held != new else { return true }
        guard held == old else { return false }
        commit("rotate \(old) \(new)")
        return true
    }

    func holds(_ key: String) -> Bool? { answers ? held == key : nil }

    private var held: String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).last.map(String.init)
    }

    private func commit(_ line: String) {
        guard let file = fopen(path, "a") else { fail("no service") }
        fputs(line + "\n", file)
        fclose(file)
    }
}
