/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/group.h"
#include "test.h"

enum { FIELD = 66 };

static void check_number(const mbedtls_mpi *found, const mbedtls_mpi *expected)
{
    uint8_t left[FIELD], right[FIELD];
    CHECK_NUMBER(mbedtls_mpi_write_binary(found, left, sizeof left), 0);
    CHECK_NUMBER(mbedtls_mpi_write_binary(expected, right, sizeof right), 0);
    CHECK_BYTES(left, right, sizeof left);
}

/*
 * Our table of G is what mbedTLS 2.28 makes of a group that has none, with the first multiplication. From 3.6 on the
 * group has the library's own.
 */
static void check_table(mbedtls_ecp_group_id id)
{
    mbedtls_ecp_group plain, loaded;
    mbedtls_ecp_point unused;
    mbedtls_mpi three;
    mbedtls_ecp_group_init(&plain);
    mbedtls_ecp_point_init(&unused);
    mbedtls_mpi_init(&three);
    CHECK_NUMBER(mbedtls_ecp_group_load(&plain, id), 0);
    CHECK_NUMBER(mbedtls_mpi_lset(&three, 3), 0);
    CHECK_NUMBER(mbedtls_ecp_mul(&plain, &unused, &three, &plain.G, tenoni_group_random, NULL), 0);
    CHECK_OK(tenoni_group_load_wide(&loaded, id));
    CHECK_NUMBER(loaded.T_size, plain.T_size);
    CHECK((loaded.T == plain.T) == TENONI_MBEDTLS_HAS_TABLES);
    for (size_t i = 0; i < loaded.T_size && i < plain.T_size; i++) {
        test_about("curve %d, point %zu", (int)id, i);
        check_number(&loaded.T[i].X, &plain.T[i].X);
        check_number(&loaded.T[i].Y, &plain.T[i].Y);
    }
    mbedtls_mpi_free(&three);
    mbedtls_ecp_point_free(&unused);
    mbedtls_ecp_group_free(&loaded);
    mbedtls_ecp_group_free(&plain);
}

TEST(wide_tables_are_the_library_s)
{
    check_table(MBEDTLS_ECP_DP_SECP384R1);
    check_table(MBEDTLS_ECP_DP_SECP521R1);
}
