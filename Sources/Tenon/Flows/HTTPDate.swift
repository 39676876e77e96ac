// SPDX-License-Identifier: Apache-2.0

/// The date of an HTTP header in its one form that is still made (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Unix seconds; nil for any other form.
    static func seconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].utf8.count == 4, words[0].hasSuffix(","), words[5] == "GMT",
            let day = number(words[1], digits: 2), let month = months.firstIndex(of: String(words[2])),
            let year = number(words[3], digits: 4)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], digits: 2), let minute = number(clock[1], digits: 2),
            let second = number(clock[2], digits: 2), 1...31 ~= day, hour < 24, minute < 60, second <= 60, year >= 1970
        else { return nil }
        return days(year, month + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int64(text)
    }

    /// Days since 1970 in the Gregorian calendar, counted in years that begin in March.
    private static func days(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let monthFromMarch = Int64((month + 9) % 12)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let leapDays = year / 4 - year / 100 + year / 400
        return 365 * year + leapDays + dayOfYear - 719_468
    }
}
