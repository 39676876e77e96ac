// SPDX-License-Identifier: Apache-2.0
internal import Glibc

extension TenonError {
    /// What a failed system call means to whoever runs the device.
    init(errno: Int32, _ call: String, _ name: String) {
        let (code, mend): (Code, String) =
            switch errno {
            case ENOSPC, EDQUOT: (.stateFull, "There is no room for the state: make some on its disk.")
            case EROFS: (.stateReadOnly, "The state lies on a disk that may only be read: mount it for writing.")
            case EACCES, EPERM: (.statePermission, "The state may not be used: look at its owner and mode.")
            case ELOOP, ENOTDIR, EISDIR, ENXIO: (.stateKind, "The state holds something of a wrong kind, or a link.")
            case EMFILE, ENFILE, ENOLCK, EAGAIN: (.stateBusy, "Too much is open at this moment: try again.")
            case ENOMEM: (.memory, "There is no memory.")
            default: (.stateIO, "The state cannot be read or written: look at its disk.")
            }
        self.init(code, message: "\(mend) (\(call) \(name): errno \(errno))")
    }
}
