/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include "tenon/tenon.h"
#include "tool.h"

/*
 * Tenon's side of Tests/Scripts/interop.sh: TPM keys that other tools made, or will use. AUTH is a file with the auth
 * value. TCTI may be a simulator's. It ends with 0, or with the category of the status whose name it prints.
 *
 *   interop create TCTI PEM SPKI [AUTH]                       makes a key, and writes it and its public half
 *   interop load TCTI PEM SPKI MESSAGE SIGNATURE [AUTH]       a key of Tenon signs a message; prints "own"
 *   interop import TCTI PEM SPKI MESSAGE SIGNATURE [AUTH]     a key of another tool; prints "foreign"
 *   interop persist TCTI PEM [AUTH]                           makes a copy in the TPM, and writes the key anew
 *   interop evict TCTI PEM [AUTH]                             takes it away
 *   interop ak TCTI PEM AK NAME                               makes an AK beside a key, and writes it and its Name
 *   interop attest TCTI PEM AK NONCE STATEMENT                writes what the TPM says of the key, TPMS_ATTEST
 *   interop open TCTI AK CERTIFICATE CREDENTIAL SECRET        opens a credential for the AK and this EK
 *   interop verify SPKI MESSAGE SIGNATURE                     SIGNATURE is DER, as it is above
 *   interop make CERTIFICATE NAME SECRET CREDENTIAL           makes a credential for this EK and the AK of this Name
 *
 * CREDENTIAL is in the form of tpm2-tools: BADCC0DE 00000001, TPM2B_ID_OBJECT, TPM2B_ENCRYPTED_SECRET.
 */

static int report(tenon_status status)
{
    if (status != TENON_OK)
        puts(tenon_status_name(status));
    return tenon_status_category(status);
}

static tenon_status write_pem(const tenon_tpm_key *key, const char *name)
{
    char pem[TENON_TPM_KEY_MAX];
    size_t n;
    TRY(tenon_tpm_key_export(key, pem, sizeof pem, &n));
    return write_file(name, pem, n);
}

static tenon_status write_spki(const tenon_tpm_key *key, const char *name)
{
    tenon_public_key public_key;
    uint8_t spki[TENON_SPKI_SIZE];
    size_t n = 0;
    TRY(tenon_tpm_key_public_key(key, &public_key));
    TRY(tenon_public_key_encode_spki(spki, sizeof spki, &n, &public_key));
    return write_file(name, spki, n);
}

static tenon_status create(tenon_tpm *tpm, tenon_tpm_key **key, char **files, const content *auth)
{
    TRY(tenon_tpm_key_create(tpm, key, auth->bytes, auth->n));
    TRY(write_pem(*key, files[0]));
    return write_spki(*key, files[1]);
}

static tenon_status sign(tenon_tpm_key *tpm_key, char **files)
{
    content message = read_file(files[2]);
    uint8_t der[TENON_SIGNATURE_DER_MAX];
    tenon_signature signature;
    tenon_digest digest;
    OWNED_KEY key = NULL;
    size_t n = 0;
    TRY(tenon_sha256(&digest, message.bytes, message.n));
    TRY(tenon_tpm_key_open(tpm_key, &key, TENON_KEY_SIGNS_DIGESTS));
    TRY(tenon_key_sign_digest(key, &signature, &digest));
    TRY(tenon_signature_encode_der(der, sizeof der, &n, &signature));
    return write_file(files[3], der, n);
}

static tenon_status sign_and_say(tenon_tpm_key *key, char **files)
{
    TRY(write_spki(key, files[1]));
    TRY(sign(key, files));
    puts(tenon_tpm_key_is_foreign(key) ? "foreign" : "own");
    return TENON_OK;
}

static tenon_status load(tenon_tpm *tpm, tenon_tpm_key **key, char **files, const content *auth)
{
    content pem = read_file(files[0]);
    return tenon_tpm_key_load(tpm, key, (const char *)pem.bytes, pem.n, auth->bytes, auth->n);
}

static tenon_status load_and_sign(tenon_tpm *tpm, tenon_tpm_key **key, char **files, const content *auth)
{
    TRY(load(tpm, key, files, auth));
    return sign_and_say(*key, files);
}

static tenon_status import_and_sign(tenon_tpm *tpm, tenon_tpm_key **key, char **files, const content *auth)
{
    content pem = read_file(files[0]);
    TRY(tenon_tpm_key_import(tpm, key, (const char *)pem.bytes, pem.n, auth->bytes, auth->n));
    return sign_and_say(*key, files);
}

static tenon_status persist(tenon_tpm *tpm, tenon_tpm_key **key, char **files, const content *auth)
{
    uint32_t handle;
    TRY(load(tpm, key, files, auth));
    TRY(tenon_tpm_key_persist(*key, &handle));
    printf("%08x\n", handle);
    return write_pem(*key, files[0]);
}

static tenon_status evict(tenon_tpm *tpm, tenon_tpm_key **key, char **files, const content *auth)
{
    TRY(load(tpm, key, files, auth));
    return tenon_tpm_key_evict(*key);
}

static tenon_status load_ak(tenon_tpm *tpm, tenon_tpm_key **ak, const char *name)
{
    content pem = read_file(name);
    return tenon_tpm_ak_load(tpm, ak, (const char *)pem.bytes, pem.n);
}

static tenon_status make_ak(tenon_tpm *tpm, tenon_tpm_key **key, char **files, const content *auth)
{
    uint8_t name[TENON_NAME_SIZE];
    size_t n;
    OWNED_TPM_KEY ak = NULL;
    TRY(load(tpm, key, files, auth));
    TRY(tenon_tpm_ak_create(*key, &ak));
    TRY(write_pem(ak, files[1]));
    TRY(tenon_tpm_key_name(ak, name, sizeof name, &n));
    return write_file(files[2], name, n);
}

static tenon_status attest(tenon_tpm *tpm, tenon_tpm_key **key, char **files, const content *auth)
{
    uint8_t proof[TENON_PROOF_MAX];
    size_t n;
    content nonce = read_file(files[2]);
    tenon_evidence evidence;
    OWNED_TPM_KEY ak = NULL;
    TRY(load(tpm, key, files, auth));
    TRY(load_ak(tpm, &ak, files[1]));
    TRY(tenon_tpm_key_attest(*key, ak, proof, sizeof proof, &n, nonce.bytes, nonce.n, NULL, 0));
    TRY(tenon_proof_decode(&evidence, proof, n));
    return write_file(files[3], evidence.certified.bytes, evidence.certified.n);
}

static const uint8_t credential_head[] = {0xba, 0xdc, 0xc0, 0xde, 0, 0, 0, 1};

static tenon_status open_credential(tenon_tpm *tpm, tenon_tpm_key **ak, char **files, const content *auth)
{
    enum { HEAD = sizeof credential_head };
    content certificate = read_file(files[1]), file = read_file(files[2]);
    uint8_t secret[64];
    size_t n = 0, first = HEAD + 2 + (size_t)(file.bytes[HEAD] << 8 | file.bytes[HEAD + 1]);
    if (file.n <= first || memcmp(file.bytes, credential_head, HEAD) != 0)
        return TENON_ERROR_CREDENTIAL_FORM;
    TRY(load_ak(tpm, ak, files[0]));
    TRY(tenon_tpm_ak_secret(*ak, secret, sizeof secret, &n, certificate.bytes, certificate.n, file.bytes + HEAD,
                            first - HEAD, file.bytes + first, file.n - first));
    return write_file(files[3], secret, n);
}

static const struct {
    const char *name;
    int files;
    tenon_status (*run)(tenon_tpm *tpm, tenon_tpm_key **key, char **files, const content *auth);
} modes[] = {
    {"create", 2, create}, {"load", 4, load_and_sign}, {"import", 4, import_and_sign}, {"persist", 1, persist},
    {"evict", 1, evict},   {"ak", 3, make_ak},         {"attest", 4, attest},          {"open", 4, open_credential},
};

static int run(size_t mode, const char *tcti, char **files, const char *auth_file)
{
    tenon_tpm_options options = {.size = sizeof options, .allow_simulator = 1};
    content auth = {.n = 0};
    tenon_tpm *tpm = NULL;
    tenon_tpm_key *key = NULL;
    if (auth_file != NULL)
        auth = read_file(auth_file);
    /* tpm2-tss would print, and a library cannot prevent that. */
    setenv("TSS2_LOG", "all+NONE", 1);
    tenon_status status = tenon_tpm_open(&tpm, tcti, strlen(tcti), &options);
    if (status == TENON_OK)
        status = modes[mode].run(tpm, &key, files, &auth);
    tenon_tpm_key_free(&key);
    tenon_tpm_free(&tpm);
    return report(status);
}

static tenon_status verify(char **files)
{
    content spki = read_file(files[0]), message = read_file(files[1]), der = read_file(files[2]);
    tenon_public_key key;
    tenon_signature signature;
    tenon_digest digest;
    TRY(tenon_public_key_decode_spki(&key, spki.bytes, spki.n));
    TRY(tenon_signature_decode_der(&signature, der.bytes, der.n));
    TRY(tenon_sha256(&digest, message.bytes, message.n));
    return tenon_p256_verify(&key, &digest, &signature);
}

static tenon_status make(char **files)
{
    enum { HEAD = sizeof credential_head };
    content certificate = read_file(files[0]), name = read_file(files[1]), secret = read_file(files[2]);
    uint8_t out[HEAD + 2 * TENON_CREDENTIAL_MAX], encrypted[TENON_CREDENTIAL_MAX];
    size_t n = 0, encrypted_n = 0;
    tenon_ek ek;
    TRY(tenon_ek_read(&ek, certificate.bytes, certificate.n));
    TRY(tenon_credential_make(out + HEAD, TENON_CREDENTIAL_MAX, &n, encrypted, sizeof encrypted, &encrypted_n, &ek,
                              name.bytes, name.n, secret.bytes, secret.n));
    memcpy(out, credential_head, HEAD);
    memcpy(out + HEAD + n, encrypted, encrypted_n);
    return write_file(files[3], out, HEAD + n + encrypted_n);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "verify") == 0)
        return report(verify(argv + 2));
    if (argc == 6 && strcmp(argv[1], "make") == 0)
        return report(make(argv + 2));
    for (size_t i = 0; argc > 3 && i < sizeof modes / sizeof *modes; i++) {
        int without = 3 + modes[i].files;
        if (strcmp(argv[1], modes[i].name) == 0 && (argc == without || argc == without + 1))
            return run(i, argv[2], argv + 3, argv[without]);
    }
    fprintf(stderr, "usage: interop MODE ...: see interop.c\n");
    return TOOL_USAGE;
}
