/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_TPM_TPM_H
#define TENON_TPM_TPM_H

/*
 * libtenon-tpm: signing keys that are created in a TPM 2.0 and never leave it. What tenon/tenon.h says about arguments,
 * outputs, handles, results and secrets holds here, too. It opens no file but the TPM's device node.
 *
 * A tenon_tpm sends one command at a time, in the order in which threads ask. If the TPM is busy, it repeats the
 * command until its deadline; if the transport fails, it opens the transport again, once. It belongs to the process
 * that opened it: in the child of a fork, each function that would use the TPM returns TENON_ERROR_FORKED, and nothing
 * is sent. A driver that never answers blocks the call.
 *
 * A child is recognised by a page that the kernel empties in it (MADV_WIPEONFORK). If the kernel cannot do that (Linux
 * before 4.14, some sandboxes), a child is recognised by its process id and pid namespace, and without /proc by its
 * process id alone.
 *
 * Behind a resource manager (/dev/tpmrm0, tabrmd:) what a key needs stays loaded, and a signature is one command. A
 * bare TPM (/dev/tpm0, a simulator) has three places or so for all who use it, and what a program leaves there stays
 * when the program ends. So nothing stays loaded there between two calls: each call loads what it needs and flushes it,
 * and a signature is 3 to 5 commands, or 1 with a persistent copy (tenon_tpm_key_persist). While others have taken the
 * places, a call flushes all of its own and tries again until the deadline; what it is answered then is category
 * TENON_CATEGORY_TRANSIENT with the TPM's code 0x902 to 0x906, and tenon_tpm_loaded_handles says what is there.
 *
 * Only one process at a time can have the node of a bare TPM open. Another process that opens it, also after its
 * transport failed, waits for it in steps of up to 200 ms, and gets TENON_ERROR_TPM_BUSY when the deadline has passed.
 *
 * No function deletes a key because of an answer of the TPM. A key is *gone* (category TENON_CATEGORY_GONE) only when
 * the seed witness kept with it differs from the TPM's, and the TPM refused it under each parent that it may have,
 * twice, two seconds apart, over a freshly opened transport. In another machine, whose TPM has another seed, the key is
 * gone, too.
 */

#include "tenon/activate.h"
#include "tenon/api.h"
#include "tenon/key.h"
#include "tenon/quote.h"
#include "tenon/status.h"
#include "tenon/types.h"

TENON_BEGIN

/* The sizes of what goes to a TPM and comes from it. */
enum {
    TENON_TPM_AUTH_MAX = 32,     /* an auth value */
    TENON_TPM_KEY_MAX = 2048,    /* an exported key */
    TENON_TPM_BUFFER_SIZE = 4096 /* a command or an answer */
};

/* The same sizes, for callers without a C preprocessor. */
TENON_API size_t tenon_tpm_auth_max(void);
TENON_API size_t tenon_tpm_key_max(void);
TENON_API size_t tenon_tpm_buffer_size(void);

/* An open TPM. */
typedef struct tenon_tpm tenon_tpm;

/* How a command is authorised. */
enum {
    TENON_TPM_SESSION_PASSWORD = 0, /* the node's permissions are the protection */
    TENON_TPM_SESSION_SALTED = 1,   /* HMAC, salted to the parent: without an auth value no defence against an
                                       active interposer */
    TENON_TPM_SESSION_ENCRYPTED = 2 /* salted, and the first parameter encrypted where the command allows */
};

/*
 * How a TPM is opened. With only size set, all options have their defaults. Auth values are copied, and wiped with the
 * handle.
 */
typedef struct {
    size_t size;               /* sizeof(tenon_tpm_options) */
    uint32_t allow_simulator;  /* 1: swtpm: and mssim: are accepted */
    uint32_t session;          /* TENON_TPM_SESSION_* for signatures of keys without an auth value */
    uint32_t deadline_ms;      /* how long to wait for a busy TPM, for room in it or for its node; 0: 2000 */
    const uint8_t *owner_auth; /* of the owner hierarchy; NULL: empty. It crosses the bus as it is */
    size_t owner_auth_n;
    const uint8_t *endorsement_auth; /* of the endorsement hierarchy; NULL: empty */
    size_t endorsement_auth_n;
} tenon_tpm_options;

/*
 * Opens a TPM by name: "device:/dev/tpmrm0", or "tabrmd:" with what tpm2-abrmd's TCTI accepts; with allow_simulator
 * also "swtpm:" and "mssim:". Any other name is TENON_ERROR_TCTI, because a TCTI name can run code. No command is sent.
 * options may be NULL.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_open(tenon_tpm **out, const char *TENON_COUNTED(name_n) name,
                                                     size_t name_n, const tenon_tpm_options *options);

/*
 * Opens a TPM over functions of the caller: for tests, for other hardware, for a TPM on another machine.
 *
 * exchange   sends one command and gives one answer of at most answer_size bytes; called by one thread at a time
 * reopen     starts over after a failed exchange, for example with a fresh connection; may be NULL if the transport
 *            cannot do that. If it returns TENON_ERROR_TPM_BUSY, it is called again until the deadline
 * close      releases the context; may be NULL
 * managed    1: objects that are loaded over it are isolated from those of others and vanish with the connection, as
 *            behind a resource manager; 0: it is a bare TPM, or that is not known
 *
 * The table is copied. On failure close is not called.
 */
typedef struct {
    size_t size;
    void *context;
    tenon_status (*exchange)(void *context, uint8_t *answer, size_t answer_size, size_t *answer_length,
                             const uint8_t *command, size_t command_length);
    tenon_status (*reopen)(void *context);
    void (*close)(void *context);
    uint32_t managed;
} tenon_tpm_transport;

/* Opens a TPM behind this transport. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_open_transport(tenon_tpm **out, const tenon_tpm_transport *transport,
                                                               const tenon_tpm_options *options);

/*
 * Opens the transport to a TPM by name, with the names and refusals of tenon_tpm_open, for programs that count, delay
 * or record what goes over it. The caller closes it with its close function, which is never NULL; a tenon_tpm that was
 * opened over it calls that function when it is closed. allow_simulator is 0 or 1. If another process holds the node,
 * the call waits for up to 2000 ms. On failure all of *out is zero.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_transport_open(tenon_tpm_transport *out,
                                                               const char *TENON_COUNTED(name_n) name, size_t name_n,
                                                               uint32_t allow_simulator);

/* Frees the TPM. It is closed once all its keys have been freed as well. */
TENON_API void tenon_tpm_free(tenon_tpm **tpm);

/* What a TPM says about itself. */
typedef struct {
    char maker[5];           /* four characters and a NUL, as "IFX" */
    char model[17];          /* vendor string, NUL-terminated */
    uint32_t firmware[2];    /* TPM_PT_FIRMWARE_VERSION_1 and _2 */
    uint32_t revision;       /* of the specification: 159 is 1.59 */
    uint32_t owner_auth_set; /* 0 or 1, as are the next */
    uint32_t endorsement_auth_set;
    uint32_t lockout_auth_set; /* 0: anyone who can open the node can clear the TPM */
    uint32_t clear_disabled;
    uint32_t in_lockout;
    uint32_t storage_enabled; /* the owner hierarchy */
    uint32_t endorsement_enabled;
    uint32_t lockout_counter;  /* failed tries that count */
    uint32_t lockout_max;      /* at which it locks */
    uint32_t lockout_interval; /* seconds until one try is forgiven */
    uint32_t lockout_recovery; /* seconds until the lockout auth may be tried again */
    uint32_t ek_certificates;  /* bits: 0 RSA-2048 L-1, 1 P-256 L-2, 2 RSA-2048 H-1, 3 P-256 H-2, 4 P-384 H-3 */
} tenon_tpm_info;

/* Reads all of it from the TPM. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_read_info(tenon_tpm *tpm, tenon_tpm_info *out);

/* A signing key in a TPM. It keeps its TPM open. */
typedef struct tenon_tpm_key tenon_tpm_key;

/*
 * Makes a key: P-256, attributes 00040472 (sign, noDA, userWithAuth, sensitiveDataOrigin, fixedParent, fixedTPM),
 * scheme NULL, under the ECC storage key at 0x81000001 if its template fits, else under the transient H-2 primary.
 *
 * auth: NULL for an empty auth value, or up to 32 bytes. With one, the key is made in a salted and encrypted session
 * and used through salted HMAC sessions only: the value never crosses the bus. Zero bytes at its end do not count.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_create(tenon_tpm *tpm, tenon_tpm_key **out,
                                                           const uint8_t *TENON_COUNTED(auth_n) auth, size_t auth_n);

/*
 * Makes a key for each use of which a person gives an auth value, such as a PIN: attributes 00040072, so that the TPM
 * counts wrong values and locks itself after too many (TPM_RC_LOCKOUT, category TENON_CATEGORY_AUTH). auth has 1 to 32
 * bytes. The key keeps the value until tenon_tpm_key_authorize sets or forgets it. tenon_tpm_key_load loads such a key
 * also without a value.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_create_guarded(tenon_tpm *tpm, tenon_tpm_key **out,
                                                                   const uint8_t *TENON_COUNTED(auth_n) auth,
                                                                   size_t auth_n);

/*
 * Sets the auth value that the next uses of the key prove, or with auth_n 0 wipes the one that is kept. Without a value
 * a use of a key that has one is TENON_ERROR_AUTH_NEEDED, and nothing is sent: an empty value would count as a wrong
 * one. A wrong value shows at the next use.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_authorize(tenon_tpm_key *key,
                                                              const uint8_t *TENON_COUNTED(auth_n) auth, size_t auth_n);

/*
 * Loads a key that tenon_tpm_key_export wrote. The key must have one of the two sets of attributes above. Its parent is
 * found by its Name, wherever it may be.
 *
 * Of a key with an exported persistent handle nothing is sent yet. Its first signature is made with what is at the
 * handle and verified with the key's public key before it is given out; that of another key is discarded. A handle that
 * holds another key is dropped and not tried again: tenon_tpm_key_handle is then 0. Export the key again and keep that,
 * so that other processes do not try the handle either: where the other key has a PIN, each try counts as a failed one.
 *
 * On a bare TPM nothing is sent yet, because nothing would stay loaded: the first use loads the key, and says what
 * stands against it. tenon_tpm_key_check says it now.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_load(tenon_tpm *tpm, tenon_tpm_key **out,
                                                         const char *TENON_COUNTED(pem_n) pem, size_t pem_n,
                                                         const uint8_t *TENON_COUNTED(auth_n) auth, size_t auth_n);

/*
 * Loads another tool's TSS2 PRIVATE KEY: P-256, sign set, restricted clear, scheme NULL or ECDSA with SHA-256. The key
 * signs, tenon_tpm_key_is_foreign returns 1, and it is never called gone, because it has no witness.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_import(tenon_tpm *tpm, tenon_tpm_key **out,
                                                           const char *TENON_COUNTED(pem_n) pem, size_t pem_n,
                                                           const uint8_t *TENON_COUNTED(auth_n) auth, size_t auth_n);

/*
 * Writes the key as a TSS2 PEM file, which tpm2-openssl and others also read: five fields, and before them, as text,
 * what Tenon needs to find the key again (parent, witness, handle). The file is useless without this TPM, and holds no
 * auth value.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_export(const tenon_tpm_key *key, char *TENON_COUNTED(n) out,
                                                           size_t n, size_t *written);

/* Flushes and frees the key. A persistent copy stays. */
TENON_API void tenon_tpm_key_free(tenon_tpm_key **key);

/* The public half. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_public_key(const tenon_tpm_key *key, tenon_public_key *out);

/* The handle of the persistent copy; 0 without one, for NULL, or when another key was found there. */
TENON_API uint32_t tenon_tpm_key_handle(const tenon_tpm_key *key);

/* 1 for a key that tenon_tpm_key_import loaded, else 0; 0 for NULL. */
TENON_API int32_t tenon_tpm_key_is_foreign(const tenon_tpm_key *key);

/* The Names that the key is known by: its own, its parent's, and the seed witness; 34 bytes each, or 0 if unknown. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_name(const tenon_tpm_key *key, uint8_t *TENON_COUNTED(n) out,
                                                         size_t n, size_t *written);

/* The parent's Name. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_parent_name(const tenon_tpm_key *key, uint8_t *TENON_COUNTED(n) out,
                                                                size_t n, size_t *written);

/* The seed witness. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_witness(const tenon_tpm_key *key, uint8_t *TENON_COUNTED(n) out,
                                                            size_t n, size_t *written);

/*
 * The key as a tenon_key (tenon/key.h). It counts as hardware, except for a foreign key that may leave the TPM. While
 * it is loaded, a signature is one TPM command.
 *
 * flags: TENON_KEY_SIGNS_DIGESTS; TENON_TPM_KEY_LOW_S: s is at most n/2; TENON_TPM_KEY_VERIFIED: each signature is
 * verified with the public key before it is returned. The tpm_key may be freed before the key.
 */
enum { TENON_TPM_KEY_LOW_S = 0x100, TENON_TPM_KEY_VERIFIED = 0x200 };

/* Opens a TPM key as a tenon_key. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_open(tenon_tpm_key *tpm_key, tenon_key **out, uint32_t flags);

/*
 * Checks again that the handle still holds this key, for example after a service refused a signature: somebody may have
 * put another key at a persistent handle, which would then sign. Such a handle is no longer used. One command.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_check(tenon_tpm_key *key);

/*
 * Keeps a copy of the key in the TPM at the first free handle from 0x81080000, so that a new process needs no Load. The
 * copy is a cache: the exported key remains the original. Needs the owner's auth. handle may be NULL.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_persist(tenon_tpm_key *key, uint32_t *handle);

/* Removes the copy again, if its Name is the key's. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_evict(tenon_tpm_key *key);

/* ---- Attestation ---- */

/*
 * An attestation key is a tenon_tpm_key that signs only the TPM's own statements: attributes 00050472 (restricted,
 * sign, noDA, userWithAuth, sensitiveDataOrigin, fixedParent, fixedTPM), P-256, ECDSA with SHA-256, no policy, empty
 * auth. It is made under the parent of the key that it will certify, and is lost when that key is lost. It is exported
 * and freed, and gives its Names, like any tenon_tpm_key. tenon_tpm_key_open and tenon_tpm_key_load refuse it with
 * TENON_ERROR_KEY_ATTRIBUTES. One AK for each service and application.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_ak_create(tenon_tpm_key *beside, tenon_tpm_key **out);

/* Loads an exported attestation key. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_ak_load(tenon_tpm *tpm, tenon_tpm_key **out,
                                                        const char *TENON_COUNTED(pem_n) pem, size_t pem_n);

/* The public area, TPMT_PUBLIC, as the TPM wrote it. A device sends a service the area of its AK. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_public_area(const tenon_tpm_key *key, uint8_t *TENON_COUNTED(n) out,
                                                                size_t n, size_t *written);

/*
 * How an AK was made, certified by the AK itself (TPM2_CertifyCreation). Together with the public area, these are the
 * parameters that attestation CAs in the style of go-attestation want. data is TPMS_CREATION_DATA, statement
 * TPMS_ATTEST over no qualifying data, signature TPMT_SIGNATURE. Only the process that made the AK can get them: for an
 * AK that tenon_tpm_ak_load loaded, the result is TENON_ERROR_NOT_MADE_HERE.
 */
typedef struct {
    uint8_t data[TENON_AREA_MAX];
    size_t data_n;
    uint8_t statement[TENON_AREA_MAX];
    size_t statement_n;
    uint8_t signature[TENON_AREA_MAX];
    size_t signature_n;
} tenon_tpm_creation;

/* Lets the attestation key certify its own creation. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_ak_creation(tenon_tpm_key *ak, tenon_tpm_creation *out);

/*
 * Lets the AK certify the key (TPM2_Certify) over qualifying data of at most 32 bytes, and writes a proof
 * (tenon/proof.h). x5c holds the AK's certificates, leaf first, or is empty. One TPM command while both keys are
 * loaded.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_key_attest(tenon_tpm_key *key, tenon_tpm_key *ak,
                                                           uint8_t *TENON_COUNTED(n) out, size_t n, size_t *written,
                                                           const uint8_t *TENON_COUNTED(qualifying_n) qualifying,
                                                           size_t qualifying_n, const tenon_bytes *x5c,
                                                           size_t x5c_count);

/*
 * Lets the AK quote PCRs of the SHA-256 bank (TPM2_Quote) over qualifying data of at most 32 bytes, and writes a quote
 * (tenon/quote.h). Bit i of pcrs is PCR i: at least one, and none from TENON_PCRS_MAX on, else TENON_ERROR_OPTIONS.
 * TENON_ERROR_PCRS_MISSING: the TPM does not keep all of them with SHA-256. One TPM command while the AK is loaded.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_ak_quote(tenon_tpm_key *ak, uint8_t *TENON_COUNTED(n) out, size_t n,
                                                         size_t *written,
                                                         const uint8_t *TENON_COUNTED(qualifying_n) qualifying,
                                                         size_t qualifying_n, uint32_t pcrs);

/*
 * Changes whenever the TPM behind the handle may be another one than before: its transport was opened again, or it lost
 * what was loaded. What a caller keeps of what a TPM said is good for one connection. 0 for NULL.
 */
TENON_API uint32_t tenon_tpm_connection(const tenon_tpm *tpm);

/* 1 for a TPM behind a resource manager, 0 for a bare one and for NULL. */
TENON_API int32_t tenon_tpm_is_managed(const tenon_tpm *tpm);

/*
 * Reads the EK certificate of this kind from NV (TENON_EK_*, tenon/activate.h), without the bytes around it. With
 * TENON_EK_ANY it is that of P-256, P-384 or RSA, the first that there is. TENON_ERROR_EK_MISSING if there is none. The
 * certificate identifies this TPM permanently: show it only to a service that needs it.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_ek_certificate(tenon_tpm *tpm, uint32_t kind,
                                                               uint8_t *TENON_COUNTED(n) out, size_t n,
                                                               size_t *written);

/*
 * TPM2_ActivateCredential: opens a credential that was made for this AK and for the EK whose certificate it is. The EK
 * is found by the certificate's public key among the persistent handles and templates, and used through its policy
 * only. A credential for another EK, AK or challenge is refused with the category TENON_CATEGORY_REJECTED. No refusal
 * says anything about the signing key.
 *
 * tenon_tpm_ak_activate gives the activation value (tenon/activate.h) and wipes the secret. It takes ek_id from the
 * certificate and ak_name from the AK, whatever the activation holds. tenon_tpm_ak_secret gives the secret itself, for
 * the one protocol that sends it: never show one AK to two authorities of that kind.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_ak_activate(
    tenon_tpm_key *ak, tenon_digest *out, const uint8_t *TENON_COUNTED(certificate_n) certificate, size_t certificate_n,
    const uint8_t *TENON_COUNTED(credential_n) credential, size_t credential_n,
    const uint8_t *TENON_COUNTED(encrypted_n) encrypted, size_t encrypted_n, const tenon_activation *activation);

/* Gives the secret of the credential. */
TENON_API TENON_MUST_USE tenon_status
tenon_tpm_ak_secret(tenon_tpm_key *ak, uint8_t *TENON_COUNTED(n) out, size_t n, size_t *written,
                    const uint8_t *TENON_COUNTED(certificate_n) certificate, size_t certificate_n,
                    const uint8_t *TENON_COUNTED(credential_n) credential, size_t credential_n,
                    const uint8_t *TENON_COUNTED(encrypted_n) encrypted, size_t encrypted_n);

/* Lists the persistent handles of the TPM, ascending; out holds n of them. */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_handles(tenon_tpm *tpm, uint32_t *TENON_COUNTED(n) out, size_t n,
                                                        size_t *written);

/*
 * Lists what others than this tenon_tpm have loaded in the TPM: objects (0x80xxxxxx) ascending, then sessions
 * (0x02xxxxxx, 0x03xxxxxx); out holds n of them. On a bare TPM they belong to other programs, or a killed program left
 * them. tpm2_flushcontext -t and -l remove them, even if they are in use. A resource manager hides the objects of other
 * programs.
 */
TENON_API TENON_MUST_USE tenon_status tenon_tpm_loaded_handles(tenon_tpm *tpm, uint32_t *TENON_COUNTED(n) out, size_t n,
                                                               size_t *written);

TENON_END

#endif
