/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/date.h"

#include "base/der.h"

enum { UTC_FIRST = 1950, UTC_END = 2050, DAY = 86400 };

static bool read_digits(tenoni_reader *reader, int *out, size_t n)
{
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t digit;
        if (!tenoni_read_u8(reader, &digit) || digit < '0' || digit > '9')
            return false;
        *out = *out * 10 + digit - '0';
    }
    return true;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_of_month(int year, int month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* From 1970-01-01 to the first day of the year; year is 1950 or later, so no division is of a negative number. */
static int64_t days_before_year(int year)
{
    int past = year - 1;
    return INT64_C(365) * year + past / 4 - past / 100 + past / 400 - 719527;
}

static bool read_day(tenoni_reader *reader, int year, int64_t *days)
{
    int month, day;
    if (!read_digits(reader, &month, 2) || !read_digits(reader, &day, 2) || month < 1 || month > 12 || day < 1 ||
        day > days_of_month(year, month))
        return false;
    *days = days_before_year(year) + day - 1;
    for (int before = 1; before < month; before++)
        *days += days_of_month(year, before);
    return true;
}

static bool read_time(tenoni_reader *reader, int64_t *seconds)
{
    int hour, minute, second;
    if (!read_digits(reader, &hour, 2) || !read_digits(reader, &minute, 2) || !read_digits(reader, &second, 2) ||
        hour > 23 || minute > 59 || second > 59)
        return false;
    *seconds = (hour * 60 + minute) * 60 + second;
    return true;
}

bool tenoni_date_read(tenoni_reader *reader, int64_t *out)
{
    tenoni_reader text;
    uint8_t tag, zone;
    int year;
    int64_t days, seconds;
    if (tenoni_der_read_any(reader, &tag, &text) != TENON_OK ||
        (tag != TENONI_DER_UTC_TIME && tag != TENONI_DER_GENERALIZED_TIME) ||
        !read_digits(&text, &year, tag == TENONI_DER_UTC_TIME ? 2 : 4))
        return false;
    if (tag == TENONI_DER_UTC_TIME)
        year += year < UTC_FIRST % 100 ? 2000 : 1900;
    if (year < UTC_FIRST || !read_day(&text, year, &days) || !read_time(&text, &seconds) ||
        !tenoni_read_u8(&text, &zone) || zone != 'Z' || text.left != 0)
        return false;
    *out = days * DAY + seconds;
    return true;
}

static void write_two(tenoni_writer *writer, int number)
{
    tenoni_write_u8(writer, (uint8_t)('0' + number / 10));
    tenoni_write_u8(writer, (uint8_t)('0' + number % 10));
}

void tenoni_date_write(tenoni_writer *writer, int64_t seconds)
{
    int64_t days = (seconds - TENONI_DATE_MIN) / DAY + TENONI_DATE_MIN / DAY;
    int rest = (int)(seconds - days * DAY);
    int year = UTC_FIRST, month = 1;
    while (days_before_year(year + 1) <= days)
        year++;
    int day = (int)(days - days_before_year(year));
    for (; day >= days_of_month(year, month); month++)
        day -= days_of_month(year, month);
    bool general = year >= UTC_END;
    size_t begun = tenoni_der_begin(writer, general ? TENONI_DER_GENERALIZED_TIME : TENONI_DER_UTC_TIME);
    if (general)
        write_two(writer, year / 100);
    write_two(writer, year % 100);
    write_two(writer, month);
    write_two(writer, day + 1);
    write_two(writer, rest / 3600);
    write_two(writer, rest / 60 % 60);
    write_two(writer, rest % 60);
    tenoni_write_u8(writer, 'Z');
    tenoni_der_end(writer, begun);
}
