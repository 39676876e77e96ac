// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

extension TenonError {
    /// The same, with the node that could not be opened, and the group that may open it, or how long it was waited for.
    func opening(_ name: String, waiting: Duration = .seconds(2)) -> TenonError {
        let device = "device:"
        guard name.hasPrefix(device), [.tpmMissing, .tpmPermission, .tpmBusy].contains(code) else { return self }
        let node = String(name.dropFirst(device.count))
        let more =
            switch code {
            case .tpmPermission: groupName(of: node).map { "; its group is \($0)" } ?? ""
            case .tpmBusy: "; waited for \(waiting)"
            default: ""
            }
        return TenonError(code, message: "\(message) [\(node)\(more)]")
    }
}

extension TenonError {
    /// TPM 2.0 Part 2, 6.6.3: OBJECT_MEMORY, SESSION_MEMORY, MEMORY, SESSION_HANDLES, OBJECT_HANDLES.
    var lacksRoom: Bool { code.category == .transient && tpmCode.map { 0x902...0x906 ~= $0 & 0xffff } == true }

    /// The same, with what takes the room.
    func naming(_ handles: [UInt32]) -> TenonError {
        guard !handles.isEmpty else { return self }
        let names = handles.map { "0x" + String($0, radix: 16) }.joined(separator: " ")
        let isOne = handles.count == 1
        return TenonError(
            code,
            message: "The TPM has no room: \(names) \(isOne ? "is" : "are") loaded there, and not by this program.")
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
