/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_TENON_H
#define TENON_TENON_H

/*
 * libtenon: the C core of Tenon, without a TPM.
 *
 * This comment says once what holds for every function.
 *
 * Arguments    First the handle that the function works on, then the outputs, then the inputs. A length stands right
 *              behind its pointer and is a size_t. A pointer may be NULL only when its length is 0, or where its
 *              function says so; any other NULL is TENON_ERROR_NULL.
 * Outputs      A pointer to one of our structs, or (out, n, written). If n is too small, the result is
 *              TENON_ERROR_BUFFER_TOO_SMALL, *written is the size that is needed, and nothing is written to out: a call
 *              with n = 0 asks for the size. On any other failure *written is 0 and an output struct is all zeros.
 *              Nothing is ever written past out + n. Outputs do not overlap inputs.
 * Texts        Texts are bytes with a length, in and out. No NUL is expected or added, except by tenon_request_headers.
 * Values       tenon_digest, tenon_public_key, tenon_signature and the streams belong to the caller and hold no memory.
 * Handles      Made by x_new, x_generate, x_import or x_open and freed by x_free(&x), which accepts NULL and a
 *              pointer to NULL, wipes, frees, and leaves NULL. On failure *out is NULL.
 * Results      A tenon_status (tenon/status.h): 0 is success. Functions that cannot fail return their value.
 * Threads      A function touches only what it is given: there is no global state, no thread-local state,
 *              no output to a file or terminal. Any number of threads may use one handle. A value or stream is used by
 *              one thread at a time, and nobody frees a handle that another thread still uses.
 * Randomness   Comes from getrandom(2) each time, so neither a fork nor a restored snapshot repeats it. With the
 *              OpenSSL backend, OpenSSL derives the nonce of a software signature from the key, the digest and its own
 *              generator.
 * Secrets      Wiped before their memory is freed, on each path.
 */

#include "tenon/activate.h"
#include "tenon/api.h"
#include "tenon/digest.h"
#include "tenon/encoding.h"
#include "tenon/keri.h"
#include "tenon/key.h"
#include "tenon/p256.h"
#include "tenon/proof.h"
#include "tenon/quote.h"
#include "tenon/request.h"
#include "tenon/status.h"
#include "tenon/types.h"
#include "tenon/verify.h"

TENON_BEGIN

/* The version of the library that runs, as 0xMMmmpp00. */
TENON_API uint32_t tenon_version(void);

/* The version as text, such as "0.1.0". */
TENON_API const char *tenon_version_text(void);

/* The name of the cryptographic backend: "mbedtls" or "openssl". */
TENON_API const char *tenon_backend_name(void);

TENON_END

#endif
