// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Who wrote into the file of a lock. It may be gone, and after a boot its number may be another's.
package struct LockHolder: Equatable, Sendable {
    package let process: Int32
    /// The boot in which it ran, as the kernel names it.
    package let boot: String

    static var this: LockHolder { LockHolder(process: getpid(), boot: currentBoot()) }

    init(process: Int32, boot: String) {
        self.process = process
        self.boot = boot
    }

    /// nil for anything but what ``text`` gives.
    init?(parsing bytes: [UInt8]) {
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "pid", words[2] == "boot", let process = Int32(words[1]),
            words[3].hasSuffix("\n")
        else { return nil }
        self.init(process: process, boot: String(words[3].dropLast()))
    }

    var text: String { "pid \(process) boot \(boot)\n" }

    /// Which boot this is; empty where the kernel does not say.
    package static func currentBoot() -> String {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(file, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)).prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
