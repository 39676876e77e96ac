/* SPDX-License-Identifier: Apache-2.0 */

#include "batch_rig.h"

/* ---- Tests/Vectors/batch.txt: trees ---- */

static void check_path(const tenon_batch *batch, const tenon_digest *root, const char *value)
{
    char *rest;
    const size_t index = strtoul(value, &rest, 10);
    size_t n;
    OWNED uint8_t *path = test_hex_all(rest + strspn(rest, " "), &n);
    uint8_t bytes[TENONI_MEMBER_MAX];
    tenon_signed2 signed2;
    tenon_root found;
    tenon_digest digest;
    test_about("index %zu", index);
    CHECK_NUMBER(tenoni_batch_member(batch, bytes, index), TENONI_MEMBER_MIN + n);
    CHECK_BYTES(bytes + TENONI_MEMBER_MIN, path, n);
    batch_rig_member(batch, &signed2, index);
    batch_rig_digest(&digest, index);
    CHECK_OK(tenon_signed2_root(&signed2, &found, &digest));
    CHECK_BYTES(&found.root, root, sizeof *root);
}

static void check_tree(batch_rig *rig, char **text, size_t size)
{
    uint8_t bytes[TENONI_MEMBER_MAX], expected[TENONI_MEMBER_MAX];
    tenon_digest root, statement, found;
    char *name, *value;
    size_t n;
    batch_rig_fill(rig, size);
    CHECK_OK(tenon_key_sign_batch(rig->key, rig->batch));
    while (test_line(text, &name, &value) && strcmp(name, "Value") != 0) {
        if (strcmp(name, "Root") == 0)
            test_hex(&root, sizeof root, value);
        else if (strcmp(name, "Statement") == 0)
            test_hex(&statement, sizeof statement, value);
        else
            check_path(rig->batch, &root, value);
    }
    CHECK_OK(tenoni_batch_statement(&found, &rig->thumbprint, size, &root));
    CHECK_BYTES(&found, &statement, sizeof found);
    CHECK_OK(tenon_base64_decode(expected, sizeof expected, &n, value, strlen(value)));
    CHECK_SAME(bytes, tenoni_batch_member(rig->batch, bytes, size - 1), expected, n);
}

TEST_BATCH(batch_vectors_of_trees)
{
    char *text = test_vectors("batch.txt"), *at = text, *name, *value;
    size_t trees = 0;
    while (test_line(&at, &name, &value) && strcmp(name, "[request]") != 0) {
        if (strcmp(name, "Size") != 0)
            continue;
        test_about("size %s", value);
        check_tree(rig, &at, strtoul(value, NULL, 10));
        trees++;
    }
    CHECK_NUMBER(trees, 15);
    free(text);
}

/* RFC 9162, 2.1.5: the paths in a tree of seven leaves, by the names that it gives to the nodes. */
TEST_BATCH(batch_tree_of_rfc_9162)
{
    static const struct {
        size_t index, steps;
    } paths[] = {{0, 3}, {3, 3}, {4, 3}, {6, 2}};
    tenon_digest leaf[7], g, h, i, k, l, digest;
    uint8_t bytes[TENONI_MEMBER_MAX];
    batch_rig_fill(rig, 7);
    CHECK_OK(tenon_key_sign_batch(rig->key, rig->batch));
    for (size_t n = 0; n < COUNT(leaf); n++) {
        batch_rig_digest(&digest, n);
        CHECK_OK(tenoni_leaf(&leaf[n], &digest));
    }
    CHECK_OK(tenoni_node(&g, &leaf[0], &leaf[1]));
    CHECK_OK(tenoni_node(&h, &leaf[2], &leaf[3]));
    CHECK_OK(tenoni_node(&i, &leaf[4], &leaf[5]));
    CHECK_OK(tenoni_node(&k, &g, &h));
    CHECK_OK(tenoni_node(&l, &i, &leaf[6]));
    const tenon_digest *expected[][3] = {
        {&leaf[1], &h, &l}, {&leaf[2], &g, &l}, {&leaf[5], &leaf[6], &k}, {&i, &k, NULL}};
    for (size_t n = 0; n < COUNT(paths); n++) {
        test_about("path of leaf %zu", paths[n].index);
        CHECK_NUMBER(tenoni_batch_member(rig->batch, bytes, paths[n].index),
                     TENONI_MEMBER_MIN + paths[n].steps * TENON_DIGEST_SIZE);
        for (size_t step = 0; step < paths[n].steps; step++)
            CHECK_BYTES(bytes + TENONI_MEMBER_MIN + step * TENON_DIGEST_SIZE, expected[n][step], TENON_DIGEST_SIZE);
    }
}

/* Each member of each batch up to 39, and of one of 1,024, is accepted; and no index of another size fits its path. */
TEST_BATCH(batch_every_member_verifies)
{
    const size_t up_to = test_rounds(39, 9);
    for (size_t size = 1; size <= up_to; size++) {
        batch_rig_fill(rig, size);
        CHECK_OK(tenon_key_sign_batch(rig->key, rig->batch));
        for (size_t index = 0; index < size; index++) {
            tenon_signed2 signed2;
            tenon_root root, other;
            tenon_digest digest;
            test_about("size %zu, index %zu", size, index);
            batch_rig_member(rig->batch, &signed2, index);
            batch_rig_digest(&digest, index);
            CHECK_OK(tenon_signed2_root(&signed2, &root, &digest));
            CHECK_OK(tenon_root_verify(rig->verifier, &root));
            for (uint32_t wrong = 0; wrong < size; wrong++) {
                if (wrong == index || tenoni_steps(size, wrong) != signed2.steps)
                    continue;
                signed2.index = wrong;
                CHECK_OK(tenon_signed2_root(&signed2, &other, &digest));
                CHECK(memcmp(&other.root, &root.root, sizeof root.root) != 0);
            }
        }
    }
}

/* ---- The states of a batch ---- */

TEST_BATCH(batch_of_too_many)
{
    tenon_batch *batch = NULL;
    size_t index;
    tenon_digest digest = {{0}};
    CHECK_STATUS(tenon_batch_new(&batch, &rig->public_key, 0), TENON_ERROR_BATCH_SIZE);
    CHECK_STATUS(tenon_batch_new(&batch, &rig->public_key, TENON_BATCH_MAX + 1), TENON_ERROR_BATCH_SIZE);
    CHECK(batch == NULL);
    CHECK_OK(tenon_batch_new(&batch, &rig->public_key, 2));
    CHECK_OK(tenon_batch_add(batch, &index, &digest));
    CHECK_NUMBER(index, 0);
    CHECK_OK(tenon_batch_add(batch, &index, &digest));
    CHECK_NUMBER(index, 1);
    CHECK_STATUS(tenon_batch_add(batch, &index, &digest), TENON_ERROR_BATCH_FULL);
    tenon_batch_free(&batch);
    CHECK(batch == NULL);
    tenon_batch_free(&batch);
    tenon_batch_free(NULL);
}

TEST_BATCH(batch_states)
{
    char text[TENON_SIGNATURE_VALUE_MAX];
    tenon_digest digest = {{1}};
    size_t n, index;
    tenon_batch_clear(rig->batch);
    tenon_batch_clear(NULL);
    CHECK_STATUS(tenon_key_sign_batch(rig->key, rig->batch), TENON_ERROR_BATCH_STATE);
    CHECK_OK(tenon_batch_add(rig->batch, &index, &digest));
    CHECK_STATUS(tenon_batch_signature(rig->batch, text, sizeof text, &n, 0), TENON_ERROR_BATCH_STATE);
    CHECK_NUMBER(n, 0);
    CHECK_OK(tenon_key_sign_batch(rig->key, rig->batch));
    CHECK_STATUS(tenon_key_sign_batch(rig->key, rig->batch), TENON_ERROR_BATCH_STATE);
    CHECK_STATUS(tenon_batch_add(rig->batch, &index, &digest), TENON_ERROR_BATCH_STATE);
    CHECK_OK(tenon_batch_signature(rig->batch, text, sizeof text, &n, 0));
    CHECK_STATUS(tenon_batch_signature(rig->batch, text, sizeof text, &n, 1), TENON_ERROR_BATCH_INDEX);
    tenon_batch_clear(rig->batch);
    CHECK_STATUS(tenon_batch_signature(rig->batch, text, sizeof text, &n, 0), TENON_ERROR_BATCH_STATE);
}

TEST(batch_of_another_key)
{
    OWNED_KEY other = NULL;
    OWNED_BATCH rig = batch_rig_begin();
    batch_rig_fill(&rig, 3);
    CHECK_OK(tenon_software_key_generate(&other, 0));
    CHECK_STATUS(tenon_key_sign_batch(other, rig.batch), TENON_ERROR_KEYID);
    CHECK_OK(tenon_key_sign_batch(rig.key, rig.batch));
}

/* A key that failed leaves the batch as it was: nothing of it can be sent, and it may be signed again. */
TEST(batch_outlives_a_failure)
{
    char text[TENON_SIGNATURE_VALUE_MAX];
    OWNED_KEY key = NULL;
    size_t n;
    OWNED_BATCH rig = batch_rig_begin();
    rig.slow.status = TENON_ERROR_TPM_TRANSPORT;
    CHECK_OK(batch_rig_slow_key(&rig, &key));
    batch_rig_fill(&rig, 5);
    CHECK_STATUS(tenon_key_sign_batch(key, rig.batch), TENON_ERROR_TPM_TRANSPORT);
    CHECK_STATUS(tenon_batch_signature(rig.batch, text, sizeof text, &n, 2), TENON_ERROR_BATCH_STATE);
    rig.slow.status = TENON_OK;
    CHECK_OK(tenon_key_sign_batch(key, rig.batch));
    CHECK_NUMBER(rig.slow.commands, 2);
    CHECK_OK(tenon_batch_signature(rig.batch, text, sizeof text, &n, 2));
}

OUTPUT(write_member)
{
    const batch_rig *rig = input;
    return tenon_batch_signature(rig->batch, (char *)out, n, written, 4);
}

TEST_BATCH(batch_outputs)
{
    batch_rig_fill(rig, 5);
    CHECK_OK(tenon_key_sign_batch(rig->key, rig->batch));
    test_output_rule("member", write_member, rig, NULL, 7 + (TENONI_MEMBER_MIN + 32 + 2) / 3 * 4 + 1);
}

TEST_BATCH(batch_bad_arguments)
{
    char text[TENON_SIGNATURE_VALUE_MAX];
    tenon_digest digest = {{0}};
    size_t n;
    CHECK_STATUS(tenon_batch_new(NULL, &rig->public_key, 1), TENON_ERROR_NULL);
    tenon_batch *batch = rig->batch;
    CHECK_STATUS(tenon_batch_new(&batch, NULL, 1), TENON_ERROR_NULL);
    CHECK(batch == NULL);
    CHECK_STATUS(tenon_batch_add(NULL, &n, &digest), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_batch_add(rig->batch, NULL, &digest), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_batch_add(rig->batch, &n, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_batch(NULL, rig->batch), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_batch(rig->key, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_batch_signature(NULL, text, sizeof text, &n, 0), TENON_ERROR_NULL);
}

/* ---- Known roots ---- */

static tenon_root some_root(uint8_t number) { return (tenon_root){.root = {{number}}, .size = 2}; }

TEST(batch_roots_push_out_the_least_used)
{
    tenon_roots roots = {.uses = 0};
    tenon_root root = some_root(0);
    for (uint8_t i = 0; i < TENON_ROOTS; i++) {
        root = some_root(i);
        CHECK_NUMBER(tenon_roots_knows(&roots, &root), 0);
        tenon_roots_learn(&roots, &root);
        tenon_roots_learn(&roots, &root);
    }
    root = some_root(0);
    CHECK_NUMBER(tenon_roots_knows(&roots, &root), 1);
    root = some_root(TENON_ROOTS);
    tenon_roots_learn(&roots, &root);
    for (uint8_t i = 0; i <= TENON_ROOTS; i++) {
        root = some_root(i);
        test_about("root %d", i);
        CHECK_NUMBER(tenon_roots_knows(&roots, &root), i != 1);
    }
}

/* Whatever differs is another fact. */
TEST(batch_roots_compare_everything)
{
    tenon_roots roots = {.uses = 0};
    const tenon_root known = some_root(1);
    tenon_roots_learn(&roots, &known);
    tenon_root other = known;
    other.thumbprint.bytes[31] ^= 1;
    CHECK_NUMBER(tenon_roots_knows(&roots, &other), 0);
    other = known;
    other.root.bytes[0] ^= 1;
    CHECK_NUMBER(tenon_roots_knows(&roots, &other), 0);
    other = known;
    other.signature.bytes[63] ^= 1;
    CHECK_NUMBER(tenon_roots_knows(&roots, &other), 0);
    other = known;
    other.size = 3;
    CHECK_NUMBER(tenon_roots_knows(&roots, &other), 0);
    CHECK_NUMBER(tenon_roots_knows(&roots, &known), 1);
    CHECK_NUMBER(tenon_roots_knows(&roots, NULL), 0);
    CHECK_NUMBER(tenon_roots_knows(NULL, &known), 0);
    tenon_roots_learn(NULL, &known);
    tenon_roots_learn(&roots, NULL);
}

TEST(batch_roots_hold_no_plain_request)
{
    tenon_roots roots = {.uses = 0};
    tenon_root plain = some_root(1);
    plain.size = 0;
    tenon_roots_learn(&roots, &plain);
    CHECK_NUMBER(tenon_roots_knows(&roots, &plain), 0);
    CHECK_NUMBER(roots.uses, 0);
}
