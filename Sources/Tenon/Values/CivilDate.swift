// SPDX-License-Identifier: Apache-2.0

/// A date as it is written, read strictly: no date that the calendar does not have, no guess of a zone.
package enum CivilDate {
    /// ISO 8601 as RFC 3339 has it: `2026-09-01T10:20:30Z`, with a fraction of a second or without, with an offset or
    /// `Z`. A text without a zone is not accepted.
    package static func iso8601(_ text: String) -> Duration? {
        var reader = Reader(text)
        guard let date = reader.date(), reader.skip("Tt "), let time = reader.time() else { return nil }
        guard let fraction = reader.fraction(), let zone = reader.zone(), reader.isAtEnd else { return nil }
        return .seconds(date + time - zone) + .nanoseconds(fraction)
    }

    /// IMF-fixdate (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that is sent.
    package static func http(_ text: String) -> Duration? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[5] == "GMT", words[1].utf8.count == 2, words[3].utf8.count == 4 else {
            return nil
        }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let days = ["Thu,", "Fri,", "Sat,", "Sun,", "Mon,", "Tue,", "Wed,"]
        guard let month = months.firstIndex(where: { $0 == words[2] }) else { return nil }
        var date = Reader(words[1] + words[3])
        guard let day = date.number(2), let year = date.number(4) else { return nil }
        var clock = Reader(words[4])
        guard let time = clock.time(), clock.isAtEnd,
            let midnight = midnight(year: year, month: Int64(month) + 1, day: day)
        else { return nil }
        // 1970 began on a Thursday.
        guard days[Int(midnight / 86_400 % 7)] == words[0] else { return nil }
        return .seconds(midnight + time)
    }

    /// Seconds from 1970 to the beginning of a day; nil before 1970, and for a day that no month has.
    private static func midnight(year: Int64, month: Int64, day: Int64) -> Int64? {
        guard 1970...9999 ~= year, 1...12 ~= month else { return nil }
        let leaps = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, leaps ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard 1...lengths[Int(month) - 1] ~= day else { return nil }
        let before = year - 1
        let days = before * 365 + before / 4 - before / 100 + before / 400 - 719_162
        return (days + lengths.prefix(Int(month) - 1).reduce(0, +) + day - 1) * 86_400
    }

    private struct Reader {
        private var rest: Substring.UTF8View

        init(_ text: some StringProtocol) { rest = Substring(text).utf8 }

        var isAtEnd: Bool { rest.isEmpty }

        /// So many digits.
        mutating func number(_ count: Int) -> Int64? {
            let digits = rest.prefix(count)
            guard digits.count == count, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
            rest = rest.dropFirst(count)
            return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        mutating func skip(_ any: StaticString) -> Bool {
            guard let first = rest.first, any.description.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func date() -> Int64? {
            guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2) else {
                return nil
            }
            return CivilDate.midnight(year: year, month: month, day: day)
        }

        /// A leap second is the first one of the next minute, as it is for Unix.
        mutating func time() -> Int64? {
            guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
                hour < 24, minute < 60, second <= 60
            else { return nil }
            return hour * 3600 + minute * 60 + second
        }

        /// Nanoseconds; what is finer is cut off.
        mutating func fraction() -> Int64? {
            guard skip(".,") else { return 0 }
            let digits = rest.prefix { 0x30...0x39 ~= $0 }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            let nine = digits.prefix(9) + Array(repeating: 0x30, count: max(0, 9 - digits.count))
            return nine.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// Seconds east of Greenwich.
        mutating func zone() -> Int64? {
            if skip("Zz") { return 0 }
            let isWest = rest.first == UInt8(ascii: "-")
            guard skip("+-"), let hour = number(2), hour < 24 else { return nil }
            _ = skip(":")
            guard let minute = number(2), minute < 60 else { return nil }
            return (isWest ? -1 : 1) * (hour * 3600 + minute * 60)
        }
    }
}

extension CivilDate {
    /// Unix seconds as ISO 8601 has them, UTC: `2026-11-21T15:55:04Z`.
    package static func iso8601(_ seconds: Int64) -> String {
        let days = floorDivide(seconds, 86_400)
        let time = seconds - days * 86_400
        // Years that begin in March put the leap day at their end; 719,468 days lie between 0000-03-01 and 1970.
        let era = floorDivide(days + 719_468, 146_097)
        let dayOfEra = days + 719_468 - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = [padded(year, 4), padded(month, 2), padded(day, 2)].joined(separator: "-")
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(clock)Z"
    }

    private static func floorDivide(_ left: Int64, _ right: Int64) -> Int64 {
        left / right - (left % right < 0 ? 1 : 0)
    }

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
