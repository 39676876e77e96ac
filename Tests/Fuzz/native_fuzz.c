/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/hash.h"
#include "fuzz.h"
#include "native/attestation.h"
#include "native/envelope.h"
#include "native/sealed.h"

/*
 * Input: a file of the folder of the native callbacks. The sum at an envelope's end, which chance would not find, is
 * set; the same bytes are tried as the sealed object inside one, and as a file of certificates.
 */

static void try_envelope(uint8_t *bytes, size_t n)
{
    tenoni_reader name, content;
    tenon_digest sum;
    tenoni_result result = tenoni_envelope_name(bytes, n, TENONI_ENVELOPE_KEY, &name);
    MUST(!tenoni_nothing(result));
    if (n < sizeof sum.bytes)
        return;
    MUST(tenon_sha256(&sum, bytes, n - sizeof sum.bytes) == TENON_OK);
    memcpy(bytes + n - sizeof sum.bytes, sum.bytes, sizeof sum.bytes);
    if (tenoni_done(tenoni_envelope_name(bytes, n, TENONI_ENVELOPE_KEY, &name)))
        MUST(name.at >= bytes && name.at + name.left <= bytes + n);
    if (tenoni_done(tenoni_envelope_open(bytes, n, TENONI_ENVELOPE_STORE, "", &content)))
        MUST(content.at >= bytes && content.at + content.left <= bytes + n - sizeof sum.bytes);
}

/* What is read is written again as it was. */
static void try_sealed(const uint8_t *bytes, size_t n)
{
    uint8_t again[TENONI_SEALED_MAX];
    tenoni_sealed sealed;
    tenoni_writer writer = tenoni_writer_over(again, sizeof again);
    if (!tenoni_sealed_read(&sealed, bytes, n))
        return;
    tenoni_sealed_write(&writer, &sealed);
    MUST(!writer.overflowed && writer.used == n && memcmp(again, bytes, n) == 0);
}

static void try_chain(const uint8_t *bytes, size_t n)
{
    static tenoni_chain chain;
    if (!tenoni_chain_read(&chain, bytes, n))
        return;
    MUST(chain.count >= 1 && chain.count <= TENON_CERTIFICATES_MAX);
    for (size_t i = 0; i < chain.count; i++)
        MUST(chain.parts[i].n >= 1 && chain.parts[i].n <= TENON_CERTIFICATE_MAX);
}

FUZZ_TARGET(data, n)
{
    try_sealed(data, n);
    try_chain(data, n);
    OWNED uint8_t *copy = malloc(n + 1);
    if (copy == NULL)
        return;
    memcpy(copy, data, n);
    try_envelope(copy, n);
}
