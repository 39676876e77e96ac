/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <p11-kit/pkcs11.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "rig.h"

/*
 * tpm2-pkcs11 in this process: a token with a key of its own below the storage key of the others, logged in, in a loop
 * of C_SignInit and C_Sign. It takes no key that is there already.
 */
typedef struct {
    rig *rig;
    char *folder; /* of its token */
    void *library;
    CK_FUNCTION_LIST *call;
    CK_SESSION_HANDLE session;
    CK_OBJECT_HANDLE key;
    uint8_t digest[TENON_DIGEST_SIZE];
} pkcs11_side;

static CK_UTF8CHAR pin[] = "1234";

static const char *version(void) { return rig_version("BENCH_PKCS11"); }

static void pkcs11_close(void *context)
{
    pkcs11_side *self = context;
    if (self->call != NULL)
        self->call->C_Finalize(NULL);
    if (self->library != NULL)
        dlclose(self->library);
    if (self->folder != NULL)
        support_folder_remove(self->folder);
    rig_leave(self->rig);
}

static bool load(pkcs11_side *self)
{
    CK_C_GetFunctionList list = NULL;
    char tcti[RIG_NAME_MAX];
    self->folder = support_folder_make();
    if (self->folder == NULL || !rig_tcti(self->rig, tcti))
        return false;
    setenv("TPM2_PKCS11_TCTI", tcti, 1);
    setenv("TPM2_PKCS11_STORE", self->folder, 1);
    self->library = dlopen("libtpm2_pkcs11.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = self->library == NULL ? NULL : dlsym(self->library, "C_GetFunctionList");
    memcpy(&list, &found, sizeof list);
    return list != NULL && list(&self->call) == CKR_OK && self->call->C_Initialize(NULL) == CKR_OK;
}

static bool make_token(pkcs11_side *self, CK_SLOT_ID *slot)
{
    CK_UTF8CHAR label[33] = "bench                           ";
    CK_ULONG n = 1;
    return self->call->C_GetSlotList(CK_FALSE, slot, &n) == CKR_OK && n == 1 &&
           self->call->C_InitToken(*slot, pin, sizeof pin - 1, label) == CKR_OK;
}

static bool log_in(pkcs11_side *self, CK_SLOT_ID slot)
{
    const CK_FLAGS flags = CKF_SERIAL_SESSION | CKF_RW_SESSION;
    const CK_FUNCTION_LIST *call = self->call;
    return call->C_OpenSession(slot, flags, NULL, NULL, &self->session) == CKR_OK &&
           call->C_Login(self->session, CKU_SO, pin, sizeof pin - 1) == CKR_OK &&
           call->C_InitPIN(self->session, pin, sizeof pin - 1) == CKR_OK && call->C_Logout(self->session) == CKR_OK &&
           call->C_Login(self->session, CKU_USER, pin, sizeof pin - 1) == CKR_OK;
}

static bool make_key(pkcs11_side *self)
{
    static uint8_t p256[] = {0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07};
    CK_BBOOL yes = CK_TRUE;
    CK_ATTRIBUTE public[] = {{CKA_EC_PARAMS, p256, sizeof p256}, {CKA_VERIFY, &yes, 1}, {CKA_TOKEN, &yes, 1}};
    CK_ATTRIBUTE private[] = {{CKA_SIGN, &yes, 1}, {CKA_TOKEN, &yes, 1}, {CKA_PRIVATE, &yes, 1}};
    CK_MECHANISM mechanism = {CKM_EC_KEY_PAIR_GEN, NULL, 0};
    CK_OBJECT_HANDLE other;
    return self->call->C_GenerateKeyPair(self->session, &mechanism, public, 3, private, 3, &other, &self->key) ==
           CKR_OK;
}

static bool pkcs11_open(void *context, const fixture *made)
{
    CK_SLOT_ID slot;
    pkcs11_side *self = context;
    memcpy(self->digest, made->digests[0].bytes, sizeof self->digest);
    return (self->rig = rig_share()) != NULL && load(self) && make_token(self, &slot) && log_in(self, slot) &&
           make_key(self);
}

static bool sign(void *context, size_t unused)
{
    pkcs11_side *self = context;
    CK_MECHANISM mechanism = {CKM_ECDSA, NULL, 0};
    uint8_t signature[TENON_SIGNATURE_SIZE * 2];
    CK_ULONG n = sizeof signature;
    return self->call->C_SignInit(self->session, &mechanism, self->key) == CKR_OK &&
           self->call->C_Sign(self->session, self->digest, sizeof self->digest, signature, &n) == CKR_OK;
}

static const side_line lines[] = {{"tpm-sign", sign}};

const side side_pkcs11 = {"tpm2-pkcs11", version,           sizeof(pkcs11_side), pkcs11_open,
                          pkcs11_close,  SIDE_LINES(lines), &rig_commands};
