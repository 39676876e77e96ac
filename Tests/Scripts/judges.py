# SPDX-License-Identifier: Apache-2.0
"""judges.py ATTEST_TOOL: proofs of Tenon before fido2 and webauthn of PyPI, through their TPM attestation verification,
and before Examples/verify_native.py.

The two want what WebAuthn 8.3 calls a statement, with the signature as DER, an AK certificate, and the digest of
authenticator data and client data as qualifying data. Every part that they look at is then changed, and they refuse.
"""

import base64
import hashlib
import json
import os
import sys
import tempfile

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from fido2.attestation.base import verify_x509_chain
from fido2.attestation.tpm import TpmAttestation
from fido2.webauthn import AuthenticatorData
from webauthn.helpers.structs import AttestationStatement
from webauthn.registration.formats.tpm import verify_tpm

import verify_native
from judging import AK_USAGE, CA, EK_USAGE, Tool, check, flipped, verdict

CLIENT_DATA = json.dumps({"type": "webauthn.create", "challenge": "AA", "origin": "https://s.example"}).encode()


class Device(Tool):
    """attest_tool, which keeps a key and an AK."""

    def __init__(self, tool, folder):
        super().__init__(tool, "new")
        self.folder = folder
        self.spki, self.ak_spki, self.ak_area = (bytes.fromhex(self.line()) for _ in range(3))

    def issue(self):
        """A root, an authority below it and an AK certificate as Tenon makes them: the root, and the others' files."""
        root, issuer, leaf = (os.path.join(self.folder, name) for name in ("own-root", "own-issuer", "own-leaf"))
        self.ask("issue", root, issuer, leaf)
        self.line()
        with open(root, "rb") as file:
            return x509.load_der_x509_certificate(file.read()), [leaf, issuer]

    def attest(self, nonce, certificates):
        """The proof's statement, as it stands and with its signature as DER."""
        proof = os.path.join(self.folder, "proof")
        self.ask(nonce.hex(), proof, *certificates)
        self.line()
        with open(proof, "rb") as file:
            decoded = cbor2.loads(file.read())
        with open(proof + ".der", "rb") as file:
            return decoded, {**decoded["attStmt"], "sig": file.read()}


def certify(ca, spki, usage=AK_USAGE):
    # A maker that webauthn's list has.
    return ca.of_tpm(serialization.load_der_public_key(spki), "id:53544D20", usage)


def der(certificate):
    return certificate.public_bytes(serialization.Encoding.DER)


def authenticator_data(spki):
    """WebAuthn 6.1, with the key as the attested credential's."""
    cose = {1: 2, 3: -7, -1: 1, -2: spki[-64:-32], -3: spki[-32:]}
    return (hashlib.sha256(b"s.example").digest() + bytes([0x41]) + bytes(4) + bytes(16) +
            (4).to_bytes(2, "big") + b"test" + cbor2.dumps(cose, canonical=True))


def credential_key(data):
    return data[37 + 16 + 2 + 4:]


def fido2_accepts(statement, data, root):
    result = TpmAttestation().verify(statement, AuthenticatorData(data), hashlib.sha256(CLIENT_DATA).digest())
    verify_x509_chain([*result.trust_path, der(root)])


def webauthn_accepts(statement, data, root):
    parts = AttestationStatement(sig=statement["sig"], x5c=statement["x5c"], ver=statement["ver"],
                                 alg=statement["alg"], cert_info=statement["certInfo"],
                                 pub_area=statement["pubArea"])
    whole = cbor2.dumps({"fmt": "tpm", "attStmt": statement, "authData": data})
    if verify_tpm(attestation_statement=parts, attestation_object=whole, client_data_json=CLIENT_DATA,
                  credential_public_key=credential_key(data),
                  pem_root_certs_bytes=[root.public_bytes(serialization.Encoding.PEM)]) is not True:
        raise ValueError("not True")


JUDGES = {"fido2": fido2_accepts, "webauthn": webauthn_accepts}


def accepted(judge, statement, data, root):
    """None, or why not: whatever a judge raises is a refusal."""
    try:
        judge(statement, data, root)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    return None


def judge_changes(name, judge, statement, data, root):
    for field, step in (("certInfo", 7), ("sig", 5), ("pubArea", 5)):
        for at in range(0, len(statement[field]), step):
            changed = {**statement, field: flipped(statement[field], at)}
            check(f"{name} refuses {field} with byte {at} changed", accepted(judge, changed, data, root) is not None)
    signed = {**statement, "x5c": [flipped(statement["x5c"][0], len(statement["x5c"][0]) - 1)]}
    check(f"{name} refuses a certificate that is another", accepted(judge, signed, data, root) is not None)
    check(f"{name} refuses other authenticator data", accepted(judge, statement, flipped(data, 0), root) is not None)


def judge_others(name, judge, device, authority, statement, data):
    """The same proof with what belongs to somebody else."""
    own = authority.root
    stranger = CA()
    check(f"{name} refuses another root", accepted(judge, statement, data, stranger.root) is not None)
    for what, certificate in (("the key's certificate for the AK's", certify(authority, device.spki)),
                              ("a certificate for another use",
                               certify(authority, device.ak_spki, EK_USAGE))):
        changed = {**statement, "x5c": [der(certificate)]}
        check(f"{name} refuses {what}", accepted(judge, changed, data, own) is not None)
    other = authenticator_data(device.ak_spki)
    check(f"{name} refuses another credential", accepted(judge, statement, other, own) is not None)


def judge_native(device, folder):
    """The bytes of a proof before the verifier of Examples."""
    root, files = device.issue()
    challenge = os.urandom(32)
    proof, _ = device.attest(challenge, files)

    def accepts(blob, root=root, key=device.spki, challenge=challenge):
        attestation = {"format": "tpm2", "blob": base64.b64encode(blob).decode()}
        try:
            verify_native.verify(root.public_bytes(serialization.Encoding.PEM), key, challenge, attestation)
        except Exception:  # noqa: BLE001
            return False
        return True

    with open(os.path.join(folder, "proof"), "rb") as file:
        whole = file.read()
    check("verify_native accepts", accepts(whole))
    check("another challenge", not accepts(whole, challenge=os.urandom(32)))
    check("another key", not accepts(whole, key=device.ak_spki))
    check("another root", not accepts(whole, root=CA().root))
    for field in ("certInfo", "sig", "pubArea"):
        for at in range(len(proof["attStmt"][field])):
            statement = {**proof["attStmt"], field: flipped(proof["attStmt"][field], at)}
            check(f"{field} with byte {at} changed", not accepts(cbor2.dumps({**proof, "attStmt": statement})))
    check("no proof", not accepts(b""))


def main(tool):
    with tempfile.TemporaryDirectory() as folder:
        device = Device(tool, folder)
        judge_native(device, folder)
        authority = CA()
        leaf = os.path.join(folder, "leaf")
        with open(leaf, "wb") as file:
            file.write(der(certify(authority, device.ak_spki)))
        data = authenticator_data(device.spki)
        digest = hashlib.sha256(data + hashlib.sha256(CLIENT_DATA).digest()).digest()
        for number in range(4):  # signatures differ in length
            proof, statement = device.attest(digest, [leaf])
            check("the proof is a tpm statement with six fields", proof["fmt"] == "tpm" and len(statement) == 6)
            for name, judge in JUDGES.items():
                why = accepted(judge, statement, data, authority.root)
                check(f"{name} accepts proof {number} ({why})", why is None)
        root, own_chain = device.issue()
        _, own = device.attest(digest, own_chain)
        check("the proof holds the chain", len(own["x5c"]) == 2)
        for name, judge in JUDGES.items():
            why = accepted(judge, own, data, root)
            check(f"{name} accepts a chain that Tenon issued ({why})", why is None)
            check(f"{name} refuses it under another root", accepted(judge, own, data, authority.root) is not None)
            alone = {**own, "x5c": own["x5c"][:1]}
            check(f"{name} refuses it without its issuer", accepted(judge, alone, data, root) is not None)
        _, changed = device.attest(hashlib.sha256(b"another nonce").digest(), [leaf])
        for name, judge in JUDGES.items():
            check(f"{name} refuses another nonce", accepted(judge, changed, data, authority.root) is not None)
            judge_changes(name, judge, statement, data, authority.root)
            judge_others(name, judge, device, authority, statement, data)
        device.stop()
    return verdict("fido2, webauthn and verify_native")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(main(sys.argv[1]))
