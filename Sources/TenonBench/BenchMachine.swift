// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// What absolute times belong to.
package struct BenchMachine: Sendable {
    package let members: [(name: String, value: String)]

    /// - Parameter tpm: the chip and its firmware.
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

    /// What stands behind the head of the first line that begins so.
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
