/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_NATIVE_NATIVE_H
#define TENON_NATIVE_NATIVE_H

/*
 * libsynheart_native_crypto.so: the platform's half of the Synheart core runtime, with a TPM 2.0 behind it. The runtime
 * finds the eight synheart_native_ functions by their names. docs/native-callbacks.md says what they promise.
 *
 * Texts are UTF-8 and end in a NUL; they belong to the caller, and are read during the call only. A text that is
 * returned comes from malloc; the caller frees it with free. NULL, an empty name, and text that is not UTF-8 are
 * failures. Any number of threads may call. Every call ends within its time: 5 seconds, 15 for generate_key, 30 for
 * get_attestation, selftest and report. A call that ran out of time may still take effect; the calls after it see that.
 *
 * The eight functions know only success and failure. What a failure was, tenon_native_last_error says. None of them
 * makes, replaces or deletes anything when it cannot tell whether something is there.
 */

#include "tenon/api.h"

TENON_BEGIN

/* The longest name and value, in bytes without the NUL. */
enum { TENON_NATIVE_ID_MAX = 1024, TENON_NATIVE_NAME_MAX = 65536, TENON_NATIVE_VALUE_MAX = 16777216 };

/*
 * Gives the public key of the device id, and makes the key if there is none: {"x":"...","y":"..."}, each coordinate as
 * 43 characters of base64url. NULL on failure.
 */
TENON_API char *synheart_native_generate_key(const char *device_id);

/*
 * Signs the SHA-256 of the data with ECDSA and the key of the device id: 86 characters of base64url, r and s. NULL on
 * failure, also if there is no key or no data. It signs whatever it is given.
 */
TENON_API char *synheart_native_sign_bytes(const char *device_id, const uint8_t *data, size_t data_len);

/*
 * Lets the TPM certify the key of the device id over a hash of 32 bytes: {"format":"tpm2","blob":"..."}, or, if that
 * is not possible, {"format":"none","blob":"","reason":"..."}. NULL for invalid arguments and without memory only.
 */
TENON_API char *synheart_native_get_attestation(const char *device_id, const uint8_t *challenge_hash, size_t hash_len);

/* 1 if there is a key for the device id, or if that cannot be told; 0 if there is none. Sends nothing to the TPM. */
TENON_API int32_t synheart_native_key_exists(const char *device_id);

/* Deletes the key of the device id and what its attestation was made with. 0 on success, also if there was none. */
TENON_API int32_t synheart_native_delete_key(const char *device_id);

/*
 * Keeps the value under the two names, and replaces an earlier value that can be read. 0 on success; a value that is
 * there and cannot be read stays until it was read or deleted.
 */
TENON_API int32_t synheart_native_secure_store(const char *service, const char *key, const char *value);

/* Gives the value, or NULL. tenon_native_secure_load_ex tells a value that is absent from one that cannot be read. */
TENON_API char *synheart_native_secure_load(const char *service, const char *key);

/* Deletes the value. 0 on success, also if there was none. */
TENON_API int32_t synheart_native_secure_delete(const char *service, const char *key);

/* ---- What Tenon adds ---- */

/* What a look gives. */
enum { TENON_NATIVE_UNAVAILABLE = -1, TENON_NATIVE_ABSENT = 0, TENON_NATIVE_FOUND = 1 };

/* The version of this interface: the major in the upper 16 bits, the minor in the lower. */
TENON_API uint32_t tenon_native_abi_version(void);

/*
 * Where the library works. state_dir is an absolute path, or NULL: /var/lib/tenon for root, .local/state/tenon in the
 * home folder for others. tpm is a name as tenon_tpm_open takes it, or NULL: device:/dev/tpmrm0. With allow_simulator 1
 * it may be a simulator's. With counter 1 a new store is tied to a counter in the TPM's NV memory, so that old files
 * are noticed; it holds 65,536 values. Set size to sizeof(tenon_native_options), and the rest to zeros.
 */
typedef struct {
    size_t size;
    const char *state_dir;
    const char *tpm;
    uint32_t allow_simulator;
    uint32_t counter;
} tenon_native_options;

/* Says where to work, before the first call of another function. 0 on success. */
TENON_API int32_t tenon_native_configure(const tenon_native_options *options);

/*
 * What the last failed call of this thread was: {"code":...,"message":...,"retryable":...,"reason":...}; NULL if the
 * last call succeeded. The reason is one of those of get_attestation. An absent key or value is a failure here, too.
 */
TENON_API char *tenon_native_last_error(void);

/* Whether there is a key that signs: TENON_NATIVE_*. Loads it into the TPM. */
TENON_API int32_t tenon_native_key_state(const char *device_id);

/* As secure_load; *outcome becomes TENON_NATIVE_*, and the result is NULL unless that is TENON_NATIVE_FOUND. */
TENON_API char *tenon_native_secure_load_ex(const char *service, const char *key, int32_t *outcome);

/* Seals, unseals and encrypts something, and keeps none of it. 0 if all of that works. */
TENON_API int32_t tenon_native_selftest(void);

/*
 * What lies in the folder, and what a runtime would be told, as JSON for a person who looks for a fault. It contains no
 * value, no key and no name of a value. NULL without memory.
 */
TENON_API char *tenon_native_report(void);

TENON_END

#endif
