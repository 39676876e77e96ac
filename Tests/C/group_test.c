/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/group.h"

#include "test.h"

static void check_coordinate(const char *which, const mbedtls_mpi *found, const mbedtls_mpi *expected)
{
    uint8_t left[32], right[32];
    test_about("%s", which);
    CHECK_NUMBER(mbedtls_mpi_write_binary(found, left, sizeof left), 0);
    CHECK_NUMBER(mbedtls_mpi_write_binary(expected, right, sizeof right), 0);
    CHECK_BYTES(left, right, sizeof left);
}

/*
 * Our table of G is what mbedTLS 2.28 makes of a group that has none, with the first multiplication. From 3.6 on a
 * group has the library's own from the beginning, and keeps it.
 */
TEST(group_table_is_the_library_s)
{
    mbedtls_ecp_group plain, loaded;
    mbedtls_ecp_point unused;
    mbedtls_mpi one;
    mbedtls_ecp_group_init(&plain);
    mbedtls_ecp_point_init(&unused);
    mbedtls_mpi_init(&one);
    CHECK_NUMBER(mbedtls_ecp_group_load(&plain, MBEDTLS_ECP_DP_SECP256R1), 0);
    CHECK((plain.T != NULL) == TENONI_MBEDTLS_HAS_TABLES);
    CHECK_NUMBER(mbedtls_mpi_lset(&one, 1), 0);
    CHECK_NUMBER(mbedtls_ecp_mul(&plain, &unused, &one, &plain.G, tenoni_group_random, NULL), 0);
    CHECK_OK(tenoni_group_load(&loaded));
    CHECK_NUMBER(plain.T_size, TENONI_MBEDTLS_HAS_TABLES ? 0 : 8);
    CHECK_NUMBER(loaded.T_size, plain.T_size);
    CHECK((loaded.T == plain.T) == TENONI_MBEDTLS_HAS_TABLES);
    for (size_t i = 0; i < loaded.T_size && i < plain.T_size; i++) {
        check_coordinate("X", &loaded.T[i].X, &plain.T[i].X);
        check_coordinate("Y", &loaded.T[i].Y, &plain.T[i].Y);
    }
    check_coordinate("G", &loaded.T[0].X, &loaded.G.X);
    mbedtls_mpi_free(&one);
    mbedtls_ecp_point_free(&unused);
    mbedtls_ecp_group_free(&loaded);
    mbedtls_ecp_group_free(&plain);
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
        check_coordinate("product", &right.X, &left.X);
        check_coordinate("product", &right.Y, &left.Y);
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
