/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_FAILURE_H
#define TENONI_FAILURE_H

#include "exchange.h"

#include <curl/curl.h>

/* The meaning of a code of libcurl, depending on whether a byte of the request may have been sent. */
tenoni_exchange_result tenoni_failure_before_sending(CURL *easy, CURLcode code);
tenoni_exchange_result tenoni_failure_after_sending(CURLcode code);

#endif
