#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""verify_request.py KEY REQUEST...: says whether each REQUEST, a file with an HTTP request, is from the device.

KEY is the device's public key, base64 of its SubjectPublicKeyInfo, as the service that registered the device gives it.
A server must check what this program checks: the signature, the time, and that no request is accepted twice. It needs
tenon.py beside it."""

import os
import sys
import time
from typing import Dict, Set, Tuple

import tenon

WINDOW = 300  # seconds, before and after

REASONS = {"time": "the timestamp is too far from now", "replay": "it was made before"}


def split(request: bytes) -> Tuple[bytes, bytes, Dict[str, bytes], bytes]:
    """Method, path, headers and body. A server's framework does this."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    method, path, _ = first.split(b" ")
    headers: Dict[str, bytes] = {}
    for line in lines:
        name, _, value = line.partition(b":")
        if headers.setdefault(name.decode().lower(), value.strip()) != value.strip():
            raise ValueError("a header comes twice")
    return method, path, headers, body


class Judge:
    """Verifies one device's requests. A server with several processes keeps what was seen in a place for all."""

    def __init__(self, core: tenon.Library, key: bytes) -> None:
        self._core, self._key = core, key
        self._seen: Set[bytes] = set()  # each for as long as its timestamp is good: drop those that are older

    def judge(self, request: bytes) -> str:
        try:
            method, path, headers, body = split(request)
            timestamp, nonce = headers["x-synheart-timestamp"], headers["x-synheart-nonce"]
            signed = self._core.request(method, path, timestamp, [body])
            signature = self._core.signature_of(self._core.base64_decoded(headers["x-synheart-signature"]))
            if abs(int(timestamp) - time.time()) > WINDOW:
                return "time"
            self._core.verify(self._key, self._core.request_digest(signed), signature)
        except tenon.TenonError as error:
            return error.name
        except (KeyError, ValueError):
            return "not a signed request"
        # After the signature; otherwise anyone could use up a nonce. The nonce is not signed: a request that is sent
        # again with another one has the same r, which nobody can change without the key.
        once = {nonce, signature[:32]}
        if once & self._seen:
            return "replay"
        self._seen |= once
        return "valid"


def main() -> int:
    if len(sys.argv) < 3:
        print("usage: verify_request.py KEY REQUEST...", file=sys.stderr)
        return 1
    core = tenon.Library(os.environ.get("LIBTENON", "libtenon.so.0"))
    judge = Judge(core, core.key_of(core.base64_decoded(sys.argv[1].encode())))
    refused = 0
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            verdict = judge.judge(file.read())
        refused += verdict != "valid"
        print(f"{path}: {verdict if verdict == 'valid' else 'refused: ' + REASONS.get(verdict, verdict)}")
    return 3 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
