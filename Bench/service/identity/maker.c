/* SPDX-License-Identifier: Apache-2.0 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "maker.h"

#include <openssl/bn.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <string.h>

enum { PRIME_BITS = 1024, EXPONENT = 65537, DAYS = 30 };

struct bench_maker {
    size_t primes_n;
    BIGNUM **primes;
    EVP_PKEY *keys[2];
    X509 *certificates[2];
};

/* Of the two primes, its own function of each. */
static int set_numbers(RSA *rsa, const BIGNUM *p, const BIGNUM *q, BN_CTX *context)
{
    BIGNUM *n = BN_new(), *e = BN_new(), *d = BN_new(), *p1 = BN_dup(p), *q1 = BN_dup(q), *phi = BN_new();
    BIGNUM *dp = BN_new(), *dq = BN_new(), *inverse = BN_new();
    int good = n != NULL && e != NULL && d != NULL && p1 != NULL && q1 != NULL && phi != NULL && dp != NULL &&
               dq != NULL && inverse != NULL && BN_mul(n, p, q, context) && BN_set_word(e, EXPONENT) &&
               BN_sub_word(p1, 1) && BN_sub_word(q1, 1) && BN_mul(phi, p1, q1, context) &&
               BN_mod_inverse(d, e, phi, context) != NULL && BN_mod(dp, d, p1, context) && BN_mod(dq, d, q1, context) &&
               BN_mod_inverse(inverse, q, p, context) != NULL;
    if (good)
        good = RSA_set0_key(rsa, n, e, d) && RSA_set0_factors(rsa, BN_dup(p), BN_dup(q)) &&
               RSA_set0_crt_params(rsa, dp, dq, inverse);
    BN_free(p1);
    BN_free(q1);
    BN_free(phi);
    return good;
}

/* The key of the pair of primes with this number: (1, 0), (2, 0), (2, 1), (3, 0) and so on. */
EVP_PKEY *bench_maker_key(const bench_maker *maker, size_t number)
{
    size_t i = 1;
    while (number >= i)
        number -= i++;
    if (i >= maker->primes_n)
        return NULL;
    BN_CTX *context = BN_CTX_new();
    RSA *rsa = RSA_new();
    EVP_PKEY *key = EVP_PKEY_new();
    int good = context != NULL && rsa != NULL && key != NULL &&
               set_numbers(rsa, maker->primes[i], maker->primes[number], context) && EVP_PKEY_set1_RSA(key, rsa);
    BN_CTX_free(context);
    RSA_free(rsa);
    if (good)
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

static int add_extension(X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    int good = extension != NULL && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return good;
}

static int add_text(X509_NAME *name, const char *oid, const char *text)
{
    ASN1_OBJECT *object = OBJ_txt2obj(oid, 1);
    int good = object != NULL && X509_NAME_add_entry_by_OBJ(name, object, V_ASN1_UTF8STRING,
                                                            (const unsigned char *)text, (int)strlen(text), -1, 0);
    ASN1_OBJECT_free(object);
    return good;
}

/* The TPM, as the TCG EK Credential Profile has it named. */
static int add_tpm_name(X509 *certificate)
{
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    GENERAL_NAME *name = GENERAL_NAME_new();
    X509_NAME *directory = X509_NAME_new();
    int good = names != NULL && name != NULL && directory != NULL &&
               add_text(directory, "2.23.133.2.1", "id:54454E4F") && add_text(directory, "2.23.133.2.2", "Bench") &&
               add_text(directory, "2.23.133.2.3", "id:00010000");
    if (good) {
        GENERAL_NAME_set0_value(name, GEN_DIRNAME, directory);
        good = sk_GENERAL_NAME_push(names, name) && X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0);
    }
    GENERAL_NAMES_free(names);
    return good;
}

static int add_extensions(X509 *certificate, int is_authority)
{
    if (is_authority)
        return add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") &&
               add_extension(certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
    return add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(certificate, NID_key_usage, "critical,keyEncipherment") &&
           add_extension(certificate, NID_ext_key_usage, "2.23.133.8.1") && add_tpm_name(certificate);
}

static X509 *certify(EVP_PKEY *key, const char *subject, long serial, int is_authority, const X509 *issuer,
                     EVP_PKEY *issuer_key)
{
    X509 *out = X509_new();
    X509_NAME *name = X509_NAME_new();
    int good = out != NULL && name != NULL && X509_set_version(out, 2) &&
               ASN1_INTEGER_set(X509_get_serialNumber(out), serial) && add_text(name, "2.5.4.3", subject) &&
               X509_set_subject_name(out, name) &&
               X509_set_issuer_name(out, issuer != NULL ? X509_get_subject_name(issuer) : name) &&
               X509_gmtime_adj(X509_getm_notBefore(out), -86400) != NULL &&
               X509_gmtime_adj(X509_getm_notAfter(out), DAYS * 86400L) != NULL && X509_set_pubkey(out, key) &&
               add_extensions(out, is_authority) && X509_sign(out, issuer_key, EVP_sha256()) > 0;
    X509_NAME_free(name);
    if (good)
        return out;
    X509_free(out);
    return NULL;
}

X509 *bench_maker_certify(const bench_maker *maker, EVP_PKEY *key, size_t number)
{
    return certify(key, "Bench EK", (long)number + 3, 0, maker->certificates[1], maker->keys[1]);
}

static int make_authorities(bench_maker *maker)
{
    static const char *const names[] = {"Bench EK Root", "Bench EK Issuer"};
    for (size_t i = 0; i < 2; i++) {
        maker->keys[i] = EVP_RSA_gen(2048);
        if (maker->keys[i] == NULL)
            return 0;
        maker->certificates[i] =
            certify(maker->keys[i], names[i], (long)i + 1, 1, i == 0 ? NULL : maker->certificates[0], maker->keys[0]);
        if (maker->certificates[i] == NULL)
            return 0;
    }
    return 1;
}

static int make_primes(bench_maker *maker)
{
    maker->primes = OPENSSL_zalloc(maker->primes_n * sizeof *maker->primes);
    for (size_t i = 0; maker->primes != NULL && i < maker->primes_n; i++) {
        maker->primes[i] = BN_new();
        if (maker->primes[i] == NULL)
            return 0;
        do {
            if (!BN_generate_prime_ex(maker->primes[i], PRIME_BITS, 0, NULL, NULL, NULL))
                return 0;
        } while (BN_mod_word(maker->primes[i], EXPONENT) == 1);
    }
    return maker->primes != NULL;
}

bench_maker *bench_maker_new(size_t eks)
{
    bench_maker *maker = OPENSSL_zalloc(sizeof *maker);
    if (maker == NULL)
        return NULL;
    maker->primes_n = 2;
    while (maker->primes_n * (maker->primes_n - 1) / 2 < eks)
        maker->primes_n++;
    if (make_primes(maker) && make_authorities(maker))
        return maker;
    bench_maker_free(maker);
    return NULL;
}

void bench_maker_free(bench_maker *maker)
{
    if (maker == NULL)
        return;
    for (size_t i = 0; maker->primes != NULL && i < maker->primes_n; i++)
        BN_free(maker->primes[i]);
    OPENSSL_free(maker->primes);
    for (size_t i = 0; i < 2; i++) {
        EVP_PKEY_free(maker->keys[i]);
        X509_free(maker->certificates[i]);
    }
    OPENSSL_free(maker);
}

size_t bench_der(const X509 *certificate, uint8_t *out, size_t size)
{
    int n = i2d_X509(certificate, NULL);
    unsigned char *at = out;
    return n > 0 && (size_t)n <= size && i2d_X509(certificate, &at) == n ? (size_t)n : 0;
}

size_t bench_maker_certificate(const bench_maker *maker, int which, uint8_t *out, size_t size)
{
    return bench_der(maker->certificates[which != 0], out, size);
}
