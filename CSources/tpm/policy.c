/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/policy.h"

#include "base/secure.h"
#include "tpm/call.h"

enum {
    RH_NULL = 0x40000007,
    RH_ENDORSEMENT = 0x4000000b,
    SE_POLICY = 0x01,      /* Part 2, 6.11 TPM_SE */
    HT_POLICY_SESSION = 3, /* Part 2, 7.2 TPM_HT */
    NONCE_SIZE = 16,       /* Part 3, 11.1: at least */
    NONCE_MAX = 64,
    TICKET_MAX = 64
};

static const uint8_t a_sha256[] = {0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xb3, 0xf8, 0x1a, 0x90, 0xcc,
                                   0x8d, 0x46, 0xa5, 0xd7, 0x24, 0xfd, 0x52, 0xd7, 0x6e, 0x06, 0x52,
                                   0x0b, 0x64, 0xf2, 0xa1, 0xda, 0x1b, 0x33, 0x14, 0x69, 0xaa};
static const uint8_t b_sha256[] = {0xca, 0x3d, 0x0a, 0x99, 0xa2, 0xb9, 0x39, 0x06, 0xf7, 0xa3, 0x34,
                                   0x24, 0x14, 0xef, 0xcf, 0xb3, 0xa3, 0x85, 0xd4, 0x4c, 0xd1, 0xfd,
                                   0x45, 0x90, 0x89, 0xd1, 0x9b, 0x50, 0x71, 0xc0, 0xb7, 0xa0};
static const uint8_t c_sha256[] = {0x37, 0x67, 0xe2, 0xed, 0xd4, 0x3f, 0xf4, 0x5a, 0x3a, 0x7e, 0x1e,
                                   0xae, 0xfc, 0xef, 0x78, 0x64, 0x3d, 0xca, 0x96, 0x46, 0x32, 0xe7,
                                   0xaa, 0xd8, 0x2c, 0x67, 0x3a, 0x30, 0xd8, 0x63, 0x3f, 0xde};
static const uint8_t a_sha384[] = {0x8b, 0xbf, 0x22, 0x66, 0x53, 0x7c, 0x17, 0x1c, 0xb5, 0x6e, 0x40, 0x3c,
                                   0x4d, 0xc1, 0xd4, 0xb6, 0x4f, 0x43, 0x26, 0x11, 0xdc, 0x38, 0x6e, 0x6f,
                                   0x53, 0x20, 0x50, 0xc3, 0x27, 0x8c, 0x93, 0x0e, 0x14, 0x3e, 0x8b, 0xb1,
                                   0x13, 0x38, 0x24, 0xcc, 0xb4, 0x31, 0x05, 0x38, 0x71, 0xc6, 0xdb, 0x53};
static const uint8_t b_sha384[] = {0xb2, 0x6e, 0x7d, 0x28, 0xd1, 0x1a, 0x50, 0xbc, 0x53, 0xd8, 0x82, 0xbc,
                                   0xf5, 0xfd, 0x3a, 0x1a, 0x07, 0x41, 0x48, 0xbb, 0x35, 0xd3, 0xb4, 0xe4,
                                   0xcb, 0x1c, 0x0a, 0xd9, 0xbd, 0xe4, 0x19, 0xca, 0xcb, 0x47, 0xba, 0x09,
                                   0x69, 0x96, 0x46, 0x15, 0x0f, 0x9f, 0xc0, 0x00, 0xf3, 0xf8, 0x0e, 0x12};
static const uint8_t c_sha384[] = {0xd6, 0x03, 0x2c, 0xe6, 0x1f, 0x2f, 0xb3, 0xc2, 0x40, 0xeb, 0x3c, 0xf6,
                                   0xa3, 0x32, 0x37, 0xef, 0x2b, 0x6a, 0x16, 0xf4, 0x29, 0x3c, 0x22, 0xb4,
                                   0x55, 0xe2, 0x61, 0xcf, 0xfd, 0x21, 0x7a, 0xd5, 0xb4, 0x94, 0x7c, 0x2d,
                                   0x73, 0xe6, 0x30, 0x05, 0xee, 0xd2, 0xdc, 0x2b, 0x35, 0x93, 0xd1, 0x65};

tenoni_part tenoni_policy_digest(uint16_t hash, tenoni_policy policy)
{
    if (hash == TENONI_ALG_SHA384)
        return (tenoni_part){policy == TENONI_POLICY_A ? a_sha384 : b_sha384, sizeof a_sha384};
    return (tenoni_part){policy == TENONI_POLICY_A ? a_sha256 : b_sha256, sizeof a_sha256};
}

tenoni_policy tenoni_policy_of(uint16_t hash, const tenoni_reader *digest)
{
    for (tenoni_policy policy = TENONI_POLICY_A; policy <= TENONI_POLICY_B; policy++) {
        tenoni_part known = tenoni_policy_digest(hash, policy);
        if (digest->left == known.n && tenoni_equal(digest->at, known.bytes, known.n))
            return policy;
    }
    return TENONI_POLICY_NONE;
}

/* Part 3, 11.1 TPM2_StartAuthSession: without a salt and unbound, so that there is no HMAC. */
static tenon_status start(tenon_tpm *tpm, uint16_t hash, uint32_t *session)
{
    tenoni_call call;
    tenoni_reader answer, nonce_tpm;
    uint8_t nonce[NONCE_SIZE];
    tenon_status status = tenoni_random(nonce, sizeof nonce);
    if (status != TENON_OK)
        return status;
    tenoni_call_begin(&call, TENONI_CC_START_AUTH_SESSION, TENONI_ROLE_ANY);
    tenoni_call_handle(&call, RH_NULL);
    tenoni_call_handle(&call, RH_NULL);
    tenoni_write_sized(&call.parameters, nonce, sizeof nonce);
    tenoni_write_u16(&call.parameters, 0);
    tenoni_write_u8(&call.parameters, SE_POLICY);
    tenoni_write_u16(&call.parameters, TENONI_ALG_NULL);
    tenoni_write_u16(&call.parameters, hash);
    status = tenoni_call_send(tpm, &call, session, &answer);
    if (status == TENON_OK && (*session >> 24 != HT_POLICY_SESSION ||
                               !tenoni_read_sized(&answer, &nonce_tpm, NONCE_MAX) || answer.left != 0)) {
        tenoni_tpm_flush(tpm, *session);
        status = TENON_ERROR_TPM_ANSWER;
    }
    tenoni_call_end(&call);
    return status;
}

/* Part 3, 23.4 TPM2_PolicySecret of the endorsement hierarchy. Its ticket, Part 2, 10.7.4, is for nothing here. */
static tenon_status endorse(tenon_tpm *tpm, uint32_t session)
{
    tenoni_call call;
    tenoni_reader answer, part;
    uint16_t tag;
    uint32_t hierarchy;
    tenoni_call_begin(&call, TENONI_CC_POLICY_SECRET, TENONI_ROLE_ANY);
    tenoni_call_handle(&call, RH_ENDORSEMENT);
    tenoni_call_handle(&call, session);
    call.auth = &tpm->endorsement_auth;
    tenoni_write_u16(&call.parameters, 0); /* nonceTPM, cpHashA, policyRef, expiration */
    tenoni_write_u16(&call.parameters, 0);
    tenoni_write_u16(&call.parameters, 0);
    tenoni_write_u32(&call.parameters, 0);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (status == TENON_OK &&
        (!tenoni_read_sized(&answer, &part, TICKET_MAX) || !tenoni_read_u16(&answer, &tag) ||
         !tenoni_read_u32(&answer, &hierarchy) || !tenoni_read_sized(&answer, &part, TICKET_MAX) || answer.left != 0))
        status = TENON_ERROR_TPM_ANSWER;
    tenoni_call_end(&call);
    return status;
}

/* Part 3, 23.6 TPM2_PolicyOR of PolicyA, which holds, and PolicyC. */
static tenon_status choose(tenon_tpm *tpm, uint16_t hash, uint32_t session)
{
    tenoni_call call;
    tenoni_reader answer;
    tenoni_part a = tenoni_policy_digest(hash, TENONI_POLICY_A);
    tenoni_call_begin(&call, TENONI_CC_POLICY_OR, TENONI_ROLE_ANY);
    tenoni_call_handle(&call, session);
    tenoni_write_u32(&call.parameters, 2);
    tenoni_write_sized(&call.parameters, a.bytes, a.n);
    tenoni_write_sized(&call.parameters, hash == TENONI_ALG_SHA384 ? c_sha384 : c_sha256, a.n);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (status == TENON_OK && answer.left != 0)
        status = TENON_ERROR_TPM_ANSWER;
    tenoni_call_end(&call);
    return status;
}

tenon_status tenoni_policy_open(tenon_tpm *tpm, uint16_t hash, tenoni_policy policy, uint32_t *session)
{
    tenon_status status = start(tpm, hash, session);
    if (status != TENON_OK) {
        *session = 0;
        return status;
    }
    status = endorse(tpm, *session);
    if (status == TENON_OK && policy == TENONI_POLICY_B)
        status = choose(tpm, hash, *session);
    if (status != TENON_OK) {
        tenoni_tpm_flush(tpm, *session);
        *session = 0;
    }
    return status;
}
