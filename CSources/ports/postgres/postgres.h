/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_PORTS_POSTGRES_H
#define TENON_PORTS_POSTGRES_H

#include <postgresql/libpq-fe.h>

/* A character there, which Swift would not take for an int. */
enum { tenon_postgres_sqlstate = PG_DIAG_SQLSTATE };

#endif
