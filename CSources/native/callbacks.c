/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/secure.h"
#include "native/attestation.h"
#include "native/item.h"
#include "native/last.h"
#include "native/settings.h"
#include "native/unread.h"
#include "native/worker.h"
#include "tenon/digest.h"
#include "tenon/encoding.h"
#include "tpm/key.h"

/* The eight functions that the runtime calls: arguments in, work for the worker, answers out. */

enum { KEY_MS = 5000, MAKE_MS = 15000, ATTEST_MS = 30000, STORE_MS = 5000 };

static bool is_id(const char *text)
{
    size_t n;
    return tenoni_utf8(text, TENON_NATIVE_ID_MAX, false, &n);
}

static bool is_name(const char *text)
{
    size_t n;
    return tenoni_utf8(text, TENON_NATIVE_NAME_MAX, false, &n);
}

static tenoni_result run(tenoni_work *work, uint32_t deadline_ms, char **answer)
{
    return tenoni_last(work == NULL ? tenoni_because(TENONI_NO_MEMORY) : tenoni_work_do(work, deadline_ms, answer));
}

static tenoni_result bad(void)
{
    return tenoni_last(tenoni_because(TENONI_BAD_ARGUMENT));
}

/* A piece of work in the folder. */
typedef tenoni_result in_folder(const tenoni_folder *folder, tenoni_work *work);

static tenoni_result do_in_folder(tenoni_work *work, bool make, bool lock, in_folder *function)
{
    tenoni_folder folder;
    tenoni_result result = tenoni_folder_open(&folder, make);
    if (tenoni_done(result) && lock)
        result = tenoni_folder_lock(&folder);
    if (tenoni_done(result))
        result = function(&folder, work);
    tenoni_folder_close(&folder);
    return result;
}

static void add_base64url(tenoni_text *text, const uint8_t *bytes, size_t n)
{
    char encoded[88];
    size_t written;
    if (tenon_base64url_encode(encoded, sizeof encoded, &written, bytes, n) == TENON_OK)
        tenoni_text_bytes(text, encoded, written);
}

static tenoni_result give(tenoni_work *work, tenoni_text *text)
{
    work->answer = tenoni_text_take(text);
    return tenoni_because(work->answer == NULL ? TENONI_NO_MEMORY : TENONI_DONE);
}

/* ---- 1 ---- */

static tenoni_result generate(const tenoni_folder *folder, tenoni_work *work)
{
    tenon_tpm_key *key;
    tenon_public_key point;
    tenoni_text text = {0};
    tenoni_result result = tenoni_device_key_make(folder, work->name, &key);
    if (tenoni_done(result))
        result = tenoni_of(tenon_tpm_key_public_key(key, &point));
    if (!tenoni_done(result))
        return result;
    tenoni_text_add(&text, "{\"x\":\"");
    add_base64url(&text, point.bytes, TENON_SCALAR_SIZE);
    tenoni_text_add(&text, "\",\"y\":\"");
    add_base64url(&text, point.bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
    tenoni_text_add(&text, "\"}");
    return give(work, &text);
}

static tenoni_result run_generate(tenoni_work *work)
{
    return do_in_folder(work, true, true, generate);
}

char *synheart_native_generate_key(const char *device_id)
{
    char *answer = NULL;
    if (!is_id(device_id))
        bad();
    else
        run(tenoni_work_new(run_generate, device_id, NULL, NULL), MAKE_MS, &answer);
    return answer;
}

/* ---- 2 ---- */

static tenoni_result sign(const tenoni_folder *folder, tenoni_work *work)
{
    tenon_tpm_key *key;
    tenon_signature signature;
    tenoni_text text = {0};
    tenoni_result result = tenoni_device_key(folder, work->name, &key);
    if (tenoni_done(result))
        result = tenoni_of(tenoni_key_sign(key, &signature, &work->digest));
    if (!tenoni_done(result))
        return result;
    add_base64url(&text, signature.bytes, sizeof signature.bytes);
    return give(work, &text);
}

static tenoni_result run_sign(tenoni_work *work)
{
    return do_in_folder(work, false, false, sign);
}

char *synheart_native_sign_bytes(const char *device_id, const uint8_t *data, size_t data_len)
{
    tenon_digest digest;
    char *answer = NULL;
    if (!is_id(device_id) || data == NULL || data_len == 0 || tenon_sha256(&digest, data, data_len) != TENON_OK) {
        bad();
        return NULL;
    }
    tenoni_work *work = tenoni_work_new(run_sign, device_id, NULL, NULL);
    if (work != NULL)
        work->digest = digest;
    run(work, KEY_MS, &answer);
    return answer;
}

/* ---- 3 ---- */

static tenoni_result attest(const tenoni_folder *folder, tenoni_work *work)
{
    tenoni_text text = {0};
    tenoni_text_add(&text, "{\"format\":\"tpm2\",\"blob\":\"");
    tenoni_result result = tenoni_device_attest(folder, work->name, &work->digest, &text);
    tenoni_text_add(&text, "\"}");
    if (tenoni_done(result))
        return give(work, &text);
    free(tenoni_text_take(&text));
    return result;
}

static tenoni_result run_attest(tenoni_work *work)
{
    return do_in_folder(work, false, true, attest);
}

static char *none(tenoni_result result)
{
    tenoni_text text = {0};
    tenoni_text_add(&text, "{\"format\":\"none\",\"blob\":\"\",\"reason\":\"");
    tenoni_text_add(&text, tenoni_reason(result));
    tenoni_text_add(&text, "\"}");
    return tenoni_text_take(&text);
}

char *synheart_native_get_attestation(const char *device_id, const uint8_t *challenge_hash, size_t hash_len)
{
    char *answer = NULL;
    if (!is_id(device_id) || challenge_hash == NULL || hash_len != TENON_DIGEST_SIZE) {
        bad();
        return NULL;
    }
    tenoni_work *work = tenoni_work_new(run_attest, device_id, NULL, NULL);
    if (work != NULL)
        memcpy(work->digest.bytes, challenge_hash, hash_len);
    tenoni_result result = run(work, ATTEST_MS, &answer);
    return tenoni_done(result) ? answer : none(result);
}

/* ---- 4 and 5 ---- */

static tenoni_result look(const tenoni_folder *folder, tenoni_work *work)
{
    return tenoni_device_key_look(folder, work->name);
}

static tenoni_result run_look(tenoni_work *work)
{
    return do_in_folder(work, false, false, look);
}

/* A key that is there and cannot be used costs a try; one that is forgotten costs the identity. */
int32_t synheart_native_key_exists(const char *device_id)
{
    if (!is_id(device_id)) {
        bad();
        return 0;
    }
    return !tenoni_nothing(run(tenoni_work_new(run_look, device_id, NULL, NULL), KEY_MS, NULL));
}

static tenoni_result delete_key(const tenoni_folder *folder, tenoni_work *work)
{
    return tenoni_device_key_delete(folder, work->name);
}

static tenoni_result run_delete_key(tenoni_work *work)
{
    return do_in_folder(work, false, true, delete_key);
}

static int32_t deleted(tenoni_result result)
{
    return tenoni_done(result) || tenoni_nothing(result) ? 0 : 1;
}

int32_t synheart_native_delete_key(const char *device_id)
{
    if (!is_id(device_id))
        return deleted(bad());
    return deleted(run(tenoni_work_new(run_delete_key, device_id, NULL, NULL), KEY_MS, NULL));
}

/* ---- 6, 7 and 8 ---- */

static tenoni_result store(const tenoni_folder *folder, tenoni_work *work)
{
    return tenoni_item_store(folder, work->name, work->key, work->value);
}

static tenoni_result run_store(tenoni_work *work)
{
    return do_in_folder(work, true, true, store);
}

int32_t synheart_native_secure_store(const char *service, const char *key, const char *value)
{
    size_t n;
    if (!is_name(service) || !is_name(key) || !tenoni_utf8(value, TENON_NATIVE_VALUE_MAX, true, &n))
        bad();
    else if (tenoni_unread_blocks(service, key))
        tenoni_last(tenoni_because(TENONI_VALUE_KEPT));
    else if (tenoni_done(run(tenoni_work_new(run_store, service, key, value), STORE_MS, NULL)))
        return 0;
    return 1;
}

static tenoni_result load(const tenoni_folder *folder, tenoni_work *work)
{
    return tenoni_item_load(folder, work->name, work->key, &work->answer);
}

static tenoni_result run_load(tenoni_work *work)
{
    return do_in_folder(work, false, true, load);
}

char *tenon_native_secure_load_ex(const char *service, const char *key, int32_t *outcome)
{
    char *answer = NULL;
    bool named = is_name(service) && is_name(key);
    tenoni_result result = named ? run(tenoni_work_new(run_load, service, key, NULL), STORE_MS, &answer) : bad();
    if (named)
        tenoni_unread_note(service, key, result);
    if (outcome != NULL)
        *outcome = tenoni_outcome(result);
    return answer;
}

char *synheart_native_secure_load(const char *service, const char *key)
{
    return tenon_native_secure_load_ex(service, key, NULL);
}

static tenoni_result delete_item(const tenoni_folder *folder, tenoni_work *work)
{
    return tenoni_item_delete(folder, work->name, work->key);
}

static tenoni_result run_delete_item(tenoni_work *work)
{
    return do_in_folder(work, false, true, delete_item);
}

int32_t synheart_native_secure_delete(const char *service, const char *key)
{
    if (!is_name(service) || !is_name(key))
        return deleted(bad());
    tenoni_result result = run(tenoni_work_new(run_delete_item, service, key, NULL), STORE_MS, NULL);
    if (deleted(result) == 0)
        tenoni_unread_note(service, key, result);
    return deleted(result);
}
