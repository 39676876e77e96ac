// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// The way to the TPM, before it is asked anything.
enum NodeCheck {
    static func finding(of name: String) -> Finding {
        guard name.hasPrefix("device:") else {
            return name.hasPrefix("tabrmd:")
                ? .good("node", "\(name), the resource manager's daemon")
                : .note("node", "\(name), a software TPM: whoever has its state has its keys", mend: hardware)
        }
        let node = String(name.dropFirst("device:".count))
        var file = stat()
        guard stat(node, &file) == 0 else { return absent(node, errno) }
        let owner = "\(node), group \(group(file.st_gid)), mode \(String(file.st_mode & 0o7777, radix: 8))"
        guard access(node, R_OK | W_OK) == 0 else {
            return .bad(
                "node", "\(owner): this user may not open it",
                mend: "Join the group, then log in again: sudo usermod -aG \(group(file.st_gid)) $USER", .permission)
        }
        guard !node.hasPrefix("/dev/tpm") || node.hasPrefix("/dev/tpmrm") else {
            return .note(
                "node", "\(owner): one process at a time, and three keys",
                mend: "Use the node that many may share: --tpm device:/dev/tpmrm0")
        }
        return .good("node", owner)
    }

    private static let hardware = "Use the machine's own where there is one: --tpm device:/dev/tpmrm0"

    private static func absent(_ node: String, _ number: Int32) -> Finding {
        let others = ["/dev/tpmrm0", "/dev/tpm0"].filter { (other: String) in other != node && access(other, F_OK) == 0
        }
        let mend =
            others.first.map { "There is another one: --tpm device:\($0)" }
            ?? "Enable the TPM in the firmware; or use a software TPM: --tpm swtpm:path=SOCKET"
        return .bad("node", "\(node): \(String(cString: strerror(number)))", mend: mend, .unavailable)
    }

    private static func group(_ number: gid_t) -> String {
        guard let entry = getgrgid(number) else { return String(number) }
        return String(cString: entry.pointee.gr_name)
    }
}
