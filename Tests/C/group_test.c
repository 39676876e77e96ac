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
 * Our table of G is what mbedTLS 2.28 makes of a group that has none, with the first multiplication. From 3.6 on a
 * group has the library's own from the beginning, and keeps it.
 */
static void check_table(mbedtls_ecp_group_id id, size_t size)
{
    mbedtls_ecp_group plain, loaded;
    mbedtls_ecp_point unused;
    mbedtls_mpi three;
    mbedtls_ecp_group_init(&plain);
    mbedtls_ecp_point_init(&unused);
    mbedtls_mpi_init(&three);
    CHECK_NUMBER(mbedtls_ecp_group_load(&plain, id), 0);
    CHECK(size == 0 || (plain.T != NULL) == TENONI_MBEDTLS_HAS_TABLES);
    CHECK_NUMBER(mbedtls_mpi_lset(&three, 3), 0);
    CHECK_NUMBER(mbedtls_ecp_mul(&plain, &unused, &three, &plain.G, tenoni_group_random, NULL), 0);
    CHECK_OK(id == MBEDTLS_ECP_DP_SECP256R1 ? tenoni_group_load(&loaded) : tenoni_group_load_wide(&loaded, id));
    if (size != 0)
        CHECK_NUMBER(plain.T_size, TENONI_MBEDTLS_HAS_TABLES ? 0 : size);
    CHECK_NUMBER(loaded.T_size, plain.T_size);
    CHECK((loaded.T == plain.T) == TENONI_MBEDTLS_HAS_TABLES);
    for (size_t i = 0; i < loaded.T_size && i < plain.T_size; i++) {
        test_about("curve %d, point %zu", (int)id, i);
        check_number(&loaded.T[i].X, &plain.T[i].X);
        check_number(&loaded.T[i].Y, &plain.T[i].Y);
    }
    check_number(&loaded.T[0].X, &loaded.G.X);
    mbedtls_mpi_free(&three);
    mbedtls_ecp_point_free(&unused);
    mbedtls_ecp_group_free(&loaded);
    mbedtls_ecp_group_free(&plain);
}

TEST(group_tables_are_the_library_s)
{
    check_table(MBEDTLS_ECP_DP_SECP256R1, 8);
    check_table(MBEDTLS_ECP_DP_SECP384R1, 0);
    check_table(MBEDTLS_ECP_DP_SECP521R1, 0);
}

TEST(group_multiplies_like_the_library_s)
{
    size_t rounds = test_rounds(50, 5);
    uint64_t state = 13;
    mbedtls_ecp_group plain, loaded;
    mbedtls_ecp_point left, right;
    mbedtls_mpi scalar;
    mbedtls_ecp_group_init(&plain);
    mbedtls_ecp_point_init(&left);
    mbedtls_ecp_point_init(&right);
    mbedtls_mpi_init(&scalar);
    CHECK_NUMBER(mbedtls_ecp_group_load(&plain, MBEDTLS_ECP_DP_SECP256R1), 0);
    CHECK_OK(tenoni_group_load(&loaded));
    for (size_t i = 0; i < rounds; i++) {
        uint8_t bytes[32];
        test_random_fill(&state, bytes, sizeof bytes);
        bytes[0] &= 0x7f;
        CHECK_NUMBER(mbedtls_mpi_read_binary(&scalar, bytes, sizeof bytes), 0);
        CHECK_NUMBER(mbedtls_ecp_mul(&plain, &left, &scalar, &plain.G, tenoni_group_random, NULL), 0);
        CHECK_NUMBER(mbedtls_ecp_mul(&loaded, &right, &scalar, &loaded.G, tenoni_group_no_random, NULL), 0);
        check_number(&right.X, &left.X);
        check_number(&right.Y, &left.Y);
    }
    mbedtls_mpi_free(&scalar);
    mbedtls_ecp_point_free(&right);
    mbedtls_ecp_point_free(&left);
    mbedtls_ecp_group_free(&loaded);
    mbedtls_ecp_group_free(&plain);
}

TEST(group_failures_are_named)
{
    CHECK_STATUS(tenoni_group_failure(MBEDTLS_ERR_MPI_ALLOC_FAILED), TENON_ERROR_MEMORY);
    CHECK_STATUS(tenoni_group_failure(MBEDTLS_ERR_ECP_ALLOC_FAILED), TENON_ERROR_MEMORY);
    CHECK_STATUS(tenoni_group_failure(MBEDTLS_ERR_ECP_BAD_INPUT_DATA), TENON_ERROR_CRYPTO);
}
