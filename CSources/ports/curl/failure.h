/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_FAILURE_H
#define TENONI_FAILURE_H

#include "exchange.h"

#include <curl/curl.h>

/* What a code of libcurl means: if no byte of the request can have left, and if one can. */
tenoni_exchange_result tenoni_failure_before_sending(CURL *easy, CURLcode code);
tenoni_exchange_result tenoni_failure_after_sending(CURLcode code);

#endif
