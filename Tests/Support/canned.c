/* SPDX-License-Identifier: Apache-2.0 */
#include "canned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

enum { HEADER = 10, ANSWERS = 16 };

struct support_canned {
    uint64_t count;
    size_t n;
    struct {
        uint32_t code;
        size_t n;
        uint8_t bytes[TENON_TPM_BUFFER_SIZE];
    } answers[ANSWERS];
};

support_canned *support_canned_new(void) { return calloc(1, sizeof(support_canned)); }

void support_canned_free(support_canned *canned) { free(canned); }

void support_canned_answer(support_canned *canned, uint32_t code, const uint8_t *answer, size_t n)
{
    size_t i = 0;
    while (i < canned->n && canned->answers[i].code != code)
        i++;
    if (i == ANSWERS || n > TENON_TPM_BUFFER_SIZE) {
        fprintf(stderr, "support: too many canned answers, or too long a one\n");
        abort();
    }
    if (i == canned->n)
        canned->n++;
    canned->answers[i].code = code;
    canned->answers[i].n = n;
    memcpy(canned->answers[i].bytes, answer, n);
}

uint64_t support_canned_count(const support_canned *canned) { return canned->count; }

static tenon_status exchange(void *context, uint8_t *answer, size_t size, size_t *length, const uint8_t *command,
                             size_t n)
{
    support_canned *canned = context;
    uint32_t code = n < HEADER ? 0 : support_fetch32(command + 6);
    canned->count++;
    for (size_t i = 0; i < canned->n; i++) {
        if (canned->answers[i].code != code || canned->answers[i].n > size)
            continue;
        memcpy(answer, canned->answers[i].bytes, canned->answers[i].n);
        *length = canned->answers[i].n;
        return TENON_OK;
    }
    return TENON_ERROR_TPM_TRANSPORT;
}

tenon_tpm_transport support_canned_table(support_canned *canned)
{
    tenon_tpm_transport table = {sizeof table, canned, exchange, NULL, NULL, 1};
    return table;
}
