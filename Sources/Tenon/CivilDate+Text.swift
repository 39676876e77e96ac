// SPDX-License-Identifier: Apache-2.0

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
