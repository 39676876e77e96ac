/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/tenon.h"

/* The version stands here only: the Makefile reads these three lines for the library's name and tenon.pc. */
#define VERSION_MAJOR 0
#define VERSION_MINOR 1
#define VERSION_PATCH 0

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

uint32_t tenon_version(void)
{
    return (uint32_t)VERSION_MAJOR << 24 | (uint32_t)VERSION_MINOR << 16 | (uint32_t)VERSION_PATCH << 8;
}

const char *tenon_version_text(void)
{
    return TEXT(VERSION_MAJOR) "." TEXT(VERSION_MINOR) "." TEXT(VERSION_PATCH);
}

#define TENONI_SIZE(name, constant)                                                                                    \
    size_t name(void)                                                                                                  \
    {                                                                                                                  \
        return constant;                                                                                               \
    }

TENONI_SIZE(tenon_digest_size, TENON_DIGEST_SIZE)
TENONI_SIZE(tenon_scalar_size, TENON_SCALAR_SIZE)
TENONI_SIZE(tenon_public_key_size, TENON_PUBLIC_KEY_SIZE)
TENONI_SIZE(tenon_signature_size, TENON_SIGNATURE_SIZE)
TENONI_SIZE(tenon_signature_der_max, TENON_SIGNATURE_DER_MAX)
TENONI_SIZE(tenon_point_size, TENON_POINT_SIZE)
TENONI_SIZE(tenon_compressed_size, TENON_COMPRESSED_SIZE)
TENONI_SIZE(tenon_spki_size, TENON_SPKI_SIZE)
TENONI_SIZE(tenon_thumbprint_size, TENON_THUMBPRINT_SIZE)
TENONI_SIZE(tenon_uuid_size, TENON_UUID_SIZE)
TENONI_SIZE(tenon_sha256_stream_size, TENON_SHA256_STREAM_SIZE)
TENONI_SIZE(tenon_request_size, TENON_REQUEST_SIZE)
TENONI_SIZE(tenon_method_max, TENON_METHOD_MAX)
TENONI_SIZE(tenon_path_max, TENON_PATH_MAX)
TENONI_SIZE(tenon_app_id_max, TENON_APP_ID_MAX)
TENONI_SIZE(tenon_device_id_max, TENON_DEVICE_ID_MAX)
TENONI_SIZE(tenon_timestamp_max, TENON_TIMESTAMP_MAX)
TENONI_SIZE(tenon_headers_max, TENON_HEADERS_MAX)
TENONI_SIZE(tenon_proof_max, TENON_PROOF_MAX)
TENONI_SIZE(tenon_area_max, TENON_AREA_MAX)
TENONI_SIZE(tenon_certificate_max, TENON_CERTIFICATE_MAX)
TENONI_SIZE(tenon_certificates_max, TENON_CERTIFICATES_MAX)
TENONI_SIZE(tenon_certificates_total, TENON_CERTIFICATES_TOTAL)
TENONI_SIZE(tenon_object_name_size, TENON_NAME_SIZE)
TENONI_SIZE(tenon_credential_max, TENON_CREDENTIAL_MAX)
TENONI_SIZE(tenon_activation_secret_size, TENON_ACTIVATION_SECRET_SIZE)
TENONI_SIZE(tenon_quote_max, TENON_QUOTE_MAX)
TENONI_SIZE(tenon_pcrs_max, TENON_PCRS_MAX)
TENONI_SIZE(tenon_keri_key_size, TENON_KERI_KEY_SIZE)
TENONI_SIZE(tenon_keri_said_size, TENON_KERI_SAID_SIZE)
TENONI_SIZE(tenon_keri_did_size, TENON_KERI_DID_SIZE)
TENONI_SIZE(tenon_keri_attachment_size, TENON_KERI_ATTACHMENT_SIZE)
TENONI_SIZE(tenon_keri_inception_size, TENON_KERI_INCEPTION_SIZE)
TENONI_SIZE(tenon_keri_rotation_max, TENON_KERI_ROTATION_MAX)
TENONI_SIZE(tenon_keri_event_max, TENON_KERI_EVENT_MAX)
TENONI_SIZE(tenon_keri_state_size, sizeof(tenon_keri_state))
