/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* syscall */
#include "attest_work.h"
#include "tpm_wire.h"

/*
 * Input: how the TPM is opened, the steps of an attestation, the kind of the EK, the lengths of a credential and of its
 * encrypted seed, both of these, and then the TPM's answers. attest_record makes the seeds.
 */
enum { HEAD = 5 };

static void judge(void *context, tenon_status status) { must_be_possible(status, context); }

FUZZ_TARGET(data, n)
{
    if (n < HEAD || data[2] >= sizeof attest_kinds / sizeof *attest_kinds || data[3] + data[4] > n - HEAD)
        return;
    size_t begin = (size_t)HEAD + data[3] + data[4];
    attest_plan plan = {.what = data[1],
                        .kind = data[2],
                        .credential = data + HEAD,
                        .credential_n = data[3],
                        .encrypted = data + HEAD + data[3],
                        .encrypted_n = data[4]};
    tpm_wire wire = {.data = data + begin, .n = n - begin};
    tenon_tpm *tpm = wire_open(&wire, data[0]);
    attest_work(tpm, &plan, judge, &wire);
    wire_close(&tpm);
}
