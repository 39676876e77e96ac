/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "proof/certificate.h"
#include "proof/name.h"
#include "proof/rules.h"

typedef struct {
    tenoni_certificate certificates[TENON_CERTIFICATES_MAX];
    size_t count;
    int64_t now;
    const uint8_t *usage;
    bool ends_in_root;
} chain;

static tenoni_reader over(tenon_bytes bytes)
{
    return tenoni_reader_over(bytes.bytes, bytes.n);
}

static bool sizes_fit(const tenon_bytes *bytes, size_t count)
{
    size_t total = 0;
    if (count < 1 || count > TENON_CERTIFICATES_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (bytes[i].n > TENON_CERTIFICATE_MAX)
            return false;
        total += bytes[i].n;
    }
    return total <= TENON_CERTIFICATES_TOTAL;
}

/* RFC 5280, 4.2.1.1: key identifiers tell two authorities of one name apart. */
static bool may_be_issuer(const tenoni_certificate *above, const tenoni_certificate *certificate)
{
    return tenoni_same(above->subject, certificate->issuer) &&
           (above->key_id.left == 0 || certificate->issuer_key_id.left == 0 ||
            tenoni_same(above->key_id, certificate->issuer_key_id));
}

static tenon_status read_forms(chain *out, const tenon_bytes *bytes, size_t count)
{
    const tenoni_certificate *all = out->certificates;
    tenon_status status = TENON_OK;
    if (!sizes_fit(bytes, count))
        return TENON_RULE_22_CERTIFICATE;
    for (size_t i = 0; i < count; i++) {
        tenon_status found = tenoni_certificate_read(&out->certificates[i], bytes[i].bytes, bytes[i].n);
        if (found == TENON_RULE_22_CERTIFICATE || (i > 0 && !may_be_issuer(&all[i], &all[i - 1])))
            return TENON_RULE_22_CERTIFICATE;
        for (size_t below = 0; below < i; below++)
            if (tenoni_same(all[below].subject, all[i].subject))
                return TENON_RULE_22_CERTIFICATE;
        status = status == TENON_OK ? found : status;
    }
    out->count = count;
    return status;
}

static bool is_live(const tenoni_certificate *certificate, int64_t now)
{
    return certificate->not_before <= now && now <= certificate->not_after;
}

/* A root is trusted because the policy has it, whatever usages it names. */
static bool is_authority(const chain *of, size_t i)
{
    const tenoni_certificate *certificate = &of->certificates[i];
    bool is_root = of->ends_in_root && i == of->count - 1;
    return tenoni_certificate_may_sign(certificate, i - 1) &&
           (is_root || tenoni_certificate_allows(certificate, of->usage));
}

/*
 * Authorities, path lengths and dates of all certificates: these checks cost nothing, so they come before the first
 * signature.
 */
static bool authorities_hold(const chain *of)
{
    for (size_t i = 0; i < of->count; i++)
        if (!is_live(&of->certificates[i], of->now) || (i > 0 && !is_authority(of, i)))
            return false;
    return true;
}

static tenon_status check_signature(const tenoni_certificate *certificate, const tenoni_certificate *issuer)
{
    return tenoni_certified_key_verify(&issuer->key, certificate->signed_with_rsa, certificate->hash,
                                       certificate->signed_part, certificate->signature);
}

/* TENON_ERROR_SIGNATURE_INVALID when no root has signed the last certificate. */
static tenon_status find_root(const chain *of, const tenon_bytes *roots, size_t roots_count)
{
    const tenoni_certificate *last = &of->certificates[of->count - 1];
    tenon_status status = TENON_ERROR_SIGNATURE_INVALID;
    for (size_t i = 0; status == TENON_ERROR_SIGNATURE_INVALID && i < roots_count; i++) {
        tenoni_certificate root;
        if (tenoni_certificate_read(&root, roots[i].bytes, roots[i].n) == TENON_OK && may_be_issuer(&root, last) &&
            is_live(&root, of->now) && tenoni_certificate_may_sign(&root, of->count - 1))
            status = check_signature(last, &root);
    }
    return status;
}

static bool is_root(tenon_bytes certificate, const tenon_bytes *roots, size_t roots_count)
{
    for (size_t i = 0; i < roots_count; i++)
        if (tenoni_same(over(certificate), over(roots[i])))
            return true;
    return false;
}

tenon_status tenoni_chain_verify(tenoni_certificate *leaf, const tenon_bytes *bytes, size_t count,
                                 const tenon_bytes *roots, size_t roots_count, int64_t now, const uint8_t *usage,
                                 tenon_status chain_rule)
{
    chain all = {.now = now, .usage = usage};
    memset(leaf, 0, sizeof *leaf);
    tenon_status status = read_forms(&all, bytes, count);
    if (status == TENON_RULE_22_CERTIFICATE)
        return status;
    *leaf = all.certificates[0];
    if (status != TENON_OK)
        return status;
    all.ends_in_root = count > 1 && is_root(bytes[count - 1], roots, roots_count);
    if (!authorities_hold(&all))
        return chain_rule;
    status = all.ends_in_root ? TENON_OK : find_root(&all, roots, roots_count);
    /* From the root down, so no key is used before a trusted key has signed it. */
    for (size_t i = count - 1; status == TENON_OK && i > 0; i--)
        status = check_signature(&all.certificates[i - 1], &all.certificates[i]);
    return tenoni_as_rule(status, chain_rule);
}
