/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_GROUP_H
#define TENONI_GROUP_H

#include "crypto/mbedtls.h"
#include "tenon/status.h"

/*
 * P-256 in mbedTLS's form, with the table of multiples of G, which 2.28 would otherwise make for each group at the
 * cost of a signature. Afterwards the group is read-only: mbedTLS writes a group's table only if it has none.
 */
tenon_status tenoni_group_load(mbedtls_ecp_group *group);

/* The same for P-384 and P-521. */
tenon_status tenoni_group_load_wide(mbedtls_ecp_group *group, mbedtls_ecp_group_id id);

/*
 * P-256 without a table: for a group that gets another base point, whose products a table of G would falsify. The
 * result is mbedTLS's.
 */
int tenoni_group_load_bare(mbedtls_ecp_group *group);

/* Makes a table for the group's own base point, by a first multiplication. mbedTLS frees it with the group. */
int tenoni_group_make_table(mbedtls_ecp_group *group);

/* The status of a failed call of mbedTLS: no memory, no randomness, or a failure that is a bug. */
tenon_status tenoni_group_failure(int error);

/* For mbedTLS's f_rng: getrandom, and a constant for operations on public values, where blinding hides nothing. */
int tenoni_group_random(void *context, unsigned char *out, size_t n);
int tenoni_group_no_random(void *context, unsigned char *out, size_t n);

#endif
