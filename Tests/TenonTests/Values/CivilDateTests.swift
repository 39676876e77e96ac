// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct CivilDateTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2026-11-21T16:00:00Z", 1_795_276_800), ("2026-11-21t16:00:00z", 1_795_276_800),
        ("2026-11-21 16:00:00Z", 1_795_276_800), ("2026-11-21T17:30:00+01:30", 1_795_276_800),
        ("2026-11-21T14:30:00-01:30", 1_795_276_800), ("2026-11-21T14:30:00-0130", 1_795_276_800),
        ("2026-11-21T16:00:00-00:00", 1_795_276_800), ("2000-02-29T00:00:00Z", 951_782_400),
        ("2100-02-28T23:59:59Z", 4_107_542_399), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ("2016-12-31T23:59:60Z", 1_483_228_800),
    ])
    func iso8601(_ text: String, _ seconds: Int) { #expect(CivilDate.iso8601(text) == .seconds(seconds)) }

    /// Written and read again, over leap years and the ends of months.
    @Test func writtenAsItIsRead() {
        #expect(CivilDate.iso8601(1_795_276_504) == "2026-11-21T15:55:04Z")
        #expect(CivilDate.iso8601(951_782_399) == "2000-02-28T23:59:59Z")
        for seconds in stride(from: Int64(0), through: 253_402_300_799, by: 86_399 * 31) {
            #expect(CivilDate.iso8601(CivilDate.iso8601(seconds)) == .seconds(seconds))
        }
    }

    @Test(arguments: [
        (".5", 500_000_000), (".000000001", 1), (",25", 250_000_000), (".123456", 123_456_000),
        (".9999999999999999999999", 999_999_999),
    ])
    func fractions(_ text: String, _ nanoseconds: Int) {
        #expect(CivilDate.iso8601("1970-01-01T00:00:01\(text)Z") == .seconds(1) + .nanoseconds(nanoseconds))
    }

    @Test(arguments: [
        "", "Z", "2026", "2026-11-21", "2026-11-21T16:00:00", "2026-11-21T16:00Z", "2026-11-21T16:00:00.Z",
        "2026-11-21T16:00:00Zx", "2026-11-21T16:00:00 Z", " 2026-11-21T16:00:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
        "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z",
        "1969-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "20261121T160000Z", "2026-1-1T0:0:0Z", "+2026-11-21T16:00:00Z",
        "2026-11-21T16:00:00+1", "2026-11-21T16:00:00+24:00", "2026-11-21T16:00:00+01:60", "2026-11-21T16:00:00+01",
        "２０２６-11-21T16:00:00Z", "2026-11-21T16:00:00.5", "-026-11-21T16:00:00Z", "1795276800",
    ])
    func noISO8601(_ text: String) { #expect(CivilDate.iso8601(text) == nil) }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sat, 21 Nov 2026 16:00:00 GMT", 1_795_276_800), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
    ])
    func http(_ text: String, _ seconds: Int) { #expect(CivilDate.http(text) == .seconds(seconds)) }

    @Test(arguments: [
        "", "Sat, 21 Nov 2026 16:00:00", "Sun, 21 Nov 2026 16:00:00 GMT", "Sat, 21 nov 2026 16:00:00 GMT",
        "Sat, 21 Nov 2026 16:00:00 UTC", "Sat 21 Nov 2026 16:00:00 GMT", "Sat, 1 Nov 2026 16:00:00 GMT",
        "Sat, 21  Nov 2026 16:00:00 GMT", "Sat, 31 Nov 2026 16:00:00 GMT", "Sat, 21 Nov 26 16:00:00 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sat, 21 Nov 2026 16:00:00.5 GMT",
        "Sat, 21 Nov 2026 24:00:00 GMT", "Sat, 21 Nov 2026 16:00 GMT", "Sat, 21 Nov 2026 16:00:00 GMT ",
        "Wed, 31 Dec 1969 23:59:59 GMT",
    ])
    func noHTTPDate(_ text: String) { #expect(CivilDate.http(text) == nil) }

    /// Over four hundred years, each day is one day after the one before.
    @Test func theCalendarHasNoHoles() {
        var expected = 0
        for year in 1970..<2370 {
            for month in 1...12 {
                for day in 1...31 {
                    let text = "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)T00:00:00Z"
                    guard let date = CivilDate.iso8601(text) else { continue }
                    if date == .seconds(expected) { expected += 86_400 }
                }
            }
        }
        #expect(expected == 146_097 * 86_400)
    }
}
