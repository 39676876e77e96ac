// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine

/// Checks the way to the TPM: for the doctor, before it asks the TPM anything, and for every verb, when the TPM cannot
/// be opened.
enum NodeCheck {
    /// Why a TPM cannot be reached.
    private struct Obstacle {
        let text: String
        let mend: String
        var code = TenonError.Code.tpmMissing
    }

    static func finding(of name: String) -> CheckResult {
        if let found = obstacle(on: name) { return .bad("node", found.text, mend: found.mend, found.code.category) }
        if name.hasPrefix("tabrmd:") { return .good("node", "\(name), the resource manager's daemon") }
        guard let node = path(in: name, "device:") else {
            return .note("node", "\(name), a software TPM: anyone who has its state has its keys", mend: hardware)
        }
        var file = stat()
        stat(node, &file)
        guard !node.hasPrefix("/dev/tpm") || node.hasPrefix("/dev/tpmrm") else {
            return .note(
                "node", "\(owner(node, file)): only one process at a time, with three keys",
                mend: "Use the node that programs can share: --tpm device:/dev/tpmrm0")
        }
        return .good("node", owner(node, file))
    }

    /// The error of a TPM that could not be opened, replaced by a more precise one if the reason can be seen.
    static func explained(_ error: TenonError, _ name: String) -> TenonError {
        guard [.tpmMissing, .tpmPermission].contains(error.code), error.mend == nil else { return error }
        guard let found = obstacle(on: name) ?? silence(of: name) else { return error }
        return TenonError(found.code, message: found.text, mend: found.mend)
    }

    private static let hardware = "If this machine has a TPM, use it: --tpm device:/dev/tpmrm0"

    /// Looks for an obstacle without connecting, as a software TPM may end with its first connection.
    private static func obstacle(on name: String) -> Obstacle? {
        if let node = path(in: name, "device:") { return obstacle(atNode: node) }
        if let socket = path(in: name, "swtpm:path=") {
            return [socket, socket + ".ctrl"].lazy.compactMap { obstacle(atSocket: $0, of: socket) }.first
        }
        return name.hasPrefix("tabrmd:") ? obstacle(atBus: bus) : nil
    }

    private static func obstacle(atNode node: String) -> Obstacle? {
        var file = stat()
        guard stat(node, &file) == 0 else {
            let number = errno
            let why = "\(node): \(String(cString: strerror(number)))"
            guard number != EACCES else {
                return Obstacle(
                    text: why, mend: "Run as a user that can enter its folder, or use another node: --tpm device:NODE",
                    code: .tpmPermission)
            }
            return Obstacle(text: why, mend: other(than: node))
        }
        guard file.st_mode & S_IFMT == S_IFCHR else {
            return Obstacle(text: "\(node) is not a device", mend: other(than: node))
        }
        guard access(node, R_OK | W_OK) == 0 else {
            return Obstacle(
                text: "\(owner(node, file)): this user may not open it",
                mend: isOfGroup(file)
                    ? "Join the group, then log in again: sudo usermod -aG \(group(file.st_gid)) $USER"
                    : "Give it to a group and join that: sudo chgrp tss \(node); sudo chmod 660 \(node);"
                        + " sudo usermod -aG tss $USER",
                code: .tpmPermission)
        }
        return nil
    }

    /// Whether the mode lets the group use the node.
    private static func isOfGroup(_ file: stat) -> Bool { file.st_mode & 0o60 == 0o60 }

    private static func other(than node: String) -> String {
        let others = ["/dev/tpmrm0", "/dev/tpm0"].filter { (other: String) in
            other != node && access(other, F_OK) == 0
        }
        return others.first.map { "Use the other one: --tpm device:\($0)" }
            ?? "Enable the TPM in the firmware, or try a software TPM (see tenon --help): --tpm swtpm:path=SOCKET"
    }

    private static func obstacle(atSocket path: String, of socket: String) -> Obstacle? {
        var file = stat()
        if stat(path, &file) != 0 {
            let number = errno
            return number == EACCES
                ? locked(path) : Obstacle(text: "\(path): \(String(cString: strerror(number)))", mend: start(socket))
        }
        guard file.st_mode & S_IFMT == S_IFSOCK else {
            return Obstacle(
                text: "\(path) is not a socket", mend: "Give the socket of a software TPM: --tpm swtpm:path=SOCKET")
        }
        return access(path, R_OK | W_OK) == 0 ? nil : locked(path)
    }

    private static func locked(_ path: String) -> Obstacle {
        Obstacle(
            text: "\(path): this user may not connect to it",
            mend: "Run as the user of the software TPM, or start your own: --tpm swtpm:path=SOCKET",
            code: .tpmPermission)
    }

    private static func start(_ socket: String) -> String {
        "Start it: swtpm socket --tpm2 --tpmstate dir=$PWD/DIR --flags not-need-init,startup-clear --daemon"
            + " --server type=unixio,path=\(socket) --ctrl type=unixio,path=\(socket).ctrl"
    }

    /// The path of the system bus, if it is a socket in a folder.
    private static var bus: String? {
        guard let address = Environment.variable("DBUS_SYSTEM_BUS_ADDRESS") else {
            return "/run/dbus/system_bus_socket"
        }
        return path(in: address, "unix:path=")
    }

    private static func obstacle(atBus bus: String?) -> Obstacle? {
        guard let bus, access(bus, R_OK | W_OK) != 0 else { return nil }
        let number = errno
        let text = "\(bus), the system's bus: \(String(cString: strerror(number)))"
        guard number != EACCES else {
            return Obstacle(
                text: text, mend: "Run as a user that can use the bus, or use the node: --tpm device:/dev/tpmrm0",
                code: .tpmPermission)
        }
        return Obstacle(text: text, mend: "Start it: sudo systemctl start dbus tpm2-abrmd")
    }

    /// The reason when everything looks right and still no TPM answered.
    private static func silence(of name: String) -> Obstacle? {
        if name.hasPrefix("tabrmd:") {
            return Obstacle(
                text: "The resource manager's daemon does not answer at \(name)",
                mend: "Install and start it: sudo apt install tpm2-abrmd libtss2-tcti-tabrmd0;"
                    + " sudo systemctl start tpm2-abrmd; its users are in the group tss")
        }
        if let socket = path(in: name, "swtpm:path=") {
            return Obstacle(text: "Nobody answers at \(socket), or another program is connected", mend: start(socket))
        }
        guard name.hasPrefix("swtpm:") || name.hasPrefix("mssim:") else { return nil }
        return Obstacle(
            text: "No software TPM answers at \(name)",
            mend: "Start it, or give its address: --tpm swtpm:host=HOST,port=PORT; its control port is the next one")
    }

    /// The path in a name that begins with `beginning`, without further options.
    private static func path(in name: String, _ beginning: String) -> String? {
        guard name.hasPrefix(beginning) else { return nil }
        let rest = name.dropFirst(beginning.count)
        return String(beginning == "device:" ? rest : rest.prefix { $0 != "," })
    }

    private static func owner(_ node: String, _ file: stat) -> String {
        "\(node), group \(group(file.st_gid)), mode \(String(file.st_mode & 0o7777, radix: 8))"
    }

    private static func group(_ number: gid_t) -> String {
        guard let entry = getgrgid(number) else { return String(number) }
        return String(cString: entry.pointee.gr_name)
    }
}
