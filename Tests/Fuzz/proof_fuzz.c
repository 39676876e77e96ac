/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "tenon/encoding.h"
#include "tenon/proof.h"

static bool lies_in(const tenon_bytes *part, const uint8_t *proof, size_t n)
{
    return part->bytes >= proof && part->bytes + part->n <= proof + n;
}

static bool is_caused_by_input(tenon_status status)
{
    return tenon_status_category(status) == TENON_CATEGORY_FORMAT || status == TENON_ERROR_TOO_LARGE;
}

/* The parts lie in the proof, within their sizes. */
static void must_be_within(const tenon_evidence *evidence, const uint8_t *proof, size_t n)
{
    const tenon_bytes *const parts[] = {&evidence->public_area, &evidence->certified, &evidence->signature};
    size_t total = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        MUST(lies_in(parts[i], proof, n) && parts[i]->n <= TENON_AREA_MAX);
    MUST(evidence->x5c_count <= TENON_CERTIFICATES_MAX);
    for (size_t i = 0; i < evidence->x5c_count; i++) {
        MUST(lies_in(&evidence->x5c[i], proof, n) && evidence->x5c[i].n <= TENON_CERTIFICATE_MAX);
        total += evidence->x5c[i].n;
    }
    MUST(total <= TENON_CERTIFICATES_TOTAL);
}

/* One evidence has one encoding. */
static void must_come_back(const tenon_evidence *evidence, const uint8_t *proof, size_t n)
{
    size_t written;
    OWNED uint8_t *again = fuzz_room(n);
    MUST(tenon_proof_encode(again, n, &written, evidence) == TENON_OK);
    MUST(written == n && memcmp(again, proof, n) == 0);
}

static void read_parts(const tenon_evidence *evidence)
{
    tenon_signature signature, same;
    tenon_public_key key;
    uint8_t der[TENON_SIGNATURE_DER_MAX], name[TENON_NAME_SIZE];
    size_t n;
    if (tenon_evidence_signature(&signature, evidence) == TENON_OK) {
        MUST(tenon_evidence_signature_der(der, sizeof der, &n, evidence) == TENON_OK);
        MUST(tenon_signature_decode_der(&same, der, n) == TENON_OK);
        MUST(memcmp(&same, &signature, sizeof same) == 0);
    } else {
        MUST(fuzz_all(&signature, sizeof signature, 0));
    }
    if (tenon_object_public_key(&key, evidence->public_area.bytes, evidence->public_area.n) != TENON_OK)
        MUST(fuzz_all(&key, sizeof key, 0));
    if (tenon_object_name(name, sizeof name, &n, evidence->public_area.bytes, evidence->public_area.n) == TENON_OK)
        MUST(n == sizeof name && name[0] == 0 && name[1] == 0x0b && evidence->public_area.bytes[3] == 0x0b);
}

FUZZ_TARGET(data, n)
{
    tenon_evidence evidence;
    memset(&evidence, FUZZ_FILL, sizeof evidence);
    tenon_status status = tenon_proof_decode(&evidence, data, n);
    if (status == TENON_OK) {
        must_be_within(&evidence, data, n);
        must_come_back(&evidence, data, n);
        read_parts(&evidence);
    } else {
        MUST(is_caused_by_input(status));
        MUST(fuzz_all(&evidence, sizeof evidence, 0));
    }
    /* The parts alone, which chance would not find in CBOR. */
    evidence = (tenon_evidence){.public_area = {data, n}, .certified = {data, n}, .signature = {data, n}};
    read_parts(&evidence);
}
