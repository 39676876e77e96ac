/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "tenon/quote.h"

/* Input: a quote. The nonce and the key are arbitrary, so that nothing is accepted. */

static bool may_be(tenon_status status)
{
    return tenon_status_category(status) == TENON_CATEGORY_FORMAT ||
           (status >= TENON_QUOTE_1_SIZE && status <= TENON_QUOTE_13_SIGNATURE);
}

FUZZ_TARGET(data, n)
{
    static const tenon_digest nonce = {{1, 2, 3}};
    static const tenon_public_key ak;
    const tenon_quote_policy policy = {.size = sizeof policy, .pcrs = 1u << 0 | 1u << 7};
    OWNED uint8_t *quote = fuzz_copy(data, n);
    tenon_report report, again;
    tenon_status status = tenon_quote_verify(&report, quote, n, &nonce, &ak, &policy);
    MUST(may_be(status) && report.verdict == status);
    MUST(report.count >= 1 && report.checks[report.count - 1].held == 0);
    for (size_t i = 0; i + 1 < report.count; i++)
        MUST(report.checks[i].held != 0);
    MUST(tenon_quote_verify(&again, quote, n, &nonce, &ak, &policy) == status);
    MUST(again.count == report.count && report.clock_safe == 0);
    tenon_public_key key;
    if (tenon_certificate_public_key(&key, quote, n) != TENON_OK)
        MUST(fuzz_all(&key, sizeof key, 0));
}
