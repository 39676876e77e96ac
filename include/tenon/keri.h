/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_KERI_H
#define TENON_KERI_H

#include "tenon/api.h"
#include "tenon/status.h"
#include "tenon/types.h"

TENON_BEGIN

/*
 * KERI, version 1 in JSON: identifiers that prove themselves. An identifier is the digest (SAID) of its inception
 * event. Each event names a key and the digest of the next key, and is signed by the key that it names; a rotation is
 * accepted only if its key is the one whose digest the event before it named. The log of these events is public.
 *
 * Here a log has one P-256 key at a time, and no witnesses, weighted thresholds or delegation. Digests are BLAKE3,
 * texts are CESR: a code and base64url.
 */
enum {
    TENON_KERI_KEY_SIZE = 48,        /* a public key: 1AAJ and the compressed point */
    TENON_KERI_SAID_SIZE = 44,       /* a digest: E and 32 bytes */
    TENON_KERI_DID_SIZE = 53,        /* did:keri: and the SAID of the inception */
    TENON_KERI_ATTACHMENT_SIZE = 92, /* -AAB and one signature, AA */
    TENON_KERI_INCEPTION_SIZE = 303,
    TENON_KERI_ROTATION_MAX = 371, /* 356 while the sequence number has one digit */
    TENON_KERI_EVENT_MAX = 65536   /* that tenon_keri_append reads */
};

/* The CESR text of a key that may be rotated (1AAJ). */
TENON_API TENON_MUST_USE tenon_status tenon_keri_key_encode(char *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                            const tenon_public_key *key);

/* Reads 1AAJ and 1AAI. Another text is TENON_ERROR_CESR; the point must be on the curve. */
TENON_API TENON_MUST_USE tenon_status tenon_keri_key_decode(tenon_public_key *out, const char *TENON_COUNTED(n) text,
                                                            size_t n);

/* What an event says of its next key: the SAID of the key's text with the code 1AAJ. */
TENON_API TENON_MUST_USE tenon_status tenon_keri_key_digest(char *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                            const tenon_public_key *key);

/* The attachment with the signature of the only key. A high s is TENON_ERROR_SIGNATURE_RANGE. */
TENON_API TENON_MUST_USE tenon_status tenon_keri_attachment_encode(char *TENON_COUNTED(n) out, size_t n,
                                                                   size_t *written, const tenon_signature *signature);

/* Reads one signature with index 0 and the code A, E, 2A or 2E; s may be high. Another text is TENON_ERROR_CESR. */
TENON_API TENON_MUST_USE tenon_status tenon_keri_attachment_decode(tenon_signature *out,
                                                                   const char *TENON_COUNTED(n) text, size_t n);

/* What a log has come to. Begin with zeros: an empty log. */
typedef struct {
    char prefix[TENON_KERI_SAID_SIZE]; /* the identifier */
    char said[TENON_KERI_SAID_SIZE];   /* of the last event */
    char next[TENON_KERI_SAID_SIZE];   /* the digest of the next key; zeros: the log has ended */
    uint32_t flags;                    /* TENON_KERI_ESTABLISHMENT_ONLY */
    uint64_t sequence;                 /* of the last event */
    tenon_public_key key;              /* the current one */
} tenon_keri_state;

enum { TENON_KERI_ESTABLISHMENT_ONLY = 0x1 }; /* every event has to be a rotation */

/* The identifier as a DID. TENON_ERROR_EMPTY for an empty log. */
TENON_API TENON_MUST_USE tenon_status tenon_keri_did(char *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                     const tenon_keri_state *state);

/*
 * The inception of an identifier, to be signed by its key (tenon_key_sign_event). Both keys must be kept before the
 * event leaves the device. One key twice is TENON_ERROR_NEXT_KEY.
 */
TENON_API TENON_MUST_USE tenon_status tenon_keri_inception(uint8_t *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                           const tenon_public_key *key, const tenon_public_key *next);

/*
 * The rotation that follows this state: key is the one that the last event committed to, and signs. The same state
 * gives the same event for the same keys. Two signed events with one number end an identity for ever: keep the bytes,
 * and send them again.
 */
TENON_API TENON_MUST_USE tenon_status tenon_keri_rotation(uint8_t *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                          const tenon_keri_state *state, const tenon_public_key *key,
                                                          const tenon_public_key *next);

/* What a verifier of other programs' logs may accept. Tenon never makes it. */
enum {
    TENON_KERI_ALLOW_ZERO_SIZE = 0x1, /* a size of 000000 in the version, as some programs leave it */
    TENON_KERI_ALLOW_HIGH_S = 0x2     /* a signature that has a second form */
};

/*
 * Takes the next event of a log: inception, rotation or interaction, with its attachment. The rules are asked in this
 * order, and the result is the code of the first that does not hold; the state changes only on success. It needs no
 * memory for events that were taken before.
 *
 *  1 SIZE            the event has 1 to TENON_KERI_EVENT_MAX bytes
 *  2 UNSIGNED        there is an attachment
 *  3 VERSION         the event begins with {"v":"KERI10JSON, six hexadecimal digits and _
 *  4 STATED_SIZE     the digits are the size of the event, or zeros where they are allowed
 *  5 TYPE            icp, rot or ixn
 *  6 NO_INCEPTION    the first event is an inception
 *  7 INCEPTION_AGAIN a later one is not
 *  8 FORM            the fields of its type, each once, in order, as compact JSON; anchors are objects of plain texts
 *  9 ENDED           the last event committed to a next key
 * 10 ROTATIONS_ONLY  a log that was begun with EO has no interaction
 * 11 SAID            d is the digest of the event
 * 12 SEQUENCE        s is 0, then one more each time, in lower-case hexadecimal digits
 * 13 IDENTIFIER      a later event has the identifier of the log
 * 14 PRIOR           p is the SAID of the event before
 * 15 KEY             k is one P-256 key on the curve
 * 16 ATTACHMENT      the attachment is one signature in CESR with index 0
 * 17 LOW_S           its s is low, unless a high one is allowed
 * 18 SIGNATURE       the key of the event made it; for an interaction, the key of the log
 * 19 SELF_CERTIFYING the identifier of an inception is its SAID
 * 20 WITNESSES       there are no witnesses
 * 21 THRESHOLD       kt is 1; nt is 1, or 0 without a next key
 * 22 NEXT            n is empty or one BLAKE3 digest
 * 23 TRAITS          c holds EO, DND, RB and NRB at most, none twice
 * 24 COMMITMENT      the key of a rotation is the one whose digest the event before it named
 */
TENON_API TENON_MUST_USE tenon_status tenon_keri_append(tenon_keri_state *state, const uint8_t *TENON_COUNTED(n) event,
                                                        size_t n, const char *TENON_COUNTED(attachment_n) attachment,
                                                        size_t attachment_n, uint32_t flags);

/* The sizes above, for callers without a C preprocessor. */
TENON_API size_t tenon_keri_key_size(void);
TENON_API size_t tenon_keri_said_size(void);
TENON_API size_t tenon_keri_did_size(void);
TENON_API size_t tenon_keri_attachment_size(void);
TENON_API size_t tenon_keri_inception_size(void);
TENON_API size_t tenon_keri_rotation_max(void);
TENON_API size_t tenon_keri_event_max(void);
TENON_API size_t tenon_keri_state_size(void);

TENON_END

#endif
