// SPDX-License-Identifier: Apache-2.0

extension StateFolder {
    /// Where the state lies, in the order of trust: what was asked for, the environment, and the place of this user.
    /// Reads nothing: the command asks its environment (with `secure_getenv`), a library is told.
    ///
    /// - Parameter asked: `--state-dir`, or what an app configured.
    /// - Parameter environment: gives the value of a variable. An empty one counts as absent, and so does one of XDG
    ///   that is not absolute (XDG Base Directory 0.8, "Environment variables").
    /// - Throws: ``TenonError/Code/statePath`` for a path that is named and empty, and when nothing names one.
    package static func path(
        asked: String?, isRoot: Bool, environment: (String) -> String?
    ) throws(TenonError) -> String {
        if let asked {
            guard !asked.isEmpty else {
                throw TenonError(.statePath, message: "The folder of the state is named by an empty text.")
            }
            return asked
        }
        func variable(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
        func absolute(_ name: String) -> String? { variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }

        if let path = variable("TENON_STATE_DIR") { return path }
        // systemd gives all of a unit's folders, the first of which is the one.
        if let paths = absolute("STATE_DIRECTORY") { return String(paths.prefix { $0 != ":" }) }
        if let path = absolute("XDG_STATE_HOME") { return path + "/tenon" }
        if isRoot { return "/var/lib/tenon" }
        if let path = absolute("HOME") { return path + "/.local/state/tenon" }
        throw TenonError(
            .statePath, message: "Nothing says where the state is to lie: give --state-dir or TENON_STATE_DIR.")
    }
}
