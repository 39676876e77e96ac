/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_QUOTE_H
#define TENONI_QUOTE_H

#include "crypto/structures.h"
#include "proof/statement.h"
#include "tenon/quote.h"

/* A quote that is being verified: the arguments, and what was read. The parts point into the quote's bytes. */
typedef struct {
    const tenon_quote_policy *policy;
    const tenon_digest *nonce;
    const tenon_public_key *ak;
    size_t n;
    tenon_status read; /* of the CBOR */
    tenoni_reader format;
    tenoni_cbor_integer algorithm;
    tenoni_reader version;
    tenon_bytes quoted;
    tenon_bytes signature;
    bool whole; /* the next two were read to their ends */
    tenoni_attest attest;
    tenoni_quoted info;
    tenon_status form; /* of the signature */
    tenon_signature parsed;
} tenoni_quote;

/* A rule of tenon/quote.h: holds returns TENON_OK or the reason. */
typedef struct {
    tenon_status code;
    tenon_status (*holds)(const tenoni_quote *quote);
} tenoni_quote_rule;

/* All of them in order. */
extern const tenoni_quote_rule tenoni_quote_rules[];
extern const size_t tenoni_quote_rules_count;

/* tenon_quote_verify with these rules; a test leaves one out. */
tenon_status tenoni_quote_verify(tenon_report *report, const uint8_t *quote, size_t quote_n, const tenon_digest *nonce,
                                 const tenon_public_key *ak, const tenon_quote_policy *policy,
                                 const tenoni_quote_rule *rules, size_t count);

#endif
