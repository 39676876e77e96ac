// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// Values as people read them.
enum Text {
    /// Of Unix seconds, in UTC.
    static func date(_ seconds: Int64) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        gmtime_r(&moment, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M UTC", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func of(_ status: IdentityStatus) -> String {
        status.reason.map { "\(status.state.rawValue), \($0.rawValue)" } ?? status.state.rawValue
    }
}
