/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_PORTS_SQLITE_H
#define TENON_PORTS_SQLITE_H

#include <sqlite3.h>

#endif
