# SPDX-License-Identifier: Apache-2.0
"""Prints batch.txt: trees, paths, statements and whole requests of signature version 2, by the recursive definitions of
RFC 9162 (2.1.1, 2.1.3), RFC 9421 (2.5), RFC 7638 and RFC 6979, with Python's integers and hashlib."""

import base64
import hashlib
import hmac

from curve import P256

N, G = P256.n, P256.g
# RFC 6979, A.2.5.
SCALAR = 0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721
NONCE = "d8f6c9a2-4f1b-4c5e-9a3d-0b7e6f5a4c3d"


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def int32(number):
    return number.to_bytes(32, "big")


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


# ---- The key ----

PUBLIC = P256.multiply(SCALAR, G)
JWK = f'{{"crv":"P-256","kty":"EC","x":"{base64url(int32(PUBLIC[0]))}","y":"{base64url(int32(PUBLIC[1]))}"}}'
THUMBPRINT = sha256(JWK.encode())


def nonce_of(digest):
    """RFC 6979, 3.2."""
    seed = int32(SCALAR) + int32(int.from_bytes(digest, "big") % N)
    k, v = bytes(32), b"\1" * 32
    for separator in (b"\0", b"\1"):
        k = hmac.new(k, v + separator + seed, "sha256").digest()
        v = hmac.new(k, v, "sha256").digest()
    while True:
        v = hmac.new(k, v, "sha256").digest()
        number = int.from_bytes(v, "big")
        if 0 < number < N:
            return number
        k = hmac.new(k, v + b"\0", "sha256").digest()
        v = hmac.new(k, v, "sha256").digest()


def sign(digest):
    k = nonce_of(digest)
    r = P256.multiply(k, G)[0] % N
    return r, pow(k, -1, N) * (int.from_bytes(digest, "big") + r * SCALAR) % N


# ---- The tree ----

def split(count):
    """The largest power of 2 below the count."""
    k = 1
    while 2 * k < count:
        k *= 2
    return k


def root(leaves):
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return sha256(b"\1", root(leaves[:k]), root(leaves[k:]))


def path(index, leaves):
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if index < k:
        return path(index, leaves[:k]) + [root(leaves[k:])]
    return path(index - k, leaves[k:]) + [root(leaves[:k])]


def leaf(digest):
    return sha256(b"\0", digest)


def some_leaves(count):
    return [leaf(sha256(str(i).encode())) for i in range(count)]


def statement(leaves):
    label = b"tenon request batch 2".ljust(32, b"\0")
    return sha256(label, THUMBPRINT, len(leaves).to_bytes(2, "big"), root(leaves))


def batch_value(leaves, index):
    r, s = sign(statement(leaves))
    s = min(s, N - s)
    numbers = len(leaves).to_bytes(2, "big") + index.to_bytes(2, "big")
    return int32(r) + int32(s) + numbers + b"".join(path(index, leaves))


# ---- A request ----

def base_of(request):
    covered = [
        ("@method", request["Method"]), ("@authority", request["Authority"]), ("@path", request["Path"]),
        ("@query", request["Query"]), ("content-digest", request["ContentDigest"]),
    ]
    for name, member in (("content-type", "ContentType"), ("content-encoding", "ContentEncoding")):
        if member in request:
            covered.append((name, request[member]))
    covered += [("x-app-id", request["App"]), ("x-device-id", request["Device"])]
    tag = {"plain": "tenon", "batch": "tenon-batch"}[request["Form"]]
    parameters = "(" + " ".join(f'"{name}"' for name, _ in covered) + ")"
    parameters += f';created={request["Created"]};expires={request["Expires"]};nonce="{NONCE}"'
    parameters += f';keyid="{base64url(THUMBPRINT)}";tag="{tag}"'
    lines = [f'"{name}": {value}' for name, value in covered] + [f'"@signature-params": {parameters}']
    return "\n".join(lines), "tenon=" + parameters


def show_request(name, form, content=b"", size=3, index=1, **members):
    request = {
        "Form": form, "Method": "POST", "Authority": "api.example.com", "Path": "/v1/things", "Query": "?",
        "App": "app", "Device": "dev_0123456789abcdef", "Created": "1790000000", "Expires": "1790000300",
    }
    request.update(members)
    request["ContentDigest"] = f"sha-256=:{base64.b64encode(sha256(content)).decode()}:"
    base, signature_input = base_of(request)
    digest = sha256(base.encode())
    if form == "plain":
        value = b"".join(map(int32, sign(digest)))
    else:
        leaves = some_leaves(size)
        leaves[index] = leaf(digest)
        value = batch_value(leaves, index)
        request.update(Size=size, Index=index)
    print(f"\n[request]\nName = {name}")
    for member, text in request.items():
        print(f"{member} = {text}")
    print(f"Content = {content.hex()}\nBase = {base.encode().hex()}\nInput = {signature_input}")
    print(f"Signature = tenon=:{base64.b64encode(value).decode()}:")


def show_tree(count):
    leaves = some_leaves(count)
    print(f"\n[tree]\nSize = {count}\nRoot = {root(leaves).hex()}\nStatement = {statement(leaves).hex()}")
    for index in sorted({0, 1 % count, count // 2, max(count - 2, 0), count - 1}):
        print(f"Path = {index} {''.join(step.hex() for step in path(index, leaves))}")
    print(f"Value = {base64.b64encode(batch_value(leaves, count - 1)).decode()}")


def requests():
    for form in ("plain", "batch"):
        body = b'{"a":1}'
        show_request("with JSON", form, body, ContentType="application/json")
        show_request("without content", form, Method="GET")
        show_request("both headers of the content", form, body, ContentType="text/plain; charset=utf-8",
                     ContentEncoding="gzip")
        show_request("an encoding alone", form, body, ContentEncoding="br")
        show_request("escapes, a query and a port", form, Path="/a%20b/%E2%82%AC/%2Fc;d=1,2:@", Query="?x=%26&y=/?",
                     Authority="127.0.0.1:8080", Method="DELETE")
        show_request("the longest texts", form, bytes(range(256)), Method="M" * 32, Path="/" + "p" * 8191,
                     Query="?" + "q" * 8191, App="a" * 200, Device="d" * 128, ContentType="t" * 1024,
                     ContentEncoding="e" * 1024, Created="999999999998", Expires="999999999999")
    show_request("alone in its batch", "batch", b"alone", size=1, index=0)
    show_request("last of 1024", "batch", b"last", size=1024, index=1023)
    show_request("an IPv6 address", "plain", Authority="[2001:db8::1]:8443", Created="1000000000", Expires="1000000001")


print(f"# Made by make_batch.py; do not edit.\n\nThumbprint = {THUMBPRINT.hex()}")
for number in (1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 64, 65, 1000, 1023, 1024):
    show_tree(number)
requests()
