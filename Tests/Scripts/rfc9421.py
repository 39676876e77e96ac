# SPDX-License-Identifier: Apache-2.0
"""rfc9421.py REQUEST2_TOOL: requests of Tenon before http-message-signatures of PyPI.

It verifies plain requests as it is, and batches with the code that docs/signing.md shows. Every component and parameter
that is signed is then changed, and it refuses.
"""

import base64
import collections
import hashlib
import json
import pathlib
import re
import sys
import time

from cryptography.hazmat.primitives import serialization
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver
from http_message_signatures.algorithms import ECDSA_P256_SHA256, HTTPSignatureAlgorithm

from judging import Tool, check, verdict

Request = collections.namedtuple("Request", "method url headers")
HEADERS = ("X-App-ID", "X-Device-ID", "Content-Type", "Content-Encoding")
SIZES = (1, 2, 3, 16, 100, 1000)
CONTENT = b'{"a":1}'


def shown_code():
    page = pathlib.Path(__file__).parents[2] / "docs" / "signing.md"
    names = {}
    exec(re.search(r"```python\n(.*?)```", page.read_text(), re.S).group(1), names)  # pylint: disable=exec-used
    return names["verify_member"]


verify_member = shown_code()


def thumbprint(key):
    numbers = key.public_numbers()
    x, y = (base64.urlsafe_b64encode(n.to_bytes(32, "big")).decode().rstrip("=") for n in (numbers.x, numbers.y))
    return hashlib.sha256(json.dumps({"crv": "P-256", "kty": "EC", "x": x, "y": y}, separators=(",", ":")).encode()).digest()


class Batch(HTTPSignatureAlgorithm):
    """The plug-in."""
    algorithm_id = "tenon-batch"

    def __init__(self, public_key=None, private_key=None):  # pylint: disable=super-init-not-called
        self.public_key = public_key

    def sign(self, message):
        raise NotImplementedError

    def verify(self, signature, message):
        verify_member(self.public_key, thumbprint(self.public_key), message, signature)


class Resolver(HTTPSignatureKeyResolver):
    def __init__(self, key):
        self.key = key

    def resolve_public_key(self, key_id):
        return self.key if base64.urlsafe_b64decode(key_id + "=") == thumbprint(self.key) else None

    def resolve_private_key(self, key_id):
        raise NotImplementedError


class Device(Tool):
    """request2_tool, which keeps its key."""

    def __init__(self, tool):
        super().__init__(tool)
        self.key = serialization.load_der_public_key(bytes.fromhex(self.line()))

    def sign(self, form, asked):
        """The requests with their headers, and how many commands that took."""
        now = int(time.time())
        content = hashlib.sha256(CONTENT).digest()
        for one in asked:
            texts = [one[name] for name in ("method", "host", "path", "query", "type", "encoding", "app", "device")]
            self.ask("\t".join(texts + [str(now), str(now + 300), content.hex()]))
        self.ask(form)
        return [request_of(one, content, *self.line().split("\t")) for one in asked], int(self.line())


def request_of(one, content, signature_input, signature):
    headers = {
        "Host": one["host"], "X-App-ID": one["app"], "X-Device-ID": one["device"],
        "Content-Digest": f"sha-256=:{base64.b64encode(content).decode()}:",
        "Signature-Input": signature_input, "Signature": signature,
    }
    if one["type"]:
        headers["Content-Type"] = one["type"]
    if one["encoding"]:
        headers["Content-Encoding"] = one["encoding"]
    query = "" if one["query"] == "?" else one["query"]
    return Request(one["method"], f"https://{one['host']}{one['path']}{query}", headers)


def asked(number):
    """Requests that differ in each text."""
    return {
        "method": ("GET", "POST", "PUT", "DELETE")[number % 4], "host": ("api.example.com", "127.0.0.1:8080")[number % 2],
        "path": ("/", "/v1/a%20b", "/a//b/", "/%2F;x=1,2:@!$&'()*+")[number % 4], "query": ("?", "?a=b&c=%26", "?x")[number % 3],
        "type": ("application/json", "", "text/plain; charset=utf-8")[number % 3], "encoding": ("", "gzip")[number // 3 % 2],
        "app": f"app-{number % 7}", "device": f"dev_{number:04}",
    }


def holds(key, request, batch):
    verifier = HTTPMessageVerifier(signature_algorithm=Batch if batch else ECDSA_P256_SHA256, key_resolver=Resolver(key))
    try:
        verifier.verify(request, expect_tag="tenon-batch" if batch else "tenon")
        return True
    except Exception as error:  # pylint: disable=broad-exception-caught
        if isinstance(error, (NameError, AttributeError, ImportError)):
            raise
        return False


def with_header(request, name, change):
    return request._replace(headers=request.headers | {name: change(request.headers[name])})


def longer(name):
    return lambda request: with_header(request, name, lambda text: text + "x")


def in_input(pattern, replacement):
    return lambda request: with_header(request, "Signature-Input", lambda text: re.sub(pattern, replacement, text))


def in_value(change):
    def changed(text):
        value = bytearray(base64.b64decode(text[len("tenon=:"):-1]))
        change(value)
        return f"tenon=:{base64.b64encode(bytes(value)).decode()}:"
    return lambda request: with_header(request, "Signature", changed)


def flip(at):
    def change(value):
        value[at] ^= 1
    return in_value(change)


def cut(value):
    del value[-32:]


CHANGES = {
    "method": lambda r: r._replace(method="PATCH"),
    "host": lambda r: with_header(r._replace(url=r.url.replace("://", "://x")), "Host", lambda host: "x" + host),
    "path": lambda r: r._replace(url=re.sub(r"(https://[^/]*)/", r"\1/x/", r.url)),
    "query": lambda r: r._replace(url=r.url + ("&" if "?" in r.url else "?") + "y"),
    "content digest": lambda r: with_header(r, "Content-Digest", lambda text: text[:12] + ("A" if text[12] != "A" else "B") + text[13:]),
    "created": in_input(r"created=\d+", f"created={int(time.time()) - 60}"),
    "expires": in_input(r"expires=(\d+)", r"expires=1\1"),
    "nonce": in_input(r'nonce="........', 'nonce="00000000'),
    "keyid": in_input(r'keyid="....', 'keyid="AAAA'),
    "a component less": in_input(' "@query"', ""),
    "another order": in_input('"@method" "@authority"', '"@authority" "@method"'),
    "r": flip(0),
    "s": flip(63),
}
OF_BATCH = {"size": flip(65), "index": flip(67), "path": flip(68), "a step less": in_value(cut),
            "a step more": in_value(lambda value: value.extend(bytes(32)))}


def must_refuse(key, other, request, batch):
    """It, changed in each way, and under the key of another device, and in the other form."""
    changes = CHANGES | {name: longer(name) for name in HEADERS if name in request.headers}
    if batch:
        changes |= {name: change for name, change in OF_BATCH.items()
                    if len(request.headers["Signature"]) > 110 or name in ("size", "index", "a step more")}
    for name, change in changes.items():
        changed = change(request)
        check(f"refused with another {name}: {changed}", changed != request and not holds(key, changed, batch))
    check(f"refused under another key: {request}", not holds(other, request, batch))
    check(f"refused in the other form: {request}", not holds(key, request, not batch))


def main(tool):
    device, other = Device(tool), Device(tool)
    for form, size in [("plain", 24)] + [("batch", size) for size in SIZES]:
        requests, commands = device.sign(form, [asked(number) for number in range(size)])
        for request in requests:
            check(f"accepted: {request}", holds(device.key, request, form == "batch"))
        for request in requests if form == "plain" else requests[:: max(1, size // 8)]:
            must_refuse(device.key, other.key, request, form == "batch")
        print(f"{form}: {size} requests, {commands} commands")
        check(f"a batch of {size} takes one command", form == "plain" or commands == 1)
    return verdict("http-message-signatures")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
