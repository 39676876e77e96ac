/* SPDX-License-Identifier: Apache-2.0 */

#include "tenon/batch/batch.h"
#include "tenon/encoding.h"
#include "test_transport.h"
#include "tool.h"

/*
 * A device for scripts, with a key in a software TPM. It ends with 0, or with the category of the status whose name it
 * prints. First it writes the key's SubjectPublicKeyInfo in hexadecimal. Each line of its input is a request, with tabs
 * between its texts:
 *
 *   METHOD AUTHORITY PATH QUERY CONTENT-TYPE CONTENT-ENCODING APP DEVICE CREATED EXPIRES DIGEST
 *
 * An empty text of the content means that there is none; DIGEST is that of the content, in hexadecimal. A line "plain"
 * or "batch" signs the requests since the last such line, each alone or all under one signature. For each of them it
 * writes Signature-Input, a tab and Signature; and at last how many TPM2_Sign that took.
 */

enum { TEXTS = 11, LINE_MAX = 4096 };

typedef struct {
    char line[LINE_MAX];
    char nonce[TENON_UUID_SIZE];
    tenon_request2 request;
} waiting;

typedef struct {
    support_transport *wire;
    tenon_key *key;
    tenon_batch *batch;
    char keyid[TENON_THUMBPRINT_SIZE];
    waiting requests[TENON_BATCH_MAX];
    size_t count;
} device;

static tenon_text text_of(const char *text) { return (tenon_text){*text == '\0' ? NULL : text, strlen(text)}; }

static tenon_status take(device *at, const char *line)
{
    waiting *w = &at->requests[at->count++];
    char *texts[TEXTS], *next = w->line;
    size_t n;
    if (at->count == TENON_BATCH_MAX || strlen(line) >= sizeof w->line)
        return TENON_ERROR_TOO_LARGE;
    strcpy(w->line, line);
    for (size_t i = 0; i < TEXTS; i++) {
        texts[i] = next;
        next += strcspn(next, "\t");
        if (*next == '\t')
            *next++ = '\0';
    }
    w->request = (tenon_request2){
        .method = text_of(texts[0]),
        .authority = text_of(texts[1]),
        .path = text_of(texts[2]),
        .query = text_of(texts[3]),
        .content_type = text_of(texts[4]),
        .content_encoding = text_of(texts[5]),
        .app_id = text_of(texts[6]),
        .device_id = text_of(texts[7]),
        .nonce = {w->nonce, sizeof w->nonce},
        .keyid = {at->keyid, sizeof at->keyid},
        .created = strtoull(texts[8], NULL, 10),
        .expires = strtoull(texts[9], NULL, 10),
    };
    TRY(tenon_request_nonce(w->nonce, sizeof w->nonce, &n));
    return tenon_hex_decode(w->request.content.bytes, TENON_DIGEST_SIZE, &n, texts[10], strlen(texts[10]));
}

static tenon_status say(const waiting *w, const char *signature, size_t n)
{
    char input[TENON_SIGNATURE_INPUT_MAX];
    size_t input_n;
    TRY(tenon_request2_input(input, sizeof input, &input_n, NULL, &w->request));
    printf("%.*s\t%.*s\n", (int)input_n, input, (int)n, signature);
    return TENON_OK;
}

static tenon_status sign_each(device *at)
{
    for (size_t i = 0; i < at->count; i++) {
        char value[TENON_SIGNATURE_VALUE_MAX];
        tenon_signature signature;
        size_t n;
        at->requests[i].request.form = TENON_FORM_PLAIN;
        TRY(tenon_key_sign_request2(at->key, &signature, &at->requests[i].request));
        TRY(tenon_signature2(value, sizeof value, &n, &signature));
        TRY(say(&at->requests[i], value, n));
    }
    return TENON_OK;
}

static tenon_status sign_all(device *at)
{
    tenon_batch_clear(at->batch);
    for (size_t i = 0; i < at->count; i++) {
        tenon_digest digest;
        size_t index;
        at->requests[i].request.form = TENON_FORM_BATCH;
        TRY(tenon_request2_digest(&digest, &at->requests[i].request));
        TRY(tenon_batch_add(at->batch, &index, &digest));
    }
    TRY(tenon_key_sign_batch(at->key, at->batch));
    for (size_t i = 0; i < at->count; i++) {
        char value[TENON_SIGNATURE_VALUE_MAX];
        size_t n;
        TRY(tenon_batch_signature(at->batch, value, sizeof value, &n, i));
        TRY(say(&at->requests[i], value, n));
    }
    return TENON_OK;
}

static tenon_status begin(device *at)
{
    tenon_public_key public_key;
    uint8_t spki[TENON_SPKI_SIZE];
    size_t n;
    TRY(tenon_key_public_key(at->key, &public_key));
    TRY(tenon_public_key_thumbprint(at->keyid, sizeof at->keyid, &n, &public_key));
    TRY(tenon_public_key_encode_spki(spki, sizeof spki, &n, &public_key));
    TRY(tenon_batch_new(&at->batch, &public_key, TENON_BATCH_MAX));
    for (size_t i = 0; i < n; i++)
        printf("%02x", spki[i]);
    putchar('\n');
    fflush(stdout);
    support_transport_reset_counts(at->wire);
    return TENON_OK;
}

static tenon_status serve(device *at)
{
    char line[LINE_MAX];
    TRY(begin(at));
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        bool plain = strcmp(line, "plain") == 0;
        if (!plain && strcmp(line, "batch") != 0) {
            TRY(take(at, line));
            continue;
        }
        TRY(plain ? sign_each(at) : sign_all(at));
        printf("%u\n", support_transport_count(at->wire, SUPPORT_CC_SIGN));
        support_transport_reset_counts(at->wire);
        fflush(stdout);
        at->count = 0;
    }
    return TENON_OK;
}

int main(void)
{
    static device at;
    tenon_tpm *tpm = NULL;
    tenon_tpm_key *tpm_key = NULL;
    support_swtpm *sw = support_swtpm_start(NULL);
    if (sw == NULL)
        return TENON_CATEGORY_UNAVAILABLE;
    at.wire = support_transport_new(sw);
    const tenon_tpm_transport table = support_transport_table(at.wire);
    tenon_status status = tenon_tpm_open_transport(&tpm, &table, NULL);
    if (status == TENON_OK)
        status = tenon_tpm_key_create(tpm, &tpm_key, NULL, 0);
    if (status == TENON_OK)
        status = tenon_tpm_key_open(tpm_key, &at.key, 0);
    if (status == TENON_OK)
        status = serve(&at);
    if (status != TENON_OK)
        puts(tenon_status_name(status));
    tenon_batch_free(&at.batch);
    tenon_key_free(&at.key);
    tenon_tpm_key_free(&tpm_key);
    tenon_tpm_free(&tpm);
    support_transport_free(at.wire);
    support_swtpm_stop(sw);
    return tenon_status_category(status);
}
