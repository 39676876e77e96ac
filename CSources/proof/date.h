/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_DATE_H
#define TENONI_DATE_H

#include "base/bytes.h"

/* The dates that a certificate may have, in Unix seconds: 1950-01-01 00:00:00 to 9999-12-31 23:59:59. */
#define TENONI_DATE_MIN INT64_C(-631152000)
#define TENONI_DATE_MAX INT64_C(253402300799)

/*
 * Reads a Time of RFC 5280 (4.1.2.5) as Unix seconds: YYMMDDHHMMSSZ as UTCTime or YYYYMMDDHHMMSSZ as GeneralizedTime, a
 * day of the calendar. GeneralizedTime is taken for the years before 2050 as well: makers have written it.
 */
bool tenoni_date_read(tenoni_reader *reader, int64_t *out);

/* Writes a date between the two above, as RFC 5280 wants it. */
void tenoni_date_write(tenoni_writer *writer, int64_t seconds);

#endif
