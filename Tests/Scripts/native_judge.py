# SPDX-License-Identifier: Apache-2.0
"""native_judge.py ATTEST_TOOL: proofs of Tenon before Examples/verify_native.py, and each changed in every part."""

import base64
import os
import sys
import tempfile

import cbor2
from cryptography.hazmat.primitives import serialization

import judges

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Examples"))
import verify_native  # noqa: E402


def accepts(roots, key, challenge, proof):
    attestation = {"format": "tpm2", "blob": base64.b64encode(proof).decode()}
    try:
        verify_native.verify(roots, key, challenge, attestation)
    except Exception:  # noqa: BLE001
        return False
    return True


def judge(device, folder):
    root, files = device.issue()
    roots = root.public_bytes(serialization.Encoding.PEM)
    challenge = os.urandom(32)
    device.attest(challenge, files)
    with open(os.path.join(folder, "proof"), "rb") as file:
        proof = file.read()
    judges.check("verify_native accepts", accepts(roots, device.spki, challenge, proof))
    judges.check("another challenge", not accepts(roots, device.spki, os.urandom(32), proof))
    judges.check("another key", not accepts(roots, device.ak_spki, challenge, proof))
    judges.check("another root", not accepts(
        judges.Authority().root.public_bytes(serialization.Encoding.PEM), device.spki, challenge, proof))
    whole = cbor2.loads(proof)
    for field in ("certInfo", "sig", "pubArea"):
        for at in range(len(whole["attStmt"][field])):
            statement = {**whole["attStmt"], field: judges.flipped(whole["attStmt"][field], at)}
            changed = cbor2.dumps({**whole, "attStmt": statement})
            judges.check(f"{field} with byte {at} changed", not accepts(roots, device.spki, challenge, changed))
    judges.check("no proof", not accepts(roots, device.spki, challenge, b""))


def main():
    with tempfile.TemporaryDirectory() as folder:
        device = judges.Device(sys.argv[1], folder)
        try:
            judge(device, folder)
        finally:
            device.stop()
    print(f"verify_native: {judges.passed} checks held, {len(judges.failed)} did not")
    return 1 if judges.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
