/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "door.h"
#include "tenon/tenon.h"

/* sign_once SOCKET KEY DIGEST: what a fresh process does for one signature. */
static tenon_status exchange(void *context, uint8_t *answer, size_t answer_size, size_t *answer_n,
                             const uint8_t *command, size_t command_n)
{
    return door_exchange(*(const int *)context, answer, answer_size, answer_n, command, command_n);
}

static size_t read_file(const char *path, void *out, size_t n)
{
    FILE *file = fopen(path, "r");
    size_t got = file == NULL ? 0 : fread(out, 1, n, file);
    if (file != NULL)
        fclose(file);
    return got;
}

int main(int argc, char **argv)
{
    char text[TENON_TPM_KEY_MAX];
    tenon_digest digest;
    tenon_signature signature;
    tenon_tpm *tpm = NULL;
    tenon_tpm_key *loaded = NULL;
    tenon_key *key = NULL;
    if (argc != 4 || read_file(argv[3], &digest, sizeof digest) != sizeof digest)
        return 2;
    size_t n = read_file(argv[2], text, sizeof text);
    int fd = door_connect(argv[1]);
    const tenon_tpm_transport table = {.size = sizeof table, .context = &fd, .exchange = exchange, .managed = 1};
    tenon_status status = tenon_tpm_open_transport(&tpm, &table, NULL);
    if (status == TENON_OK)
        status = tenon_tpm_key_load(tpm, &loaded, text, n, NULL, 0);
    if (status == TENON_OK)
        status = tenon_tpm_key_open(loaded, &key, TENON_KEY_SIGNS_DIGESTS);
    if (status == TENON_OK)
        status = tenon_key_sign_digest(key, &signature, &digest);
    tenon_key_free(&key);
    tenon_tpm_key_free(&loaded);
    tenon_tpm_free(&tpm);
    return status == TENON_OK ? 0 : 1;
}
