/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * native LIBRARY: the eight callbacks as the mobile SDKs declare them, with pointer-sized lengths and, in one shim,
 * with int. The library is loaded and let go of several times; a runtime that keeps the functions can go on.
 */

typedef char *text_of_id(const char *id);
typedef char *text_of_bytes(const char *id, const uint8_t *bytes, size_t n);
typedef char *text_of_bytes_int(const char *id, const uint8_t *bytes, int n);
typedef int32_t number_of_id(const char *id);
typedef int32_t store_value(const char *service, const char *key, const char *value);
typedef char *load_value(const char *service, const char *key);
typedef int32_t delete_value(const char *service, const char *key);

typedef struct {
    size_t size;
    const char *state_dir;
    const char *tpm;
    uint32_t allow_simulator;
    uint32_t counter;
} options;

static int failed;

static void check(int holds, const char *what)
{
    if (!holds) {
        printf("does not hold: %s\n", what);
        failed = 1;
    }
}

static void *found(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    check(symbol != NULL, name);
    return symbol;
}

#define FIND(type, name)                                                                                               \
    type *name;                                                                                                        \
    *(void **)&name = found(library, "synheart_native_" #name)

static void check_text(char *text, const char *expected, const char *what)
{
    check(text == NULL ? expected == NULL : expected != NULL && strcmp(text, expected) == 0, what);
    free(text);
}

/* There is no TPM at this name. */
static void configure(void *library, const char *folder)
{
    int32_t (*take)(const options *);
    *(void **)&take = found(library, "tenon_native_configure");
    const options given = {.size = sizeof given, .state_dir = folder, .tpm = "device:/nonexistent"};
    check(take(&given) == 0, "configure");
}

static void use(void *library)
{
    static const uint8_t hash[32] = {1};
    FIND(text_of_id, generate_key);
    FIND(text_of_bytes, sign_bytes);
    FIND(text_of_bytes_int, get_attestation);
    FIND(number_of_id, key_exists);
    FIND(number_of_id, delete_key);
    FIND(store_value, secure_store);
    FIND(load_value, secure_load);
    FIND(delete_value, secure_delete);
    uint32_t (*version)(void);
    *(void **)&version = found(library, "tenon_native_abi_version");
    dlclose(library);
    if (failed)
        return;
    check(version() == 0x10000, "the version");
    check_text(generate_key("dev_1"), NULL, "no key without a TPM");
    check_text(sign_bytes("dev_1", hash, sizeof hash), NULL, "no signature without a key");
    check_text(get_attestation("dev_1", hash, 32), "{\"format\":\"none\",\"blob\":\"\",\"reason\":\"unknown\"}",
               "no key to be certified");
    check(key_exists("dev_1") == 0, "no key");
    check(delete_key("dev_1") == 0, "delete_key of no key");
    check(secure_store("s", "k", "v") != 0, "no store without a TPM");
    check_text(secure_load("s", "k"), NULL, "no value");
    check(secure_delete("s", "k") == 0, "secure_delete of no value");
}

int main(int count, char **words)
{
    char folder[] = "/tmp/tenon-native.XXXXXX";
    if (count != 2 || mkdtemp(folder) == NULL)
        return 2;
    for (int i = 0; i < 3 && !failed; i++) {
        void *library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            printf("%s\n", dlerror());
            return 1;
        }
        configure(library, folder);
        use(library);
    }
    char command[sizeof folder + 32];
    snprintf(command, sizeof command, "%s/native/lock", folder);
    unlink(command);
    snprintf(command, sizeof command, "%s/native", folder);
    rmdir(command);
    rmdir(folder);
    if (!failed)
        puts("native: the eight callbacks, by their names, three times");
    return failed;
}
