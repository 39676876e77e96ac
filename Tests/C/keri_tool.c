/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include "tenon/tenon.h"
#include "test_transport.h"
#include "tool.h"

/*
 * keri_tool: keys of a new software TPM that make and sign KERI events, for scripts. It first writes the keys' points,
 * compressed, one a line in hexadecimal. Then it reads lines, and writes the attachment for each, after the event:
 *
 *   inception KEY NEXT   begins a log
 *   rotation KEY NEXT    goes on with it
 *   sign KEY HEX         signs an event that the script has made, whatever it is
 *
 * It ends with 0, or with the category of the status whose name it prints.
 */

enum { KEYS = 4, LINE_MAX_SIZE = 1 << 18 };

typedef struct {
    support_swtpm *sw;
    support_transport *wire;
    tenon_tpm *tpm;
    tenon_key *keys[KEYS];
    tenon_public_key points[KEYS];
    tenon_keri_state log;
} device;

static tenon_status add_key(device *at, size_t i)
{
    uint8_t point[TENON_COMPRESSED_SIZE];
    size_t n = 0;
    tenon_tpm_key *key = NULL;
    TRY(tenon_tpm_key_create(at->tpm, &key, NULL, 0));
    const tenon_status status =
        tenon_tpm_key_open(key, &at->keys[i], TENON_KEY_SIGNS_DIGESTS | TENON_TPM_KEY_LOW_S | TENON_TPM_KEY_VERIFIED);
    tenon_tpm_key_free(&key);
    TRY(status);
    TRY(tenon_key_public_key(at->keys[i], &at->points[i]));
    TRY(tenon_public_key_encode_compressed(point, sizeof point, &n, &at->points[i]));
    for (size_t j = 0; j < n; j++)
        printf("%02x", point[j]);
    putchar('\n');
    return TENON_OK;
}

static tenon_status start(device *at)
{
    at->sw = support_swtpm_start(NULL);
    if (at->sw == NULL)
        return TENON_ERROR_TPM_MISSING;
    at->wire = support_transport_new(at->sw);
    tenon_tpm_transport table = support_transport_table(at->wire);
    TRY(tenon_tpm_open_transport(&at->tpm, &table, NULL));
    for (size_t i = 0; i < KEYS; i++)
        TRY(add_key(at, i));
    fflush(stdout);
    return TENON_OK;
}

static void stop(device *at)
{
    for (size_t i = 0; i < KEYS; i++)
        tenon_key_free(&at->keys[i]);
    tenon_tpm_free(&at->tpm);
    if (at->wire != NULL)
        support_transport_free(at->wire);
    support_swtpm_stop(at->sw);
}

static tenon_status attach(const tenon_signature *signature, char *attachment)
{
    size_t n = 0;
    TRY(tenon_keri_attachment_encode(attachment, TENON_KERI_ATTACHMENT_SIZE, &n, signature));
    printf("%.*s\n", (int)n, attachment);
    return TENON_OK;
}

static tenon_status make(device *at, int is_inception, size_t key, size_t next)
{
    uint8_t event[TENON_KERI_ROTATION_MAX];
    char attachment[TENON_KERI_ATTACHMENT_SIZE];
    size_t n = 0;
    tenon_signature signature;
    if (is_inception) {
        memset(&at->log, 0, sizeof at->log);
        TRY(tenon_keri_inception(event, sizeof event, &n, &at->points[key], &at->points[next]));
    } else {
        TRY(tenon_keri_rotation(event, sizeof event, &n, &at->log, &at->points[key], &at->points[next]));
    }
    TRY(tenon_key_sign_event(at->keys[key], &signature, event, n));
    printf("%.*s\n", (int)n, (const char *)event);
    TRY(attach(&signature, attachment));
    return tenon_keri_append(&at->log, event, n, attachment, sizeof attachment, 0);
}

static tenon_status sign(device *at, size_t key, const char *hex)
{
    static uint8_t event[TENON_KERI_EVENT_MAX + 1024];
    char attachment[TENON_KERI_ATTACHMENT_SIZE];
    size_t n = 0;
    tenon_digest digest;
    tenon_signature signature;
    TRY(tenon_hex_decode(event, sizeof event, &n, hex, strlen(hex)));
    TRY(tenon_sha256(&digest, event, n));
    TRY(tenon_key_sign_digest(at->keys[key], &signature, &digest));
    return attach(&signature, attachment);
}

static tenon_status run(device *at)
{
    static char line[LINE_MAX_SIZE];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *verb = strtok(line, " \n");
        const char *key = strtok(NULL, " \n");
        const char *last = strtok(NULL, " \n");
        const size_t i = key != NULL ? strtoul(key, NULL, 10) : KEYS;
        if (last == NULL || i >= KEYS)
            exit(TOOL_USAGE);
        const size_t next = strtoul(last, NULL, 10);
        if (strcmp(verb, "sign") == 0)
            TRY(sign(at, i, last));
        else if (next < KEYS)
            TRY(make(at, strcmp(verb, "inception") == 0, i, next));
        else
            exit(TOOL_USAGE);
        fflush(stdout);
    }
    return TENON_OK;
}

int main(void)
{
    device at = {.sw = NULL};
    /* The TCTIs of tpm2-tss write to stderr. */
    setenv("TSS2_LOG", "all+NONE", 0);
    tenon_status status = start(&at);
    if (status == TENON_OK)
        status = run(&at);
    if (status != TENON_OK)
        puts(tenon_status_name(status));
    stop(&at);
    return tenon_status_category(status);
}
