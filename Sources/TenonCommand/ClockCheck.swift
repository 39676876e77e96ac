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
        guard isKept else {
            return .note(
                "clock", "\(Text.date(Int64(now))), and the kernel knows of nothing that keeps it: 300 s are too much",
                mend: "Have it kept: sudo timedatectl set-ntp true")
        }
        return .good("clock", Text.date(Int64(now)))
    }

    /// What adjtimex(2) answers, for which Swift has no type: a `struct timex` of zeros asks, and sets nothing.
    private static var isKept: Bool {
        typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Int32
        let unsynchronised: Int32 = 5
        guard let address = dlsym(nil, "adjtimex") else { return true }
        let ask = unsafeBitCast(address, to: Function.self)
        var state = [Int64](repeating: 0, count: 64)
        return state.withUnsafeMutableBytes { ask($0.baseAddress) } != unsynchronised
    }
}
