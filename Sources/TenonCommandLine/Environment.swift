// SPDX-License-Identifier: Apache-2.0
internal import CTenonProcess
internal import Glibc

/// The environment of a program. What a library would read there by itself is taken out of it at the start: a file to
/// write TLS keys to, another configuration or engine of OpenSSL, other trusted CAs, a proxy. Who begins a program says
/// by its options whom it trusts.
package enum Environment {
    /// What is left: this program's own variables, and those by which somebody is found or a password is given.
    /// docs/threat-model.md has a line on each that a library reads.
    private static let kept = [
        "TENON_", "STATE_DIRECTORY", "XDG_STATE_HOME", "HOME", "NO_COLOR", "TERM", "TSS2_LOG",
        "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS", "PGPASSFILE", "PGPASSWORD", "SQLITE_TMPDIR", "TMPDIR",
    ]

    /// A variable; nil when it is empty, and in a program that has more rights than its user.
    package static func variable(_ name: String) -> String? {
        guard let value = tenoni_process_variable(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// Takes out what no library is to see.
    static func close() {
        var names = kept.map { UnsafePointer<CChar>(strdup($0)) }
        defer { for name in names { free(UnsafeMutablePointer(mutating: name)) } }
        names.append(nil)
        tenoni_process_keep(names)
    }
}
