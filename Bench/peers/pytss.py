# SPDX-License-Identifier: Apache-2.0
"""pytss.py TCTI HANDLE DIGEST: for each line that comes in one signature by a key that stays, and a line back."""
import sys

from tpm2_pytss import ESAPI, TPM2_ALG, TPM2_RH, TPM2_ST, TCTILdr
from tpm2_pytss.types import TPM2B_DIGEST, TPMT_SIG_SCHEME, TPMT_TK_HASHCHECK

name, configuration = sys.argv[1].split(":", 1)
with ESAPI(TCTILdr(name, configuration)) as esapi:
    key = esapi.tr_from_tpmpublic(int(sys.argv[2], 16))
    digest = TPM2B_DIGEST(bytes.fromhex(sys.argv[3]))
    scheme = TPMT_SIG_SCHEME(scheme=TPM2_ALG.ECDSA)
    scheme.details.any.hashAlg = TPM2_ALG.SHA256
    ticket = TPMT_TK_HASHCHECK(tag=TPM2_ST.HASHCHECK, hierarchy=TPM2_RH.NULL)
    while sys.stdin.buffer.read1(1):
        esapi.sign(key, digest, scheme, ticket)
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()
