/* SPDX-License-Identifier: Apache-2.0 */
#include "keri_rig.h"

#include "crypto/blake3.h"

/* The scalars of auths-kel-p256.json, and one more: the bytes 1 to 32, 33 to 64, ... */
keri_rig keri_begin(void)
{
    keri_rig rig;
    memset(&rig, 0, sizeof rig);
    for (size_t i = 0; i < KERI_KEYS; i++) {
        uint8_t scalar[TENON_SCALAR_SIZE];
        for (size_t j = 0; j < sizeof scalar; j++)
            scalar[j] = (uint8_t)(sizeof scalar * i + j + 1);
        CHECK_OK(tenon_software_key_import(&rig.keys[i], scalar, sizeof scalar,
                                           TENON_KEY_DETERMINISTIC | TENON_KEY_SIGNS_DIGESTS));
        CHECK_OK(tenon_key_public_key(rig.keys[i], &rig.public_keys[i]));
    }
    return rig;
}

void keri_end(keri_rig *rig)
{
    for (size_t i = 0; i < KERI_KEYS; i++)
        tenon_key_free(&rig->keys[i]);
}

static void add(keri_event *out, const char *text, size_t n)
{
    if (CHECK(n <= sizeof out->text - out->n)) {
        memcpy(out->text + out->n, text, n);
        out->n += n;
    }
}

enum { SAIDS_MAX = 4, BLANK = 44 };

/* Where the size and the SAID go; 0 for none. */
typedef struct {
    size_t size, saids[SAIDS_MAX], count;
} holes;

static void add_hole(const keri_rig *rig, keri_event *out, holes *found, char which)
{
    static const char blank[] = "############################################";
    char text[TENON_KERI_KEY_SIZE];
    size_t n = sizeof text;
    if (which == 'V') {
        found->size = out->n;
        add(out, "000000", 6);
    } else if (which == 'D' && found->count < SAIDS_MAX) {
        found->saids[found->count++] = out->n;
        add(out, blank, BLANK);
    } else if (which == 'I' || which == 'P') {
        add(out, which == 'I' ? rig->state.prefix : rig->state.said, BLANK);
    } else if (which >= '0' && which < '0' + KERI_KEYS) {
        CHECK_OK(tenon_keri_key_encode(text, sizeof text, &n, &rig->public_keys[which - '0']));
        add(out, text, n);
    } else {
        CHECK(which >= 'a' && which < 'a' + KERI_KEYS);
        CHECK_OK(tenon_keri_key_digest(text, sizeof text, &n, &rig->public_keys[(which - 'a') % KERI_KEYS]));
        add(out, text, n);
    }
}

static void fill(keri_event *out, const holes *found)
{
    uint8_t raw[1 + TENON_DIGEST_SIZE] = {0};
    char digits[7], said[BLANK];
    tenon_digest digest;
    size_t n;
    snprintf(digits, sizeof digits, "%06zx", out->n);
    if (found->size != 0)
        memcpy(out->text + found->size, digits, 6);
    tenoni_blake3(&digest, out->text, out->n);
    memcpy(raw + 1, &digest, sizeof digest);
    CHECK_OK(tenon_base64url_encode(said, sizeof said, &n, raw, sizeof raw));
    said[0] = 'E';
    for (size_t i = 0; i < found->count; i++)
        memcpy(out->text + found->saids[i], said, sizeof said);
}

void keri_make(const keri_rig *rig, keri_event *out, const char *text, size_t signer)
{
    holes found = {0};
    tenon_signature signature;
    tenon_digest digest;
    size_t n;
    out->n = 0;
    for (; *text != '\0'; text++)
        if (*text == '$')
            add_hole(rig, out, &found, *++text);
        else
            add(out, text, 1);
    fill(out, &found);
    CHECK_OK(tenon_sha256(&digest, (const uint8_t *)out->text, out->n));
    CHECK_OK(tenon_key_sign_digest(rig->keys[signer], &signature, &digest));
    CHECK_OK(tenon_signature_normalize(&signature));
    CHECK_OK(tenon_keri_attachment_encode(out->attachment, sizeof out->attachment, &n, &signature));
}

void keri_make_with(const keri_rig *rig, keri_event *out, const char *text, const char *old, const char *replacement,
                    size_t signer)
{
    char changed[KERI_TEXT_MAX];
    const char *at = strstr(text, old);
    out->n = 0;
    if (!CHECK(at != NULL))
        return;
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, replacement, at + strlen(old));
    keri_make(rig, out, changed, signer);
}

tenon_status keri_append(keri_rig *rig, const keri_event *event)
{
    return tenon_keri_append(&rig->state, (const uint8_t *)event->text, event->n, event->attachment,
                             sizeof event->attachment, 0);
}
