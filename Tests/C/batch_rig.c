/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_rig.h"

#include <sched.h>

batch_rig batch_rig_begin_with(tenon_key *key)
{
    batch_rig rig = {.key = key, .slow = {.inner = key}};
    size_t n;
    CHECK_OK(tenon_key_public_key(key, &rig.public_key));
    CHECK_OK(tenon_public_key_thumbprint(rig.keyid, sizeof rig.keyid, &n, &rig.public_key));
    CHECK_OK(tenon_base64url_decode(rig.thumbprint.bytes, sizeof rig.thumbprint.bytes, &n, rig.keyid, n));
    CHECK_OK(tenon_verifier_new(&rig.verifier, &rig.public_key));
    CHECK_OK(tenon_batch_new(&rig.batch, &rig.public_key, TENON_BATCH_MAX));
    return rig;
}

batch_rig batch_rig_begin(void)
{
    uint8_t scalar[TENON_SCALAR_SIZE];
    tenon_key *key = NULL;
    test_hex(scalar, sizeof scalar, "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
    CHECK_OK(tenon_software_key_import(&key, scalar, sizeof scalar, TENON_KEY_DETERMINISTIC));
    return batch_rig_begin_with(key);
}

void batch_rig_end(batch_rig *rig)
{
    tenon_batch_free(&rig->batch);
    tenon_verifier_free(&rig->verifier);
    tenon_key_free(&rig->key);
}

void batch_rig_digest(tenon_digest *out, size_t number)
{
    uint8_t text[20];
    size_t from = sizeof text;
    do
        text[--from] = (uint8_t)('0' + number % 10);
    while ((number /= 10) != 0);
    CHECK_OK(tenon_sha256(out, text + from, sizeof text - from));
}

void batch_rig_fill(batch_rig *rig, size_t count)
{
    tenon_batch_clear(rig->batch);
    for (size_t i = 0; i < count; i++) {
        tenon_digest digest;
        size_t index;
        batch_rig_digest(&digest, i);
        CHECK_OK(tenon_batch_add(rig->batch, &index, &digest));
        CHECK_NUMBER(index, i);
    }
}

void batch_rig_member(const tenon_batch *batch, tenon_signed2 *out, size_t index)
{
    static const char head[] = "tenon=(\"@method\" \"@authority\" \"@path\" \"@query\" \"content-digest\" \"x-app-id\" "
                               "\"x-device-id\");created=1790000000;expires=1790000300;"
                               "nonce=\"d8f6c9a2-4f1b-4c5e-9a3d-0b7e6f5a4c3d\";"
                               "keyid=\"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0\";tag=\"tenon-batch\"";
    char text[TENON_SIGNATURE_VALUE_MAX];
    size_t n;
    CHECK_OK(tenon_batch_signature(batch, text, sizeof text, &n, index));
    CHECK_OK(tenon_signed2_read(out, head, sizeof head - 1, text, n));
    CHECK_NUMBER(out->index, index);
}

static tenon_status slow_sign(void *context, tenon_signature *out, const tenon_digest *digest)
{
    slow_key *slow = context;
    atomic_fetch_add(&slow->commands, 1);
    atomic_fetch_add(&slow->inside, 1);
    while (atomic_load(&slow->is_held))
        sched_yield();
    atomic_fetch_sub(&slow->inside, 1);
    tenon_status status = atomic_load(&slow->status);
    if (status == TENON_OK)
        status = tenoni_key_sign_own(slow->inner, out, digest);
    if (atomic_load(&slow->breaks))
        out->bytes[10] ^= 1;
    return status;
}

static tenon_status slow_public_key(void *context, tenon_public_key *out)
{
    const slow_key *slow = context;
    return tenon_key_public_key(slow->inner, out);
}

tenon_status batch_rig_slow_key(batch_rig *rig, tenon_key **out)
{
    const tenon_key_ops ops = {.size = sizeof ops, .sign = slow_sign, .public_key = slow_public_key};
    return tenon_key_new(out, &ops, &rig->slow);
}

tenon_request2 batch_rig_request(const batch_rig *rig, uint32_t form)
{
    return (tenon_request2){
        .method = TEXT("POST"),
        .authority = TEXT("api.example.com"),
        .path = TEXT("/v1/things"),
        .query = TEXT("?a=b"),
        .content_type = TEXT("application/json"),
        .app_id = TEXT("app"),
        .device_id = TEXT("dev_0123456789abcdef"),
        .nonce = TEXT("d8f6c9a2-4f1b-4c5e-9a3d-0b7e6f5a4c3d"),
        .keyid = {rig->keyid, sizeof rig->keyid},
        .created = 1790000000,
        .expires = 1790000300,
        .form = form,
    };
}
