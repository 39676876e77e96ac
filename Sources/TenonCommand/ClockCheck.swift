// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// The time: signatures carry it, and services take them for 300 s.
enum ClockCheck {
    /// 2026: there was no Tenon before.
    private static let earliest = 1_767_225_600

    static func finding() -> Finding {
        let now = time(nil)
        guard now >= earliest else {
            return .bad(
                "clock", "\(Text.date(Int64(now))) has long passed: no service takes what is signed now",
                mend: "Set it: sudo timedatectl set-ntp true", .rejected)
        }
        return .good("clock", Text.date(Int64(now)))
    }
}
