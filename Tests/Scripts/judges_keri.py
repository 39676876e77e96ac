# SPDX-License-Identifier: Apache-2.0
"""judges_keri.py BUILD_DIR: KERI events of TPM keys before keri and auths of PyPI, and before libtenon; and its BLAKE3
beside that of PyPI.

Each log is judged by all three. The good ones must be accepted by each, the changed ones refused by each, except for
what LAX lists. auths has no call for a log alone: it authenticates the log of a credential's issuer first, and only
then looks at the credential, which is a made-up one here."""

import base64
import itertools
import json
import os
import subprocess
import sys

import auths
import blake3
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives import hashes
from keri.core import eventing, parsing
from keri.db import basing
from tenon import Library, TenonError

from judging import Tool, check, verdict

KEYS = 4
BLANK = "#" * 44
ATTACHMENT_SIZE = 92
# What a judge accepts although Tenon and the other one refuse it. The day it refuses it, this list is wrong.
LAX = {("auths 0.1.16", "a number that begins at 1"), ("auths 0.1.16", "a rotation of another identity")}


class Device(Tool):
    """keri_tool, which keeps its keys."""

    def __init__(self, tool):
        super().__init__(tool)
        self.points = [bytes.fromhex(self.line()) for _ in range(KEYS)]

    def event(self, verb, key, following):
        self.ask(verb, key, following)
        return self.line(), self.line()

    def signed(self, event, key):
        self.ask("sign", key, event.encode().hex())
        return event, self.line()


def text64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def digest(data, code="E"):
    hashed = blake3.blake3(data).digest() if code == "E" else sha256(data)
    return code + text64(b"\0" + hashed)[1:]


def sha256(data):
    hasher = hashes.Hash(hashes.SHA256())
    hasher.update(data)
    return hasher.finalize()


def encode(members):
    return json.dumps(members, separators=(",", ":"))


def finished(event, code="E", order=None, **changes):
    """The event with these changes, its size and its SAID; an inception is named by it."""
    members = {**json.loads(event), **changes}
    if order:
        members = {name: members[name] for name in order(members)}
    members["d"] = BLANK
    if members["t"] == "icp":
        members["i"] = BLANK
    members["v"] = "KERI10JSON000000_"
    members["v"] = f"KERI10JSON{len(encode(members)):06x}_"
    said = digest(encode(members).encode(), code)
    members["d"] = said
    if members["t"] == "icp":
        members["i"] = said
    return encode(members)


def tenon_accepts(library, log):
    try:
        library.did_of([(event.encode(), attachment.encode()) for event, attachment in log])
    except TenonError as error:
        return error.name
    return None


def keri_accepts(log):
    """keri keeps back what it does not accept, and waits for more of a message that is cut."""
    with basing.openDB(name="judge", temp=True) as db:
        kevery = eventing.Kevery(db=db, lax=True, local=False)
        for number, (event, attachment) in enumerate(log):
            try:
                message = bytearray((event + attachment).encode())
                steps = parsing.Parser().onceParsator(ims=message, kvy=kevery)
                for _ in itertools.islice(steps, 50):
                    pass
                members = json.loads(event)
                kever = kevery.kevers[members["i"]]
                if (kever.sner.num, kever.serder.said) != (number, members["d"]):
                    return "not accepted"
            except Exception as error:  # noqa: BLE001
                return f"{type(error).__name__}: {error}"
    return None


def auths_accepts(log):
    said = digest(b"a credential that nobody issued")
    try:
        events = [json.loads(event) for event, _ in log]
    except ValueError:
        return "not JSON"
    subject = {"d": said, "i": said, "dt": "2026-01-01T00:00:00Z"}
    credential = {"v": "ACDC10JSON000000_", "d": said, "i": events[0].get("i"), "ri": said, "s": said, "a": subject}
    report = auths.verify_credential(json.dumps({
        "schemaVersion": 1,
        "credential": {"acdc": credential, "signatureB64": base64.b64encode(bytes(64)).decode()},
        "issuerKel": events,
        "issuerKelAttachmentsB64": [base64.b64encode(attachment.encode()).decode() for _, attachment in log],
        "tel": [], "receipts": [], "witnessPolicy": "warn", "now": "2026-01-01T00:00:00Z",
    }))
    # The credential is what is wrong, so the log before it was right.
    if report.status == auths.CredentialStatus.SAID_MISMATCH:
        return None
    return f"{report.status} {report.field or report.message or ''}"


def changed_inceptions(device, inception):
    event, attachment = inception
    members = json.loads(event)
    yield "another key's signature", [device.signed(event, 3)]
    yield "no attachment", [(event, "")]
    yield "a cut attachment", [(event, attachment[:-4])]
    yield "half an attachment", [(event, attachment[:ATTACHMENT_SIZE // 2])]
    yield "an attachment that counts two", [(event, "-AAC" + attachment[4:])]
    yield "a changed signature", [(event, attachment[:40] + ("A" if attachment[40] != "A" else "B") + attachment[41:])]
    yield "a changed number", [device.signed(event.replace('"s":"0"', '"s":"1"'), 0)]
    yield "a number that begins at 1", [device.signed(finished(event, s="1"), 0)]
    yield "a changed commitment", [device.signed(event.replace(members["n"][0], digest(b"another")), 0)]
    yield "sorted fields", [device.signed(finished(event, order=sorted), 0)]
    yield "a SHA-256 SAID", [device.signed(finished(event, code="I"), 0)]
    yield "a point off the curve", [device.signed(finished(event, k=["1AAJ" + text64(off_curve())]), 0)]
    legacy = {name: members[name] for name in ("t", "v", "d", "i", "s", "kt", "k", "nt", "n", "bt", "b")}
    legacy.update(v="KERI10JSON", k=["1AAI" + members["k"][0][4:]], d=BLANK, i=BLANK)
    legacy["d"] = legacy["i"] = digest(encode(legacy).encode())
    body, own = device.signed(encode(legacy), 0)
    yield "the legacy body", [(encode({**legacy, "x": text64(raw_signature(own))}), own)]


def changed_rotations(device, inception, rotation):
    event, attachment = rotation
    members = json.loads(event)
    yield "a rotation by the old key", [inception, device.signed(event, 0)]
    yield "a rotation without an attachment", [inception, (event, "")]
    yield "a rotation to a key that was not committed to", [
        inception, device.signed(finished(event, k=["1AAJ" + text64(device.points[3])]), 3)]
    yield "a broken link", [inception, device.signed(finished(event, p=digest(b"another")), 1)]
    yield "a number left out", [inception, device.signed(finished(event, s="2"), 1)]
    yield "a number twice", [inception, rotation, device.signed(finished(event, n=[digest(b"another")]), 1)]
    yield "a rotation with sorted fields", [inception, device.signed(finished(event, order=sorted), 1)]
    yield "a rotation with a changed commitment", [
        inception, (event.replace(members["n"][0], digest(b"another")), attachment)]
    yield "a rotation first", [rotation]
    yield "a rotation of another identity", [inception, device.signed(finished(event, i=digest(b"another")), 1)]


def raw_signature(attachment):
    """r and s of an attachment with one signature."""
    return base64.urlsafe_b64decode("AA" + attachment[6:])[2:]


def off_curve():
    """A compressed point whose x belongs to no point."""
    for x in range(1, 256):
        point = b"\2" + x.to_bytes(32, "big")
        try:
            ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        except ValueError:
            return point
    raise SystemExit("every x belongs to a point")


def judge_blake3(tool):
    """Random bytes, around the sizes of chunks and subtrees and up to 4 MiB."""
    data = os.urandom(1 << 22)
    for size in (0, 1, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, 3071, 3072, 3073, 7168, 7169, 65535, 65536, 65537,
                 1000000, 1048577, 4194304):
        said = subprocess.run([tool], input=data[:size], capture_output=True, check=True).stdout.decode().strip()
        check(f"BLAKE3 of {size} bytes", said == blake3.blake3(data[:size]).hexdigest(), said)


def main(build):
    library = Library(os.path.join(build, "libtenon.so"))
    judges = {
        "keri 1.1.17": keri_accepts, "auths 0.1.16": auths_accepts, "tenon": lambda log: tenon_accepts(library, log)}
    accepted, refused = dict.fromkeys(judges, 0), dict.fromkeys(judges, 0)

    def compare(what, log, is_good):
        for name, judge in judges.items():
            why = judge(log)
            counts = accepted if why is None else refused
            counts[name] += 1
            check(f"{name}, {what}", (why is None) == (is_good or (name, what) in LAX), why or "accepted")

    device = Device(os.path.join(build, "keri_tool"))
    for number in range(8):  # signatures differ
        inception = device.event("inception", 0, 1)
        rotations = [device.event("rotation", key % KEYS, (key + 1) % KEYS) for key in range(1, 8)]
        for length in range(len(rotations) + 1):
            compare(f"log {number} with {length} rotations", [inception, *rotations[:length]], True)
    inception, rotation = device.event("inception", 0, 1), device.event("rotation", 1, 2)
    for what, log in itertools.chain(
            changed_inceptions(device, inception), changed_rotations(device, inception, rotation)):
        compare(what, log, False)
    device.stop()
    judge_blake3(os.path.join(build, "blake3_tool"))
    for name in judges:
        lax = sorted(what for judge, what in LAX if judge == name)
        print(f"{name}: accepted {accepted[name]} logs, refused {refused[name]}"
              + (f"; of those accepted, Tenon refuses: {', '.join(lax)}" if lax else ""))
    return verdict("logs and BLAKE3")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(main(sys.argv[1]))
