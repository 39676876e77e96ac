/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_PORTS_POSTGRES_H
#define TENON_PORTS_POSTGRES_H

#include <postgresql/libpq-fe.h>

/* They are characters in libpq's header, which Swift does not import as an int. */
enum {
    tenon_postgres_sqlstate = PG_DIAG_SQLSTATE,
    tenon_postgres_primary = PG_DIAG_MESSAGE_PRIMARY,
    tenon_postgres_severity = PG_DIAG_SEVERITY_NONLOCALIZED
};

#endif
