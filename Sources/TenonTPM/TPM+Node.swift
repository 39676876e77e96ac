// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

extension TenonError {
    /// The same, with the node that could not be opened, and the group that may open it.
    func opening(_ name: String) -> TenonError {
        let device = "device:"
        guard name.hasPrefix(device), [.tpmMissing, .tpmPermission, .tpmBusy].contains(code) else { return self }
        let node = String(name.dropFirst(device.count))
        let group = code == .tpmPermission ? groupName(of: node).map { "; its group is \($0)" } ?? "" : ""
        return TenonError(code, message: "\(message) [\(node)\(group)]")
    }
}

/// The name of the group that a file belongs to, or its number.
private func groupName(of path: String) -> String? {
    var file = stat()
    guard stat(path, &file) == 0 else { return nil }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        guard getgrgid_r(file.st_gid, &entry, buffer.baseAddress, buffer.count, &found) == 0, found != nil else {
            return String(file.st_gid)
        }
        return String(cString: entry.gr_name)
    }
}
