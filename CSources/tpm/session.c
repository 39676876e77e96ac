/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/session.h"

#include <string.h>

#include "base/secure.h"
#include "base/signature.h"
#include "crypto/p256.h"
#include "crypto/protection.h"
#include "crypto/structures.h"

enum {
    TPM_SE_HMAC = 0x00,      /* Part 2, 6.11 */
    TPM_HT_HMAC_SESSION = 2, /* Part 2, 7.2 */
    AUTH_MAX = 32,           /* nameAlg of what is authorised is SHA-256 */
    CFB_KEY_SIZE = 16,       /* AES-128 */
    KNOWN = TENONI_SESSION_CONTINUE | TENONI_SESSION_DECRYPT | TENONI_SESSION_ENCRYPT,
    ENCRYPTING = TENONI_SESSION_DECRYPT | TENONI_SESSION_ENCRYPT
};

void tenoni_session_end(tenoni_session *session)
{
    uint32_t handle = session->handle;
    tenoni_wipe(session, sizeof *session);
    session->handle = handle;
}

/* Every function leaves through here. */
static tenon_status settle(tenoni_session *session, tenon_status status)
{
    if (status != TENON_OK)
        tenoni_session_end(session);
    return status;
}

static tenoni_part nonce(const uint8_t *bytes)
{
    return (tenoni_part){bytes, TENONI_SESSION_NONCE_SIZE};
}

/* Part 1, C.6: a secret for the holder of a P-256 key. Each x goes in with its leading zeros. */
static tenon_status make_salt(uint8_t *salt, tenon_public_key *ephemeral, const tenon_public_key *salt_to)
{
    uint8_t scalar[TENON_SCALAR_SIZE], z[TENON_SCALAR_SIZE];
    tenoni_signer *signer = NULL;
    tenon_status status = tenon_p256_check(salt_to);
    /* FIPS 186-5, A.2.2: try again until the number is in range. */
    if (status == TENON_OK)
        do
            status = tenoni_random(scalar, sizeof scalar);
        while (status == TENON_OK && !tenoni_scalar_in_range(scalar));
    if (status == TENON_OK)
        status = tenoni_signer_new(&signer, ephemeral, scalar);
    if (signer != NULL)
        tenoni_signer_free(signer);
    if (status == TENON_OK)
        status = tenoni_p256_agree(z, scalar, salt_to);
    if (status == TENON_OK)
        status = tenoni_kdfe(salt, TENON_DIGEST_SIZE, (tenoni_part){z, sizeof z}, "SECRET",
                             (tenoni_part){ephemeral->bytes, TENON_SCALAR_SIZE},
                             (tenoni_part){salt_to->bytes, TENON_SCALAR_SIZE});
    tenoni_wipe(scalar, sizeof scalar);
    tenoni_wipe(z, sizeof z);
    return status;
}

/* Part 2, 11.2.5.2 TPMS_ECC_POINT, in a TPM2B_ENCRYPTED_SECRET (11.4.3). */
static void write_point(tenoni_writer *writer, const tenon_public_key *point)
{
    tenoni_write_u16(writer, 2 * (2 + TENON_SCALAR_SIZE));
    tenoni_write_u16(writer, TENON_SCALAR_SIZE);
    tenoni_write_bytes(writer, point->bytes, TENON_SCALAR_SIZE);
    tenoni_write_u16(writer, TENON_SCALAR_SIZE);
    tenoni_write_bytes(writer, point->bytes + TENON_SCALAR_SIZE, TENON_SCALAR_SIZE);
}

/* Part 2, 11.1.6 TPMT_SYM_DEF. */
static void write_cipher(tenoni_writer *writer, bool encrypts)
{
    tenoni_write_u16(writer, encrypts ? TENONI_ALG_AES : TENONI_ALG_NULL);
    if (encrypts) {
        tenoni_write_u16(writer, 8 * CFB_KEY_SIZE);
        tenoni_write_u16(writer, TENONI_ALG_CFB);
    }
}

static void write_nonce(tenoni_writer *writer, const uint8_t *bytes)
{
    tenoni_write_u16(writer, TENONI_SESSION_NONCE_SIZE);
    tenoni_write_bytes(writer, bytes, TENONI_SESSION_NONCE_SIZE);
}

tenon_status tenoni_session_start(tenoni_session *session, tenoni_writer *parameters, const tenon_public_key *salt_to,
                                  bool encrypts)
{
    tenon_public_key ephemeral;
    memset(session, 0, sizeof *session);
    tenon_status status = make_salt(session->key, &ephemeral, salt_to);
    if (status == TENON_OK)
        status = tenoni_random(session->nonce_caller, sizeof session->nonce_caller);
    if (status != TENON_OK)
        return settle(session, status);
    session->state = TENONI_SESSION_STARTING;
    session->encrypts = encrypts;
    write_nonce(parameters, session->nonce_caller);
    write_point(parameters, &ephemeral);
    tenoni_write_u8(parameters, TPM_SE_HMAC);
    write_cipher(parameters, encrypts);
    tenoni_write_u16(parameters, TENONI_ALG_SHA256);
    return TENON_OK;
}

static bool read_nonce(tenoni_reader *reader, uint8_t *out)
{
    uint16_t size;
    return tenoni_read_u16(reader, &size) && size == TENONI_SESSION_NONCE_SIZE && tenoni_read_bytes(reader, out, size);
}

tenon_status tenoni_session_started(tenoni_session *session, uint32_t handle, tenoni_reader *parameters)
{
    uint8_t salt[TENON_DIGEST_SIZE];
    if (session->state != TENONI_SESSION_STARTING)
        return settle(session, TENON_ERROR_SESSION);
    if (handle >> 24 != TPM_HT_HMAC_SESSION)
        return settle(session, TENON_ERROR_TPM_ANSWER);
    session->handle = handle;
    if (!read_nonce(parameters, session->nonce_tpm) || parameters->left != 0)
        return settle(session, TENON_ERROR_TPM_ANSWER);
    /* Part 1, 19.6.8: the auth value before the salt is that of a bind entity, and there is none. */
    memcpy(salt, session->key, sizeof salt);
    tenon_status status = tenoni_kdfa(session->key, sizeof session->key, (tenoni_part){salt, sizeof salt}, "ATH",
                                      nonce(session->nonce_tpm), nonce(session->nonce_caller));
    tenoni_wipe(salt, sizeof salt);
    session->state = TENONI_SESSION_LIVE;
    return settle(session, status);
}

/* sessionKey || authValue: the key of the HMAC, and of what encrypts (Part 1, 19.6.5 and 21). */
typedef struct {
    uint8_t bytes[TENON_DIGEST_SIZE + AUTH_MAX];
    size_t n;
} session_value;

/*
 * Zeros at the end of an auth value do not count, and here they cannot: the value fits into one block of HMAC, which
 * is filled up with zeros.
 */
static tenon_status set_value(session_value *out, const tenoni_session *session, const tenoni_part *auth)
{
    if (auth->n > AUTH_MAX)
        return TENON_ERROR_AUTH_VALUE;
    memcpy(out->bytes, session->key, sizeof session->key);
    if (auth->n != 0)
        memcpy(out->bytes + sizeof session->key, auth->bytes, auth->n);
    out->n = sizeof session->key + auth->n;
    return TENON_OK;
}

/* Part 1, 19.6.5: over cpHash or rpHash, the nonce of the side that computes it, the other's, the attributes. */
static tenon_status compute_hmac(tenon_digest *out, const session_value *value, const tenon_digest *hash,
                                 const uint8_t *newer, const uint8_t *older, uint8_t attributes)
{
    const tenoni_part parts[] = {{hash->bytes, sizeof hash->bytes}, nonce(newer), nonce(older), {&attributes, 1}};
    return tenoni_hmac(out, value->bytes, value->n, parts, 4);
}

typedef tenon_status cipher(uint8_t *data, size_t n, const uint8_t *key, size_t key_n, const uint8_t *iv);

/* Part 1, 21.3: the key and then the IV of the first parameter. Its size is not encrypted. */
static tenon_status cipher_first(cipher *function, uint8_t *parameters, size_t n, const session_value *value,
                                 const uint8_t *newer, const uint8_t *older)
{
    uint8_t key[CFB_KEY_SIZE + TENONI_CFB_IV_SIZE];
    uint16_t size;
    tenoni_reader reader = tenoni_reader_over(parameters, n);
    if (!tenoni_read_u16(&reader, &size) || size > reader.left)
        return TENON_ERROR_FLAGS;
    tenon_status status =
        tenoni_kdfa(key, sizeof key, (tenoni_part){value->bytes, value->n}, "CFB", nonce(newer), nonce(older));
    if (status == TENON_OK)
        status = function(parameters + 2, size, key, CFB_KEY_SIZE, key + CFB_KEY_SIZE);
    tenoni_wipe(key, sizeof key);
    return status;
}

/* Part 1, 18.7: cpHash. */
static tenon_status hash_command(tenon_digest *out, const tenoni_session_use *use, const uint8_t *parameters, size_t n)
{
    enum { HANDLES_MAX = 3 }; /* of any command of Part 3 */
    uint8_t code[4];
    tenoni_part parts[HANDLES_MAX + 2] = {{code, sizeof code}};
    if (use->names_count > HANDLES_MAX)
        return TENON_ERROR_TOO_LARGE;
    tenoni_writer writer = tenoni_writer_over(code, sizeof code);
    tenoni_write_u32(&writer, use->code);
    for (size_t i = 0; i < use->names_count; i++)
        parts[1 + i] = use->names[i];
    parts[1 + use->names_count] = (tenoni_part){parameters, n};
    return tenoni_sha256_parts(out, parts, use->names_count + 2);
}

/* Part 1, 18.8: rpHash, of an answer whose response code is 0. */
static tenon_status hash_answer(tenon_digest *out, uint32_t command, const uint8_t *parameters, size_t n)
{
    uint8_t codes[8];
    tenoni_writer writer = tenoni_writer_over(codes, sizeof codes);
    tenoni_write_u32(&writer, 0);
    tenoni_write_u32(&writer, command);
    return tenoni_sha256_parts(out, (tenoni_part[]){{codes, sizeof codes}, {parameters, n}}, 2);
}

static void write_entry(tenoni_writer *entry, const tenoni_session *session, const tenon_digest *hmac)
{
    tenoni_write_u32(entry, session->handle);
    write_nonce(entry, session->nonce_caller);
    tenoni_write_u8(entry, session->attributes);
    tenoni_write_u16(entry, sizeof hmac->bytes);
    tenoni_write_bytes(entry, hmac->bytes, sizeof hmac->bytes);
}

tenon_status tenoni_session_authorise(tenoni_session *session, tenoni_writer *entry, const tenoni_session_use *use,
                                      uint8_t *parameters, size_t n)
{
    session_value value;
    tenon_digest hash, hmac;
    if (session->state != TENONI_SESSION_LIVE)
        return settle(session, TENON_ERROR_SESSION);
    if ((use->attributes & ~KNOWN) != 0 || ((use->attributes & ENCRYPTING) != 0 && !session->encrypts))
        return settle(session, TENON_ERROR_FLAGS);
    session->attributes = use->attributes;
    tenon_status status = set_value(&value, session, &use->auth);
    if (status == TENON_OK)
        status = tenoni_random(session->nonce_caller, sizeof session->nonce_caller);
    if (status == TENON_OK && (use->attributes & TENONI_SESSION_DECRYPT) != 0)
        status = cipher_first(tenoni_cfb_encrypt, parameters, n, &value, session->nonce_caller, session->nonce_tpm);
    if (status == TENON_OK)
        status = hash_command(&hash, use, parameters, n);
    if (status == TENON_OK)
        status = compute_hmac(&hmac, &value, &hash, session->nonce_caller, session->nonce_tpm, use->attributes);
    if (status == TENON_OK)
        write_entry(entry, session, &hmac);
    tenoni_wipe(&value, sizeof value);
    return settle(session, status);
}

/* TPMS_AUTH_RESPONSE (Part 2, 10.13.3) */
typedef struct {
    uint8_t nonce_tpm[TENONI_SESSION_NONCE_SIZE];
    uint8_t attributes;
    uint8_t hmac[TENON_DIGEST_SIZE];
} answer_entry;

static bool read_entry(tenoni_reader *reader, answer_entry *out)
{
    return read_nonce(reader, out->nonce_tpm) && tenoni_read_u8(reader, &out->attributes) &&
           read_nonce(reader, out->hmac);
}

/* Checks everything that the entry promises. */
static tenon_status check_entry(const tenoni_session *session, const answer_entry *entry, const session_value *value,
                                uint32_t command, const uint8_t *parameters, size_t n)
{
    tenon_digest hash, hmac;
    if (tenoni_equal(entry->nonce_tpm, session->nonce_tpm, sizeof entry->nonce_tpm))
        return TENON_ERROR_SESSION;
    tenon_status status = hash_answer(&hash, command, parameters, n);
    if (status == TENON_OK)
        status = compute_hmac(&hmac, value, &hash, entry->nonce_tpm, session->nonce_caller, entry->attributes);
    if (status == TENON_OK && !tenoni_equal(hmac.bytes, entry->hmac, sizeof entry->hmac))
        status = TENON_ERROR_SESSION;
    tenoni_wipe(&hmac, sizeof hmac);
    if (status != TENON_OK)
        return status;
    return entry->attributes == session->attributes ? TENON_OK : TENON_ERROR_SESSION;
}

tenon_status tenoni_session_check(tenoni_session *session, tenoni_reader *entries, const tenoni_session_use *use,
                                  uint8_t *parameters, size_t n)
{
    session_value value;
    answer_entry entry;
    if (session->state != TENONI_SESSION_LIVE || !read_entry(entries, &entry))
        return settle(session, TENON_ERROR_SESSION);
    tenon_status status = set_value(&value, session, &use->auth);
    if (status == TENON_OK)
        status = check_entry(session, &entry, &value, use->code, parameters, n);
    if (status == TENON_OK && (entry.attributes & TENONI_SESSION_ENCRYPT) != 0) {
        status = cipher_first(tenoni_cfb_decrypt, parameters, n, &value, entry.nonce_tpm, session->nonce_caller);
        if (status == TENON_ERROR_FLAGS)
            status = TENON_ERROR_SESSION;
    }
    tenoni_wipe(&value, sizeof value);
    memcpy(session->nonce_tpm, entry.nonce_tpm, sizeof entry.nonce_tpm);
    if (status == TENON_OK && (entry.attributes & TENONI_SESSION_CONTINUE) == 0) {
        tenoni_session_end(session);
        session->handle = 0;
    }
    return settle(session, status);
}
