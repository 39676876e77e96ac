/* SPDX-License-Identifier: Apache-2.0 */
#include "failure.h"
#include "library.h"

static const tenoni_curl *const curl = &tenoni_curl_library;

/* X509_V_ERR_*: the values of CURLINFO_SSL_VERIFYRESULT. libcurl checks the host name after these checks, and leaves 1.
 * */
#define NOT_YET_VALID 9L
#define HAS_EXPIRED 10L
#define NOT_VERIFIED 1L

static tenoni_exchange_result certificate_failure(CURL *easy)
{
    long verified = 0;
    (void)curl->easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &verified);
    if (verified == NOT_YET_VALID || verified == HAS_EXPIRED)
        return TENONI_EXCHANGE_DATE;
    return verified == NOT_VERIFIED ? TENONI_EXCHANGE_HOST : TENONI_EXCHANGE_UNTRUSTED;
}

static tenoni_exchange_result connect_failure(CURL *easy)
{
    long status = 0;
    (void)curl->easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status >= 300 ? TENONI_EXCHANGE_PROXY : TENONI_EXCHANGE_CONNECT;
}

tenoni_exchange_result tenoni_failure_before_sending(CURL *easy, CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return TENONI_EXCHANGE_RESOLVE;
    case CURLE_OPERATION_TIMEDOUT:
        return TENONI_EXCHANGE_TIMEOUT;
    case CURLE_OUT_OF_MEMORY:
        return TENONI_EXCHANGE_MEMORY;
    case CURLE_PEER_FAILED_VERIFICATION:
        return certificate_failure(easy);
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        return TENONI_EXCHANGE_PIN;
    case CURLE_SSL_CACERT_BADFILE:
        return TENONI_EXCHANGE_TRUST_FILE;
    case CURLE_SSL_CONNECT_ERROR:
        return TENONI_EXCHANGE_HANDSHAKE;
    case CURLE_PROXY:
        return TENONI_EXCHANGE_PROXY;
    default:
        return connect_failure(easy);
    }
}

/* CURLE_TOO_LARGE of libcurl 8.6 and later, for a line of more than 100 KiB; an older one is out of memory then. */
#define LINE_TOO_LARGE 100

tenoni_exchange_result tenoni_failure_after_sending(CURLcode code)
{
    switch ((int)code) {
    case CURLE_OUT_OF_MEMORY:
    case LINE_TOO_LARGE:
        return TENONI_EXCHANGE_TOO_LARGE;
    case CURLE_OPERATION_TIMEDOUT:
        return TENONI_EXCHANGE_TIMEOUT;
    case CURLE_ABORTED_BY_CALLBACK: /* not sent again */
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
        return TENONI_EXCHANGE_CUT;
    default:
        return TENONI_EXCHANGE_MALFORMED;
    }
}
