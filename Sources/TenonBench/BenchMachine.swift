// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// The machine on which absolute times were measured.
package struct BenchMachine: Sendable {
    package let members: [(name: String, value: String)]

    /// - Parameter tpm: a description of the chip and its firmware.
    package init(tpm: String) {
        members = [
            ("tenon", tenonVersion), ("backend", tenonBackend), ("compiler", Self.compiler),
            ("cpu", Self.line(of: "/proc/cpuinfo", behind: "model name\t: ")),
            ("governor", Self.line(of: "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", behind: "")),
            ("glibc", Self.library), ("tpm", tpm),
        ]
    }

    package var record: JSON {
        var object = JSONObject()
        object["kind"] = "machine"
        for (name, value) in members { object[name] = .string(value) }
        return .object(object)
    }

    private static var compiler: String {
        #if compiler(>=6.4)
            "swift 6.4 or later"
        #elseif compiler(>=6.3)
            "swift 6.3"
        #else
            "swift 6.2"
        #endif
    }

    private static var library: String {
        var text = [CChar](repeating: 0, count: 64)
        let count = confstr(Int32(_CS_GNU_LIBC_VERSION), &text, text.count)
        guard count > 1, count <= text.count else { return "unknown" }
        return String(
            decoding: text.prefix(count - 1).map { UInt8(bitPattern: $0) }.drop { $0 != 0x20 }.dropFirst(),
            as: UTF8.self)
    }

    /// The rest of the first line that begins with `head`.
    private static func line(of path: String, behind head: String) -> String {
        guard let file = fopen(path, "re") else { return "unknown" }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 512)
        while fgets(&buffer, Int32(buffer.count), file) != nil {
            let line = String(
                decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if line.hasPrefix(head) { return String(line.dropFirst(head.count)) }
        }
        return "unknown"
    }
}

/// How this program was built.
package enum BenchBuild {
    /// Assertions are evaluated in a debug build only.
    package static var isDebug: Bool {
        var isDebug = false
        assert(
            {
                isDebug = true
                return true
            }())
        return isDebug
    }
}
