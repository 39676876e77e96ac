/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/credential.h"

#include <string.h>

#include "base/bytes.h"
#include "base/secure.h"
#include "crypto/hash.h"
#include "crypto/protection.h"
#include "tenon/activate.h"

/* The algorithms of each kind of EK (TCG EK Credential Profile, templates). */
typedef struct {
    uint32_t kind;
    tenoni_hash hash;    /* nameAlg */
    size_t cipher_key_n; /* AES-CFB */
    size_t key_n;
    tenoni_curve curve; /* of ECC kinds */
} ek_shape;

static const ek_shape shapes[] = {
    {TENON_EK_RSA_2048, TENONI_SHA256, 16, TENONI_RSA_SIZE, TENONI_CURVE_P256},
    {TENON_EK_P256, TENONI_SHA256, 16, 64, TENONI_CURVE_P256},
    {TENON_EK_P384, TENONI_SHA384, 32, 96, TENONI_CURVE_P384},
};

enum { SHAPES = sizeof shapes / sizeof *shapes, CIPHER_KEY_MAX = 32, ALG_SHA256 = 0x0b };

/* NULL: this is not an EK that tenon_ek_verify gave. */
static const ek_shape *shape_of(const tenon_ek *ek)
{
    for (size_t i = 0; i < SHAPES; i++)
        if (shapes[i].kind == ek->kind && shapes[i].key_n == ek->key_n)
            return &shapes[i];
    return NULL;
}

tenon_status tenoni_object_name_check(const uint8_t *name, size_t n)
{
    if (name == NULL && n != 0)
        return TENON_ERROR_NULL;
    return n == TENON_NAME_SIZE && name[0] == 0 && name[1] == ALG_SHA256 ? TENON_OK : TENON_ERROR_OPTIONS;
}

/* A TPMS_ECC_POINT (Part 2, 11.2.5.2). */
static void write_point(tenoni_writer *writer, const uint8_t *point, size_t size)
{
    for (size_t i = 0; i < 2; i++) {
        tenoni_write_u16(writer, (uint16_t)size);
        tenoni_write_bytes(writer, point + i * size, size);
    }
}

/* Part 1, B.10.3: the seed, encrypted to the EK. */
static tenon_status share_by_rsa(tenoni_writer *encrypted, uint8_t *seed, const tenon_ek *ek,
                                 const tenoni_credential_draw *draw)
{
    uint8_t block[TENONI_RSA_SIZE];
    tenon_status status = TENON_RULE_36_EK_KEY;
    memcpy(seed, draw->secret, TENON_DIGEST_SIZE);
    if (tenoni_rsa_modulus_fits(ek->key))
        status = tenoni_oaep_encrypt(block, ek->key, "IDENTITY", (tenoni_part){seed, TENON_DIGEST_SIZE}, draw->salt);
    if (status != TENON_OK)
        return status;
    tenoni_write_u16(encrypted, sizeof block);
    tenoni_write_bytes(encrypted, block, sizeof block);
    return TENON_OK;
}

/* Part 1, C.6.1 to C.6.3: the seed, agreed upon with the EK. */
static tenon_status share_by_ecdh(tenoni_writer *encrypted, uint8_t *seed, const ek_shape *shape, const tenon_ek *ek,
                                  const tenoni_credential_draw *draw)
{
    uint8_t z[TENONI_COORDINATE_MAX], own[2 * TENONI_COORDINATE_MAX];
    size_t size = tenoni_curve_size(shape->curve);
    tenon_status status = tenoni_agree(shape->curve, z, own, draw->secret, ek->key);
    if (status == TENON_OK)
        status = tenoni_kdfe_with(shape->hash, seed, tenoni_hash_size(shape->hash), (tenoni_part){z, size}, "IDENTITY",
                                  (tenoni_part){own, size}, (tenoni_part){ek->key, size});
    tenoni_wipe(z, sizeof z);
    if (status != TENON_OK)
        return status == TENON_ERROR_POINT_RANGE || status == TENON_ERROR_POINT_OFF_CURVE ? TENON_RULE_36_EK_KEY
                                                                                          : status;
    tenoni_write_u16(encrypted, (uint16_t)(2 * (2 + size)));
    write_point(encrypted, own, size);
    return TENON_OK;
}

/* Part 1, 24.4: a TPM2B_DIGEST with the secret, in place, for this Name. */
static tenon_status encrypt_identity(const ek_shape *shape, uint8_t *identity, size_t n, tenoni_part seed,
                                     tenoni_part name)
{
    static const uint8_t iv[TENONI_CFB_IV_SIZE];
    uint8_t key[CIPHER_KEY_MAX];
    tenon_status status =
        tenoni_kdfa_with(shape->hash, key, shape->cipher_key_n, seed, "STORAGE", name, (tenoni_part){NULL, 0});
    if (status == TENON_OK)
        status = tenoni_cfb_encrypt(identity, n, key, shape->cipher_key_n, iv);
    tenoni_wipe(key, sizeof key);
    return status;
}

/* Part 1, 24.5: the HMAC over what was encrypted and the Name. */
static tenon_status compute_integrity(const ek_shape *shape, uint8_t *out, tenoni_part identity, tenoni_part seed,
                                      tenoni_part name)
{
    static const tenoni_part none = {NULL, 0};
    uint8_t key[TENONI_HASH_MAX];
    size_t n = tenoni_hash_size(shape->hash);
    tenon_status status = tenoni_kdfa_with(shape->hash, key, n, seed, "INTEGRITY", none, none);
    if (status == TENON_OK)
        status = tenoni_hmac_with(shape->hash, out, key, n, (tenoni_part[]){identity, name}, 2);
    tenoni_wipe(key, sizeof key);
    return status;
}

static tenon_status protect(tenoni_writer *credential, const ek_shape *shape, tenoni_part seed, tenoni_part name,
                            tenoni_part secret)
{
    uint8_t identity[2 + TENONI_HASH_MAX], integrity[TENONI_HASH_MAX];
    tenoni_writer plain = tenoni_writer_over(identity, sizeof identity);
    size_t integrity_n = tenoni_hash_size(shape->hash);
    tenoni_write_u16(&plain, (uint16_t)secret.n);
    tenoni_write_bytes(&plain, secret.bytes, secret.n);
    tenon_status status = encrypt_identity(shape, identity, plain.used, seed, name);
    if (status == TENON_OK)
        status = compute_integrity(shape, integrity, (tenoni_part){identity, plain.used}, seed, name);
    if (status == TENON_OK) {
        tenoni_write_u16(credential, (uint16_t)(2 + integrity_n + plain.used));
        tenoni_write_u16(credential, (uint16_t)integrity_n);
        tenoni_write_bytes(credential, integrity, integrity_n);
        tenoni_write_bytes(credential, identity, plain.used);
    }
    tenoni_wipe(identity, sizeof identity);
    return status;
}

tenon_status tenoni_credential_make(tenoni_credential_part *credential, tenoni_credential_part *encrypted,
                                    const tenon_ek *ek, const uint8_t *name, const uint8_t *secret, size_t secret_n,
                                    const tenoni_credential_draw *draw)
{
    const ek_shape *shape = shape_of(ek);
    uint8_t seed[TENONI_HASH_MAX];
    tenoni_writer first = tenoni_writer_over(credential->bytes, sizeof credential->bytes);
    tenoni_writer second = tenoni_writer_over(encrypted->bytes, sizeof encrypted->bytes);
    tenon_status status = shape->kind == TENON_EK_RSA_2048 ? share_by_rsa(&second, seed, ek, draw)
                                                           : share_by_ecdh(&second, seed, shape, ek, draw);
    if (status == TENON_OK)
        status = protect(&first, shape, (tenoni_part){seed, tenoni_hash_size(shape->hash)},
                         (tenoni_part){name, TENON_NAME_SIZE}, (tenoni_part){secret, secret_n});
    tenoni_wipe(seed, sizeof seed);
    credential->n = first.used;
    encrypted->n = second.used;
    return status;
}

/* FIPS 186-5, A.2.2: a scalar that is out of range is drawn again. */
static tenon_status draw_and_make(tenoni_credential_part *credential, tenoni_credential_part *encrypted,
                                  const tenon_ek *ek, const uint8_t *name, const uint8_t *secret, size_t secret_n)
{
    tenoni_credential_draw draw;
    tenon_status status;
    do {
        status = tenoni_random(draw.secret, sizeof draw.secret);
        if (status == TENON_OK)
            status = tenoni_random(draw.salt, sizeof draw.salt);
        if (status == TENON_OK)
            status = tenoni_credential_make(credential, encrypted, ek, name, secret, secret_n, &draw);
    } while (status == TENON_ERROR_SCALAR_RANGE);
    tenoni_wipe(&draw, sizeof draw);
    tenoni_wipe_stack();
    return status;
}

/* Both sizes, before anything is computed. */
static tenon_status check_sizes(size_t credential_size, size_t *credential_n, size_t encrypted_size,
                                size_t *encrypted_n, const ek_shape *shape, size_t secret_n)
{
    *credential_n = 2 + 2 + tenoni_hash_size(shape->hash) + 2 + secret_n;
    *encrypted_n = 2 + (shape->kind == TENON_EK_RSA_2048 ? TENONI_RSA_SIZE : 2 * 2 + shape->key_n);
    bool fits = *credential_n <= credential_size && *encrypted_n <= encrypted_size;
    return fits ? TENON_OK : TENON_ERROR_BUFFER_TOO_SMALL;
}

static tenon_status check_inputs(const ek_shape *shape, const uint8_t *name, size_t name_n, size_t secret_n)
{
    if (shape == NULL)
        return TENON_ERROR_OPTIONS;
    if (secret_n == 0)
        return TENON_ERROR_EMPTY;
    /* Part 3, 12.6: no longer than a digest of nameAlg. */
    if (secret_n > tenoni_hash_size(shape->hash))
        return TENON_ERROR_TOO_LARGE;
    return tenoni_object_name_check(name, name_n);
}

tenon_status tenon_credential_make(uint8_t *credential, size_t credential_size, size_t *credential_n,
                                   uint8_t *encrypted, size_t encrypted_size, size_t *encrypted_n, const tenon_ek *ek,
                                   const uint8_t *name, size_t name_n, const uint8_t *secret, size_t secret_n)
{
    tenoni_credential_part parts[2];
    if (credential_n != NULL)
        *credential_n = 0;
    if (encrypted_n != NULL)
        *encrypted_n = 0;
    if (credential_n == NULL || encrypted_n == NULL || (credential == NULL && credential_size != 0) ||
        (encrypted == NULL && encrypted_size != 0) || ek == NULL || (secret == NULL && secret_n != 0))
        return TENON_ERROR_NULL;
    const ek_shape *shape = shape_of(ek);
    tenon_status status = check_inputs(shape, name, name_n, secret_n);
    if (status != TENON_OK)
        return status;
    status = check_sizes(credential_size, credential_n, encrypted_size, encrypted_n, shape, secret_n);
    if (status != TENON_OK)
        return status;
    status = draw_and_make(&parts[0], &parts[1], ek, name, secret, secret_n);
    if (status == TENON_OK) {
        memcpy(credential, parts[0].bytes, parts[0].n);
        memcpy(encrypted, parts[1].bytes, parts[1].n);
    } else {
        *credential_n = *encrypted_n = 0;
    }
    return status;
}

/* No text of a registration is nearly this long. */
enum { FIELDS = 8, FIELD_MAX = 65535, KEY_MIN = 32 };

/*
 * F of tenon/activate.h. Each field has its length before it, so bytes cannot move from one field to the next. The
 * bytes are not copied.
 */
typedef struct {
    uint8_t lengths[FIELDS][4];
    tenoni_part parts[2 * FIELDS];
    size_t count;
    tenon_status status; /* of the first field that is refused */
} fields;

static void add(fields *f, const void *bytes, size_t n)
{
    tenoni_writer writer = tenoni_writer_over(f->lengths[f->count], sizeof f->lengths[f->count]);
    if (f->status != TENON_OK)
        return;
    if (n == 0)
        f->status = TENON_ERROR_EMPTY;
    else if (bytes == NULL)
        f->status = TENON_ERROR_NULL;
    else if (n > FIELD_MAX)
        f->status = TENON_ERROR_TOO_LARGE;
    tenoni_write_u32(&writer, (uint32_t)n);
    f->parts[2 * f->count] = (tenoni_part){f->lengths[f->count], writer.used};
    f->parts[2 * f->count + 1] = (tenoni_part){bytes, n};
    f->count++;
}

static void begin(fields *f, const char *label)
{
    f->count = 0;
    f->status = TENON_OK;
    add(f, label, strlen(label));
}

static void add_name(fields *f, const uint8_t *name, size_t n)
{
    if (f->status == TENON_OK)
        f->status = tenoni_object_name_check(name, n);
    add(f, name, n);
}

/* HMAC with a key, SHA-256 without. */
static tenon_status finish(const fields *f, tenon_digest *out, const uint8_t *key, size_t key_n)
{
    if (f->status != TENON_OK)
        return f->status;
    tenon_status status = key == NULL ? tenoni_sha256_parts(out, f->parts, 2 * f->count)
                                      : tenoni_hmac(out, key, key_n, f->parts, 2 * f->count);
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
    return status;
}

tenon_status tenon_activation_secret(tenon_digest *out, const uint8_t *key, size_t key_n, const char *challenge,
                                     size_t challenge_n, const tenon_digest *ek_id, const uint8_t *name, size_t name_n)
{
    fields f;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (out == NULL || key == NULL || ek_id == NULL)
        return TENON_ERROR_NULL;
    if (key_n < KEY_MIN)
        return TENON_ERROR_OPTIONS;
    begin(&f, "tenon/secret/1");
    add(&f, challenge, challenge_n);
    add(&f, ek_id->bytes, sizeof ek_id->bytes);
    add_name(&f, name, name_n);
    tenon_status status = finish(&f, out, key, key_n);
    tenoni_wipe_stack();
    return status;
}

tenon_status tenon_activation_value(tenon_digest *out, const uint8_t *secret, size_t secret_n,
                                    const tenon_activation *activation)
{
    const tenon_activation *a = activation;
    fields f;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (out == NULL || a == NULL || (secret == NULL && secret_n != 0))
        return TENON_ERROR_NULL;
    if (a->size != sizeof *a)
        return TENON_ERROR_OPTIONS;
    /*
     * A secret of another length came from a credential that is not ours. To HMAC, a key and the same key with zeros
     * after it are equal.
     */
    if (secret_n != TENON_ACTIVATION_SECRET_SIZE)
        return TENON_ERROR_CREDENTIAL_FORM;
    begin(&f, "tenon/register/1");
    add(&f, a->origin, a->origin_n);
    add(&f, a->app_id, a->app_id_n);
    add(&f, a->challenge, a->challenge_n);
    add(&f, a->public_key, a->public_key_n);
    add(&f, a->ek_id.bytes, sizeof a->ek_id.bytes);
    add_name(&f, a->ak_name, a->ak_name_n);
    tenon_status status = finish(&f, out, secret, secret_n);
    tenoni_wipe_stack();
    return status;
}

tenon_status tenon_activation_verify(const uint8_t *secret, size_t secret_n, const tenon_activation *activation,
                                     const uint8_t *value, size_t value_n)
{
    tenon_digest expected;
    if (value == NULL && value_n != 0)
        return TENON_ERROR_NULL;
    tenon_status status = tenon_activation_value(&expected, secret, secret_n, activation);
    if (status == TENON_OK && (value_n != sizeof expected.bytes || !tenoni_equal(expected.bytes, value, value_n)))
        status = TENON_ERROR_ACTIVATION;
    tenoni_wipe(&expected, sizeof expected);
    return status;
}

tenon_status tenon_rotation_nonce(tenon_digest *out, const tenon_rotation *rotation)
{
    const tenon_rotation *r = rotation;
    fields f;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (out == NULL || r == NULL)
        return TENON_ERROR_NULL;
    if (r->size != sizeof *r)
        return TENON_ERROR_OPTIONS;
    begin(&f, "tenon/rotate/1");
    add(&f, r->origin, r->origin_n);
    add(&f, r->app_id, r->app_id_n);
    add(&f, r->device_id, r->device_id_n);
    add(&f, r->old_public_key, r->old_public_key_n);
    add(&f, r->new_public_key, r->new_public_key_n);
    add(&f, r->timestamp, r->timestamp_n);
    return finish(&f, out, NULL, 0);
}
