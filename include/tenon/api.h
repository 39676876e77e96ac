/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_API_H
#define TENON_API_H

/* The macros that the other headers use. Everything that depends on a compiler is here. */

#include <stddef.h>
#include <stdint.h>

/* An exported function. */
#if defined(__GNUC__)
#define TENON_API __attribute__((visibility("default")))
#else
#define TENON_API
#endif

/* The caller must check the status. */
#if defined(__GNUC__)
#define TENON_MUST_USE __attribute__((warn_unused_result))
#else
#define TENON_MUST_USE
#endif

/* A pointer to n elements that the callee does not keep: Swift sees it as a span. */
#if defined(__has_include)
#if __has_include(<ptrcheck.h>)
#include <ptrcheck.h>
#define TENON_COUNTED(n) __counted_by(n) __attribute__((noescape))
#endif
#endif
#if !defined(TENON_COUNTED)
#define TENON_COUNTED(n)
#endif

#if defined(__cplusplus)
#define TENON_BEGIN extern "C" {
#define TENON_END }
#else
#define TENON_BEGIN
#define TENON_END
#endif

#endif
