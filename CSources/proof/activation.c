/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/activate.h"

#include <string.h>

#include "base/secure.h"
#include "base/writer.h"
#include "crypto/hmac.h"
#include "proof/credential.h"

/* No text of a registration is near this. */
enum { FIELDS = 8, FIELD_MAX = 65535, KEY_MIN = 32 };

/* F of tenon/activate.h: which field is where cannot be shifted, since each says its length. The bytes stay where they
 * are. */
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
    /* Another length is what a credential held that is not ours. HMAC takes a key and the key with zeros for one. */
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
