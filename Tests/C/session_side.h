/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_SIDE_H
#define SESSION_SIDE_H

#include "tpm/session.h"

/*
 * The TPM's side of a session, written from Part 1 (11.4.10, 18.7, 18.8, 19.6, 21.3) by itself: it shares SHA-256,
 * HMAC, ECDH and CFB with the core, which have vectors of their own.
 */
enum { SIDE_SIZE = 32, SIDE_PARAMETERS = 60, SIDE_CODE = 0x153, SIDE_HANDLE = 0x02000003 };

typedef struct {
    uint8_t scalar[SIDE_SIZE], key[SIDE_SIZE], nonce_tpm[SIDE_SIZE], nonce_caller[SIDE_SIZE], attributes;
    tenon_public_key point;
    uint64_t random;
} side_tpm;

typedef struct {
    uint8_t bytes[512];
    size_t n;
} side_message;

void side_put(side_message *to, const void *bytes, size_t n);
void side_put_number(side_message *to, uint32_t number, size_t n);
void side_hash(uint8_t *out, const side_message *of);
void side_mac(uint8_t *out, const side_message *key, const side_message *of);

/* The key of HMAC and encryption. */
side_message side_value(const side_tpm *tpm, tenoni_part auth);

void side_init(side_tpm *tpm, uint64_t seed);

/* TPM2_StartAuthSession: the parameters are what they have to be, byte for byte, around nonce and point. */
void side_start(side_tpm *tpm, const side_message *parameters, bool encrypts);

/* Takes a command: returns whether it is authorised, and decrypts its first parameter. */
bool side_take(side_tpm *tpm, const uint8_t *entry, const tenoni_session_use *use, uint8_t *parameters, size_t n);

/* The faults of an answer, before its HMAC is made. */
typedef struct {
    const char *what;
    uint32_t rc, code_bits;
    uint8_t attributes_bits;
    bool nonces_swapped, nonce_same, other_auth, hashed_plain;
    size_t nonce_n, hmac_n; /* 0: 32 */
} side_fault;

/* Makes the answer from plain parameters, encrypts them if asked to, and returns the session's entry. */
side_message side_answer(side_tpm *tpm, const side_fault *fault, const tenoni_session_use *use, uint8_t *parameters,
                         size_t n);

/* A session of both sides, a command in it, and the answer on its way back. */
typedef struct {
    side_tpm tpm;
    tenoni_session session;
    tenoni_session_use use; /* at first: continue, decrypt, encrypt; two names; an auth value of 32 bytes */
    uint8_t parameters[SIDE_PARAMETERS], plain[SIDE_PARAMETERS], answer[SIDE_PARAMETERS], answer_plain[SIDE_PARAMETERS];
} scene;

extern const tenoni_part scene_names[2];

void scene_open(scene *of, bool encrypts);

/* Fills with a TPM2B of 40 bytes and 18 bytes behind it. */
void scene_fill(scene *of, uint8_t *parameters, uint8_t *copy);

/* Sends the command, and returns whether the TPM finds it authorised. */
bool scene_send(scene *of);
side_message scene_answer(scene *of, const side_fault *fault);
tenon_status scene_receive(scene *of, const side_message *entry);

/* Checks that the session is wiped except for this handle, and refuses every use. */
void scene_check_over(scene *of, uint32_t handle);

/* Checks that the answer is refused and not decrypted, and that the session has ended. */
void scene_check_refused(scene *of, const side_message *entry);

#endif
