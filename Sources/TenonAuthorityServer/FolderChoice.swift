// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuthority
internal import TenonCommandLine

/// Which folder the state is in.
enum FolderChoice {
    /// - Throws: ``TenonError/Code/options`` when neither the command line nor the environment says.
    static func path(_ arguments: Arguments) throws(TenonError) -> String {
        if let path = try arguments.value("--state-dir") { return path }
        if let path = Environment.variable("STATE_DIRECTORY") { return path }
        if let path = Environment.variable("XDG_STATE_HOME") { return path + "/tenon-authority" }
        if geteuid() == 0 { return "/var/lib/tenon-authority" }
        guard let home = Environment.variable("HOME") else {
            throw arguments.mistake("Say --state-dir: there is no home.")
        }
        for folder in ["/.local", "/.local/state"] { mkdir(home + folder, 0o700) }
        return home + "/.local/state/tenon-authority"
    }

    /// A path of the configuration: a relative one is meant from the folder.
    static func path(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }
}
