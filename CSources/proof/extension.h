/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_EXTENSION_H
#define TENONI_EXTENSION_H

#include "proof/certificate.h"

/* Reads the content of Extensions (RFC 5280, 4.2) into the certificate; false: a departure. */
bool tenoni_extensions_read(tenoni_certificate *certificate, tenoni_reader extensions);

#endif
