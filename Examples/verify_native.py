#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""verify_native.py ROOTS KEY HASH ATTESTATION: whether a runtime's attestation proves the key. Exits with 0 if it does.

ROOTS is a PEM file with the roots of the attestation CAs that you trust, KEY the base64 of the key's
SubjectPublicKeyInfo, HASH the challenge hash in hex, ATTESTATION a file with the JSON of the callback. It needs
`cbor2` and `cryptography`. Each check has its number in docs/native-callbacks.md."""

import base64
import datetime
import hashlib
import json
import sys

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

BORN_IN_TPM, RESTRICTED, DECRYPT, SIGN = 0x32, 1 << 16, 1 << 17, 1 << 18  # TPMA_OBJECT: fixedTPM, fixedParent, origin


def need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


class Reader:
    """The TPM's numbers are big-endian, and a field with a length has 16 bits of it before it."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, n: int) -> bytes:
        need(self.at + n <= len(self.data), "a structure ends early")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, n: int) -> int:
        return int.from_bytes(self.take(n), "big")

    def sized(self) -> bytes:
        return self.take(self.number(2))

    def end(self) -> None:
        need(self.at == len(self.data), "bytes behind a structure")


def point_of(area: bytes) -> bytes:
    """Checks a TPMT_PUBLIC: a P-256 key that was born in its TPM, cannot leave it, and only signs."""
    read = Reader(area)
    need((read.number(2), read.number(2)) == (0x0023, 0x000B), "8: not an ECC key with SHA-256")
    attributes = read.number(4)
    need(attributes & BORN_IN_TPM == BORN_IN_TPM, "9: the key can leave the TPM")
    need(attributes & (RESTRICTED | DECRYPT | SIGN) == SIGN, "9: not a plain signing key")
    need(read.sized() == b"" and read.number(2) == 0x0010, "9: a policy or a cipher")
    scheme = read.number(2)
    need(scheme == 0x0010 or (scheme, read.number(2)) == (0x0018, 0x000B), "9: another scheme")
    need((read.number(2), read.number(2)) == (0x0003, 0x0010), "8: not P-256")
    x, y = read.sized(), read.sized()
    read.end()
    return x.rjust(32, b"\0") + y.rjust(32, b"\0")


def check_statement(statement: bytes, area: bytes, challenge: bytes) -> None:
    """Checks a TPMS_ATTEST: about this key, for this challenge, made by a TPM."""
    read = Reader(statement)
    need(read.take(4) == b"\xffTCG", "5: not made by a TPM")
    need(read.number(2) == 0x8017, "6: not about a certified key")
    read.sized()  # the signer
    need(read.sized() == challenge, "7: for another challenge")
    read.take(17 + 8)  # clock, firmware
    need(read.sized() == b"\x00\x0b" + hashlib.sha256(area).digest(), "10: about another key")
    read.sized()  # the qualified Name
    read.end()


def signature_of(tpmt: bytes) -> bytes:
    read = Reader(tpmt)
    need((read.number(2), read.number(2)) == (0x0018, 0x000B), "11: not ECDSA with SHA-256")
    r, s = read.sized(), read.sized()
    read.end()
    return utils.encode_dss_signature(int.from_bytes(r, "big"), int.from_bytes(s, "big"))


def verify(roots: bytes, key: bytes, challenge: bytes, attestation: dict) -> None:
    need(attestation.get("format") == "tpm2", f"1: no proof: {attestation.get('reason')}")
    proof = base64.b64decode(attestation["blob"], validate=True)
    need(len(proof) <= 16384, "2: too long")
    statement = cbor2.loads(proof)
    need(set(statement) == {"fmt", "attStmt"} and statement["fmt"] == "tpm", "3: another form")
    fields = statement["attStmt"]
    need(fields["ver"] == "2.0" and fields["alg"] == -7 and 1 <= len(fields["x5c"]) <= 4, "4: another version")
    check_statement(fields["certInfo"], fields["pubArea"], challenge)
    spki = serialization.load_der_public_key(key)
    numbers = spki.public_numbers()
    point = numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")
    need(point_of(fields["pubArea"]) == point, "12: another key")
    chain = [x509.load_der_x509_certificate(der) for der in fields["x5c"]]
    chain[0].public_key().verify(signature_of(fields["sig"]), fields["certInfo"], ec.ECDSA(hashes.SHA256()))
    usage = chain[0].extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    need(x509.ObjectIdentifier("2.23.133.8.3") in usage, "14: not the certificate of an attestation key")
    anchors = x509.load_pem_x509_certificates(roots)
    issuers = chain[1:] + [root for root in anchors if root.subject == chain[-1].issuer]
    need(issuers and issuers[-1] in anchors, "15: no trusted root")
    now = datetime.datetime.now(datetime.timezone.utc)
    for certificate, issuer in zip(chain, issuers):
        need(certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc, "16: not valid today")
        certificate.verify_directly_issued_by(issuer)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__.split(":")[0])
    with open(sys.argv[1], "rb") as pem, open(sys.argv[4], "rb") as file:
        verify(pem.read(), base64.b64decode(sys.argv[2]), bytes.fromhex(sys.argv[3]), json.load(file))
    print("the key is in the TPM that the certificate names")
