/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_ROCA_H
#define TENONI_ROCA_H

#include "base/reader.h"

/* Whether an RSA modulus has the pattern of CVE-2017-15361: its factors can then be found. */
bool tenoni_roca_matches(tenoni_reader modulus);

#endif
