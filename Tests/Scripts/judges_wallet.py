# SPDX-License-Identifier: Apache-2.0
"""judges_wallet.py TENON_AUTHORITY: the provider of IT-Wallet before jwcrypto and cryptography of PyPI.

An independent device (wallet_device.py) is initialized and uses its key. jwcrypto makes its requests and verifies what
is issued. Each request and each attestation is then changed: the judge refuses it, and so does the authority.
"""

import json
import os
import sys
import tempfile

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from jwcrypto import jwk, jws

from served import Served, free_port
from wallet_device import TOKEN, Device, Maker, Provider, settings, text64, token

USES = {
    "wp-war+jwt": "key-binding", "rp-kb+jwt": "key-binding", "wia-request+jwt": "wallet-instance-attestations",
    "wua-request+jwt": "wallet-unit-attestations", "ka-request+jwt": "key-attestation"}
counts = {}
failed = []


def check(what, name, holds):
    counts[what] = counts.get(what, 0) + bool(holds)
    if not holds:
        failed.append(name)
        print("does not hold:", name)


def judged(text, key):
    """The claims that the judge accepts, or None: whatever it raises is a refusal."""
    try:
        read = jws.JWS()
        read.deserialize(text, jwk.JWK(**key), alg="ES256")
        return json.loads(read.payload)
    except Exception:  # noqa: BLE001
        return None


def changed(text, part, at):
    """The same JWS with another character in one of its parts."""
    parts = text.split(".")
    at %= len(parts[part]) - 1
    other = "A" if parts[part][at] != "A" else "B"
    parts[part] = parts[part][:at] + other + parts[part][at + 1:]
    return ".".join(parts)


def issued(answer):
    value = next(iter(answer.values()))
    return value if isinstance(value, str) else value[0]["wallet_attestation"]


def judge_use(provider, device, kind, published):
    request, claims = device.request(kind)
    check("the judge accepts a request", f"{kind}: the judge's own JWS", judged(request, claims["cnf"]["jwk"]) == claims)
    status, answer = provider.post(USES[kind], {"assertion": request})
    check("the authority accepts the judge's request", f"{kind}: {status} {answer}", status in (200, 204))
    if status != 200:
        return
    text = issued(answer)
    read = judged(text, published)
    check("the judge accepts an attestation", f"{kind}: what was issued", read is not None)
    check("the attestation is for the key of the request", f"{kind}: cnf", read and read["cnf"]["jwk"] == claims["cnf"]["jwk"])
    kid = json.loads(jws.base64url_decode(text.split(".")[0]))["kid"]
    check("the judge's thumbprint is the kid", f"{kind}: kid", kid == jwk.JWK(**published).thumbprint())
    for part in range(3):
        for at in range(0, len(text.split(".")[part]), 17):
            other = changed(text, part, at)
            check("the judge refuses a changed attestation", f"{kind}: part {part} at {at}", judged(other, published) is None)


def judge_changes(provider, device, kind):
    for part, step in ((0, 16), (1, 160), (2, 12)):
        for at in range(0, len(device.request(kind)[0].split(".")[part]), step):
            request, claims = device.request(kind)
            other = changed(request, part, at)
            check("the judge refuses a changed request", f"{kind}: part {part} at {at}",
                  judged(other, claims["cnf"]["jwk"]) is None)
            status, answer = provider.post(USES[kind], {"assertion": other})
            check("the authority refuses a changed request", f"{kind}: part {part} at {at}: {status} {answer}",
                  status in (400, 403))


def judge_claims(provider, device, other, kind):
    """Requests whose JWS is good, but not what it says."""
    _, foreign = other.request(kind)
    for name in ("hardware_signature", "integrity_assertion", "hardware_key_tag", "nonce"):
        if name not in foreign:
            continue
        request, claims = device.request(kind, **{name: foreign[name]})
        check("the judge accepts what only the authority can refuse", f"{kind}: {name}",
              judged(request, claims["cnf"]["jwk"]) is not None)
        status, answer = provider.post(USES[kind], {"assertion": request})
        check("the authority refuses another device's value", f"{kind}: {name}: {status} {answer}", status == 403)
    request, _ = device.request(kind)
    provider.post(USES[kind], {"assertion": request})
    status, _ = provider.post(USES[kind], {"assertion": request})
    check("the authority refuses a repeated request", f"{kind}: {status}", status == 403)


def judge_initialization(provider, device):
    def refused(what, member, change):
        message = device.initialization(provider.nonce())
        message[member] = change(message[member])
        status, answer = provider.post("application-instances", message)
        check(f"the authority refuses {what}", f"{member}: {status} {answer}", status == 403)

    refused("another nonce or tag", "nonce", lambda nonce: provider.nonce())
    refused("another nonce or tag", "hardware_key_tag", lambda tag: text64(bytes(32)))
    for at in range(8, len(device.initialization(provider.nonce())["key_attestation"]), 48):
        refused("a changed proof", "key_attestation", lambda proof: changed(f".{proof}.", 1, at)[1:-1])
    for _ in range(2):
        status, answer = provider.post("application-instances", device.initialization(provider.nonce()))
        check("the authority accepts an initialization", f"{status} {answer}", status == 204)


def judge_access(provider, device):
    """A key is bound, and cryptography reads its access certificate."""
    claims, header, key = device.assertion("rp-kb+jwt")
    status, answer = provider.post("key-binding", {"assertion": token(header, claims, key)})
    check("the authority accepts the judge's request", f"binding: {status} {answer}", status == 204)
    csr = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
    whole = csr.public_bytes(serialization.Encoding.DER)
    for at in range(0, len(whole), 7):
        other = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]
        status, answer = provider.post("access-certificate", {"csr": text64(other)})
        check("the authority refuses a changed certificate request", f"byte {at}: {status} {answer}", status in (400, 403))
    status, answer = provider.post("access-certificate", {"csr": text64(whole)})
    check("the authority accepts a certificate request", f"{status} {answer}", status == 200)
    leaf, root = x509.load_pem_x509_certificates(answer["access_certificate"].encode())
    leaf.verify_directly_issued_by(root)
    root.verify_directly_issued_by(root)
    names = leaf.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    constraints = [one.extensions.get_extension_for_class(x509.BasicConstraints).value.ca for one in (leaf, root)]
    check("the judge accepts an access certificate", "key, name and authority",
          leaf.public_key() == key.public_key() and names[0].value == device.tag and constraints == [False, True])
    der = leaf.public_bytes(serialization.Encoding.DER)
    for at in range(0, len(leaf.tbs_certificate_bytes), 7):
        try:
            root.public_key().verify(leaf.signature, der[4:at + 4] + bytes([der[at + 4] ^ 1]) +
                                     der[at + 5:4 + len(leaf.tbs_certificate_bytes)], ec.ECDSA(hashes.SHA256()))
            refused = False
        except InvalidSignature:
            refused = True
        check("the judge refuses a changed certificate", f"byte {at}", refused)


def judge_backend(provider, backend, device, other):
    """A backend gives instances to accounts, lists and revokes them; a revoked one can do nothing."""
    mine, theirs = (f"{backend.base}/wallet-instances/{one.tag}" for one in (device, other))
    asked = [
        (204, "PUT", mine + "/account", {"account": "Ann & Bob"}), (403, "PUT", mine + "/account", {"account": "Eve"}),
        (403, "GET", mine, None), (200, "GET", mine + "?account=Ann%20%26%20Bob", None), (200, "GET", theirs, None),
        (400, "PATCH", theirs, {"status": "ACTIVE"}), (204, "PATCH", theirs, {"status": "REVOKED"}),
        (204, "PATCH", theirs, {"status": "REVOKED"}), (405, "DELETE", theirs, None)]
    for wanted, method, path, message in asked:
        status, answer = backend.ask(method, path, message)
        check("a backend is answered", f"{method} {path}: {status} {answer}", status == wanted)
    listed = backend.ask("GET", backend.base + "/wallet-instances?account=Ann%20%26%20Bob")[1]
    check("a backend is answered", f"list: {listed}", [(one["id"], one["status"]) for one in listed] == [(device.tag, "ACTIVE")])
    state = provider.ask("GET", f"{provider.base}/wallet-instances/{other.tag}")[1]
    check("a backend is answered", f"state: {state}", (state["id"], state["status"]) == (other.tag, "REVOKED"))
    status, _ = Provider(backend.port, "wallet").ask("GET", mine)
    check("a backend without its token is refused", f"{status}", status == 401)
    for kind in USES:
        status, answer = provider.post(USES[kind], {"assertion": other.request(kind)[0]})
        check("a revoked instance is refused", f"{kind}: {status} {answer}", status == 403)
    status, _ = provider.post("application-instances", other.initialization(provider.nonce()))
    check("a revoked instance is refused", f"initialization: {status}", status == 403)


def main(authority):
    with tempfile.TemporaryDirectory() as folder:
        maker, internal = Maker(), free_port()
        served = Served(authority, os.path.join(folder, "state"), settings(folder, internal, maker)).start()
        provider = Provider(served.port, "wallet")
        try:
            published = provider.ask("GET", provider.base + "/jwks")[1]["keys"][0]
            device, other = Device(provider, maker), Device(provider, maker)
            for one in (device, other):
                judge_initialization(provider, one)
            for kind in USES:
                judge_use(provider, device, kind, published)
                judge_changes(provider, device, kind)
                judge_claims(provider, device, other, kind)
            judge_access(provider, device)
            judge_backend(provider, Provider(internal, "wallet", TOKEN), device, other)
        finally:
            served.stop()
    for what, count in counts.items():
        print(f"{count:5} {what}")
    print(f"{sum(counts.values())} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(main(sys.argv[1]))
