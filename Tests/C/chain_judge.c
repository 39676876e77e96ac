/* SPDX-License-Identifier: Apache-2.0 */
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "certificate_rig.h"

/*
 * OpenSSL's opinion on each chain of Tests/Vectors/certificates. A chain that we accept and OpenSSL refuses has to be
 * in openssl.txt with the reason, and each chain of that list has to be one still.
 */

static char *reasons;
static size_t both, refused_by_us, refused_by_openssl, listed;

static X509 *read_certificate(tenon_bytes der)
{
    const uint8_t *at = der.bytes;
    X509 *read = d2i_X509(NULL, &at, (long)der.n);
    if (read != NULL && at != der.bytes + der.n) {
        X509_free(read);
        read = NULL;
    }
    return read;
}

/* One that cannot be read is left out, as it is where OpenSSL's programs read a file of trusted certificates. */
static X509_STORE *store_of(const certificate_case *one)
{
    X509_STORE *store = X509_STORE_new();
    for (size_t i = 0; i < one->roots_count; i++) {
        X509 *root = read_certificate(one->roots[i]);
        if (root != NULL)
            X509_STORE_add_cert(store, root);
        X509_free(root);
    }
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    return store;
}

/* NULL when OpenSSL accepts the chain, else its words. */
static const char *verify(const certificate_case *one)
{
    const char *words = "it cannot be read";
    X509_STORE *store = store_of(one);
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    STACK_OF(X509) *between = sk_X509_new_null();
    X509 *leaf = one->count == 0 ? NULL : read_certificate(one->chain[0]);
    bool readable = leaf != NULL;
    for (size_t i = 1; i < one->count; i++) {
        X509 *read = read_certificate(one->chain[i]);
        readable = readable && read != NULL;
        if (read != NULL)
            sk_X509_push(between, read);
    }
    if (readable && X509_STORE_CTX_init(context, store, leaf, between) == 1) {
        X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context), one->now);
        words =
            X509_verify_cert(context) == 1 ? NULL : X509_verify_cert_error_string(X509_STORE_CTX_get_error(context));
    }
    X509_free(leaf);
    sk_X509_pop_free(between, X509_free);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    ERR_clear_error();
    return words;
}

/* Takes the line "NAME = REASON" out of the list. */
static bool take_reason(const char *wanted)
{
    for (char *line = reasons; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t n = strlen(wanted);
        if (strncmp(line, wanted, n) == 0 && strncmp(line + n, " = ", 3) == 0) {
            *line = '#';
            return true;
        }
    }
    return false;
}

static void compare(const certificate_case *one)
{
    tenoni_certificate leaf;
    bool ours = tenoni_chain_verify(&leaf, one->chain, one->count, one->roots, one->roots_count, one->now,
                                    tenoni_usage_ek, TENON_RULE_24_CHAIN) == TENON_OK;
    const char *theirs = verify(one);
    refused_by_us += !ours;
    refused_by_openssl += theirs != NULL;
    both += ours && theirs == NULL;
    if (!ours || theirs == NULL)
        return;
    if (take_reason(one->name))
        listed++;
    else
        test_fail(__FILE__, __LINE__, "accepted, and OpenSSL refuses it: %s", theirs);
}

TEST(chain_openssl)
{
    reasons = test_vectors("certificates/openssl.txt");
    certificate_each_case(compare);
    for (char *line = strtok(reasons, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (*line != '#')
            test_fail(__FILE__, __LINE__, "in the list, and not accepted by us alone: %s", line);
    printf("%zu accepted by both, %zu refused by us, %zu by OpenSSL, %zu by OpenSSL alone, each with its reason\n",
           both, refused_by_us, refused_by_openssl, listed);
    free(reasons);
}
