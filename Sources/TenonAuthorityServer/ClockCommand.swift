// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority
internal import TenonCommandLine

/// `tenon-authority clock reset`: forgets the time that was kept, when it was wrong.
enum ClockCommand {
    static func reset(_ arguments: Arguments) throws(TenonError) {
        let folder = try AuthorityFolder(try FolderChoice.path(arguments))
        let now = SystemClock().now()
        let kept = try KeptTime.reset(in: folder, at: now)
        let (before, after) = (CivilDate.iso8601(kept / 1_000), CivilDate.iso8601(now.seconds))
        Output.line(
            kept > now.wall
                ? "The store had seen \(before), and begins with \(after) now."
                : "The store had seen \(before), which is not after \(after): its time stays.")
    }
}
