/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tenon/tenon.h"

/*
 * log_scale N: a log of an inception and N rotations. Each event is taken into the log, and beside it its key is
 * decoded and its signature verified, which no validator can do without; the two take turns in being first. One line
 * says how many events a second both did, and the memory of the process at its highest. The log itself is not kept.
 */

typedef struct {
    uint8_t bytes[TENON_KERI_ROTATION_MAX];
    size_t n;
    char attachment[TENON_KERI_ATTACHMENT_SIZE];
    size_t attachment_n;
} event;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

enum { KEYS = 3 };

static bool make(event *out, const tenon_keri_state *log, tenon_key *const *keys, uint64_t i)
{
    tenon_public_key key, next;
    tenon_signature signature;
    bool made = tenon_key_public_key(keys[i % KEYS], &key) == TENON_OK &&
                tenon_key_public_key(keys[(i + 1) % KEYS], &next) == TENON_OK;
    if (i == 0)
        made = made && tenon_keri_inception(out->bytes, sizeof out->bytes, &out->n, &key, &next) == TENON_OK;
    else
        made = made && tenon_keri_rotation(out->bytes, sizeof out->bytes, &out->n, log, &key, &next) == TENON_OK;
    return made && tenon_key_sign_event(keys[i % KEYS], &signature, out->bytes, out->n) == TENON_OK &&
           tenon_signature_normalize(&signature) == TENON_OK &&
           tenon_keri_attachment_encode(out->attachment, sizeof out->attachment, &out->attachment_n, &signature) ==
               TENON_OK;
}

/* What no validator can do without. */
static bool decode_and_verify(const event *of, const char *key_text)
{
    tenon_public_key key;
    tenon_signature signature;
    tenon_digest digest;
    return tenon_keri_key_decode(&key, key_text, TENON_KERI_KEY_SIZE) == TENON_OK &&
           tenon_keri_attachment_decode(&signature, of->attachment, of->attachment_n) == TENON_OK &&
           tenon_sha256(&digest, of->bytes, of->n) == TENON_OK &&
           tenon_p256_verify(&key, &digest, &signature) == TENON_OK;
}

static bool append(tenon_keri_state *log, const event *of)
{
    return tenon_keri_append(log, of->bytes, of->n, of->attachment, of->attachment_n, 0) == TENON_OK;
}

typedef struct {
    uint64_t log, alone;
} times;

static bool measure(times *spent, tenon_keri_state *log, const event *of, const char *key_text, bool is_log_first)
{
    const uint64_t start = now();
    bool good = is_log_first ? append(log, of) : decode_and_verify(of, key_text);
    const uint64_t middle = now();
    good = good && (is_log_first ? decode_and_verify(of, key_text) : append(log, of));
    const uint64_t end = now();
    spent->log += is_log_first ? middle - start : end - middle;
    spent->alone += is_log_first ? end - middle : middle - start;
    return good;
}

static bool run(times *spent, tenon_key *const *keys, uint64_t rotations)
{
    tenon_keri_state log = {0};
    event one;
    for (uint64_t i = 0; i <= rotations; i++) {
        tenon_public_key key;
        char key_text[TENON_KERI_KEY_SIZE];
        size_t n;
        if (!make(&one, &log, keys, i) || tenon_key_public_key(keys[i % KEYS], &key) != TENON_OK ||
            tenon_keri_key_encode(key_text, sizeof key_text, &n, &key) != TENON_OK ||
            !measure(spent, &log, &one, key_text, i % 2 == 0))
            return false;
    }
    return log.sequence == rotations;
}

/* What this program took: getrusage also counts the memory of the process that started it. Negative: unknown. */
static long peak_in_kib(void)
{
    static const char name[] = "VmHWM:";
    char line[256];
    long peak = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, sizeof name - 1) == 0)
            peak = strtol(line + sizeof name - 1, NULL, 10);
    if (file != NULL)
        fclose(file);
    return peak;
}

int main(int argc, char **argv)
{
    const uint64_t rotations = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    tenon_key *keys[KEYS] = {NULL};
    times spent = {0, 0};
    bool good = rotations > 0;
    for (size_t i = 0; good && i < KEYS; i++)
        good = tenon_software_key_generate(&keys[i], 0) == TENON_OK;
    good = good && run(&spent, keys, rotations);
    for (size_t i = 0; i < KEYS; i++)
        tenon_key_free(&keys[i]);
    if (!good) {
        fprintf(stderr, "usage: log_scale ROTATIONS\n");
        return EXIT_FAILURE;
    }
    const double events = (double)rotations + 1;
    printf("%s: %" PRIu64 " rotations: %.0f events/s, decoding and verifying alone %.0f, ratio %.3f, peak %ld KiB\n",
           tenon_backend_name(), rotations, events * 1e9 / (double)spent.log, events * 1e9 / (double)spent.alone,
           (double)spent.alone / (double)spent.log, peak_in_kib());
    return EXIT_SUCCESS;
}
