/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "tenon/encoding.h"
#include "tenon/keri.h"

/* Input: a text. One key and one signature have one text each, but for the codes of others that are read. */

static void as_key(const char *text, size_t n)
{
    tenon_public_key key;
    char again[TENON_KERI_KEY_SIZE];
    size_t written;
    memset(&key, FUZZ_FILL, sizeof key);
    if (fuzz_refused(tenon_keri_key_decode(&key, text, n), &key, sizeof key))
        return;
    MUST(tenon_keri_key_encode(again, sizeof again, &written, &key) == TENON_OK && written == n);
    MUST(memcmp(again + 4, text + 4, n - 4) == 0 && memcmp(again, text, 3) == 0);
}

static void as_attachment(const char *text, size_t n)
{
    tenon_signature signature;
    char again[TENON_KERI_ATTACHMENT_SIZE];
    size_t written;
    memset(&signature, FUZZ_FILL, sizeof signature);
    if (fuzz_refused(tenon_keri_attachment_decode(&signature, text, n), &signature, sizeof signature))
        return;
    tenon_status status = tenon_keri_attachment_encode(again, sizeof again, &written, &signature);
    MUST((status == TENON_OK) == (tenon_signature_is_low_s(&signature) == 1));
    if (status == TENON_OK)
        MUST(memcmp(again + 6, text + n - 86, 86) == 0);
}

FUZZ_TARGET(data, n)
{
    OWNED char *text = fuzz_copy(data, n);
    as_key(text, n);
    as_attachment(text, n);
}
