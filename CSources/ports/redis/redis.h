/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_PORTS_REDIS_H
#define TENON_PORTS_REDIS_H

#include <hiredis/hiredis.h>

#endif
