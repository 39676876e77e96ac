/* SPDX-License-Identifier: Apache-2.0 */
#include "native/attestation.h"

#include <stdlib.h>
#include <string.h>

#include "base/secure.h"
#include "native/envelope.h"
#include "tenon/encoding.h"
#include "tenon/proof.h"

/* The files of an identity begin with 32 hex digits; these are the ends of those of its attestation key. */
enum { STEM = 32, MAPPING_LETTER = 'a', PEM_MAX = 20480 };

static const char key_end[] = ".ak.pem", certificate_end[] = ".ak.crt";

typedef struct {
    char stem[STEM + 1];
    size_t count;
} search;

static bool is_stem(const char *text)
{
    for (size_t i = 0; i < STEM; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    return true;
}

static bool count_certificate(void *context, const char *name)
{
    search *work = context;
    if (strlen(name) == STEM + sizeof certificate_end - 1 && is_stem(name) &&
        strcmp(name + STEM, certificate_end) == 0) {
        memcpy(work->stem, name, STEM);
        work->count++;
    }
    return true;
}

tenoni_result tenoni_attesters(const tenoni_folder *folder, size_t *count)
{
    search work = {.count = 0};
    tenoni_result result = tenoni_folder_list(folder->state, count_certificate, &work);
    *count = work.count;
    return result;
}

/* The identity whose attestation key this device id has; the first attestation chooses, if there is a choice. */
static tenoni_result find_stem(const tenoni_folder *folder, const char *id, char *stem)
{
    search work = {.count = 0};
    tenoni_content content;
    char file[TENONI_FILE_NAME_SIZE];
    tenoni_result result = tenoni_file_name(file, MAPPING_LETTER, id);
    if (tenoni_done(result))
        result = tenoni_envelope_find(folder, file, TENONI_ENVELOPE_MAPPING, id, &content);
    if (tenoni_done(result)) {
        memcpy(stem, content.bytes, STEM);
        stem[STEM] = 0;
        return content.n == STEM && is_stem(stem) ? result : tenoni_because(TENONI_FILE_DAMAGED);
    }
    if (tenoni_nothing(result))
        result = tenoni_folder_list(folder->state, count_certificate, &work);
    if (!tenoni_done(result) || work.count != 1)
        return tenoni_done(result) ? tenoni_because(TENONI_NO_CERTIFICATE) : result;
    memcpy(stem, work.stem, STEM + 1);
    return tenoni_envelope_keep(folder, file, TENONI_ENVELOPE_MAPPING, id, (const uint8_t *)stem, STEM);
}

static bool skip_line(tenoni_reader *from, const char *line)
{
    uint8_t found[32];
    size_t n = strlen(line);
    return n <= sizeof found && tenoni_read_bytes(from, found, n) && tenoni_equal(found, line, n);
}

/* Base64 in lines, up to the line that ends the block. */
static bool read_certificate(tenoni_reader *from, tenoni_chain *out, size_t *used)
{
    enum { BASE64_MAX = (TENON_CERTIFICATE_MAX + 2) / 3 * 4 };
    char text[BASE64_MAX];
    size_t n = 0, written;
    uint8_t c;
    if (out->count == TENON_CERTIFICATES_MAX || !skip_line(from, "-----BEGIN CERTIFICATE-----\n"))
        return false;
    while (from->left != 0 && from->at[0] != '-') {
        if (!tenoni_read_u8(from, &c) || (c != '\n' && n == sizeof text))
            return false;
        if (c != '\n')
            text[n++] = (char)c;
    }
    if (!skip_line(from, "-----END CERTIFICATE-----\n") ||
        tenon_base64_decode(out->bytes + *used, sizeof out->bytes - *used, &written, text, n) != TENON_OK)
        return false;
    out->parts[out->count++] = (tenon_bytes){out->bytes + *used, written};
    *used += written;
    return written != 0 && written <= TENON_CERTIFICATE_MAX;
}

bool tenoni_chain_read(tenoni_chain *out, const uint8_t *pem, size_t n)
{
    size_t used = 0;
    tenoni_reader from = tenoni_reader_over(pem, n);
    out->count = 0;
    while (from.left != 0)
        if (!read_certificate(&from, out, &used))
            return false;
    return out->count != 0;
}

static tenoni_result read_file(const tenoni_folder *folder, const char *stem, const char *end, uint8_t **out, size_t *n)
{
    char name[STEM + sizeof key_end];
    memcpy(name, stem, STEM);
    memcpy(name + STEM, end, sizeof key_end);
    tenoni_result result = tenoni_file_read(folder->state, name, PEM_MAX, out, n);
    return tenoni_nothing(result) ? tenoni_because(TENONI_NO_CERTIFICATE) : result;
}

static tenoni_result read_chain(const tenoni_folder *folder, const char *stem, tenoni_chain *out)
{
    uint8_t *pem;
    size_t n;
    tenoni_result result = read_file(folder, stem, certificate_end, &pem, &n);
    if (tenoni_done(result) && !tenoni_chain_read(out, pem, n))
        result = tenoni_because(TENONI_FILE_DAMAGED);
    free(pem);
    return result;
}

/* Whether the leaf holds the key's point: a certificate that was left behind by another key proves nothing. */
static bool is_certificate_of(const tenoni_chain *chain, const tenon_tpm_key *ak)
{
    tenon_public_key point;
    const tenon_bytes *leaf = &chain->parts[0];
    if (tenon_tpm_key_public_key(ak, &point) != TENON_OK)
        return false;
    for (size_t i = 0; i + sizeof point.bytes <= leaf->n; i++)
        if (tenoni_equal(leaf->bytes + i, point.bytes, sizeof point.bytes))
            return true;
    return false;
}

static tenoni_result load_ak(const tenoni_folder *folder, const char *stem, tenon_tpm_key **out)
{
    uint8_t *pem;
    size_t n;
    tenon_tpm *tpm;
    *out = NULL;
    tenoni_result result = read_file(folder, stem, key_end, &pem, &n);
    if (tenoni_done(result))
        result = tenoni_desk_tpm(&tpm);
    if (tenoni_done(result))
        result = tenoni_of(tenon_tpm_ak_load(tpm, out, (const char *)pem, n));
    free(pem);
    return result;
}

static tenoni_result encode(const uint8_t *proof, size_t n, tenoni_text *blob)
{
    size_t written, room = (n + 2) / 3 * 4;
    char *text = malloc(room + 1);
    if (text == NULL)
        return tenoni_because(TENONI_NO_MEMORY);
    tenon_status status = tenon_base64_encode(text, room, &written, proof, n);
    if (status == TENON_OK)
        tenoni_text_bytes(blob, text, written);
    free(text);
    return tenoni_of(status);
}

static tenoni_result certify(tenon_tpm_key *key, tenon_tpm_key *ak, const tenoni_chain *chain,
                             const tenon_digest *challenge, tenoni_text *blob)
{
    size_t n;
    uint8_t *proof = malloc(TENON_PROOF_MAX);
    if (proof == NULL)
        return tenoni_because(TENONI_NO_MEMORY);
    tenoni_result result = tenoni_of(tenon_tpm_key_attest(key, ak, proof, TENON_PROOF_MAX, &n, challenge->bytes,
                                                          sizeof challenge->bytes, chain->parts, chain->count));
    if (tenoni_done(result))
        result = encode(proof, n, blob);
    free(proof);
    return result;
}

/* What is missing shows before the TPM is used. */
tenoni_result tenoni_device_attest(const tenoni_folder *folder, const char *id, const tenon_digest *challenge,
                                   tenoni_text *blob)
{
    char stem[STEM + 1];
    tenon_tpm_key *key, *ak = NULL;
    tenoni_result result = tenoni_device_key_look(folder, id);
    tenoni_chain *chain = malloc(sizeof *chain);
    if (chain == NULL)
        return tenoni_because(TENONI_NO_MEMORY);
    if (tenoni_done(result))
        result = find_stem(folder, id, stem);
    if (tenoni_done(result))
        result = read_chain(folder, stem, chain);
    if (tenoni_done(result))
        result = load_ak(folder, stem, &ak);
    if (tenoni_done(result) && !is_certificate_of(chain, ak))
        result = tenoni_because(TENONI_NO_CERTIFICATE);
    if (tenoni_done(result))
        result = tenoni_device_key(folder, id, &key);
    if (tenoni_done(result))
        result = certify(key, ak, chain, challenge, blob);
    tenon_tpm_key_free(&ak);
    free(chain);
    return result;
}
