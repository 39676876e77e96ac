/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/tpm/tpm.h"

size_t tenon_tpm_auth_max(void)
{
    return TENON_TPM_AUTH_MAX;
}

size_t tenon_tpm_key_max(void)
{
    return TENON_TPM_KEY_MAX;
}

size_t tenon_tpm_buffer_size(void)
{
    return TENON_TPM_BUFFER_SIZE;
}
