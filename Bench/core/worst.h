/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_WORST_H
#define BENCH_WORST_H

#include <stdbool.h>

/*
 * The inputs that cost a service most: those of Tests/Vectors/certificates/worst.txt, which has to lie below the
 * folder of the run. All are good, so that nothing is refused before its end.
 */
typedef struct worst worst;

/* NULL, when the file cannot be read or something in it is refused. */
worst *worst_new(void);
void worst_free(worst *of);

typedef enum { WORST_PROOF, WORST_AK_CERTIFICATE, WORST_EK, WORST_CREDENTIAL, WORST_ACTIVATION } worst_input;
bool worst_run(const worst *of, worst_input which);

#endif
