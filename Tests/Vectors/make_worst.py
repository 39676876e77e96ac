# SPDX-License-Identifier: Apache-2.0
"""Prints certificates/worst.txt: a chain that is good, and costs a verifier as much as a chain can.

Four certificates with keys of P-521 in 12 KiB, each filled with extensions whose OIDs differ in their last byte only. None
says which of two roots of one name has signed it. Four of RSA-4096 with an exponent of 32 bits cost a third of it or less.
"""

from make_certificates import (AK_USAGE, EC, EK_USAGE, authority, basic, certificate, extended, extension, made, name,
                               tpm_name, usage)

SIZE = 3072  # of a certificate: a quarter of 12 KiB
MORE = 20  # extensions, beside those that have a meaning
ARCS = "1.3.6.1.4.1." + ".".join(["268435455"] * 16)
LENGTHS = 4  # what an extension's lengths grow by
HASH = "sha512"


def filled(subject, key, above, signer, extensions):
    """A certificate with so many bytes more that it has nearly SIZE."""
    def padded(n):
        more = [extension(f"{ARCS}.{i}", bytes(n)) for i in range(MORE)]
        return certificate(subject, key, name(above), signer, extensions + more, HASH)

    return padded((SIZE - len(padded(0))) // MORE - LENGTHS)


keys = [EC(f"worst {i}", "P-521") for i in range(4)]
above, signer = authority("root", keys[0], hash_name=HASH)
authority("other-root", EC("worst other", "P-521"), hash_name=HASH, subject=name(above), issuer_name=name(above), ids=False)
for i, key in enumerate(keys[1:], 1):
    made[f"ca{i}"] = filled(name(f"ca{i}"), key, above, signer, [basic(True), usage(5, 6)])
    above, signer = f"ca{i}", key
ak, ek = EC("worst ak", "P-256"), EC("worst ek", "P-384")
made["ak"] = filled(name(), ak, above, signer, [basic(), tpm_name(), usage(0), extended(AK_USAGE)])
made["ek"] = filled(name(), ek, above, signer, [basic(), tpm_name(), usage(4), extended(EK_USAGE)])
print("# Made by make_worst.py, as DER; ak-scalar is the private key of ak.")
print(f"ak-scalar = {ak.d:064x}")
for label, der in made.items():
    print(f"{label} = {der.hex()}")
