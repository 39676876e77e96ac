#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""runtime.py LIBRARY STATE_DIR TPM URL APP: does what the Synheart core runtime does with its callbacks.

It loads libsynheart_native_crypto.so, hands its eight functions to a runtime that is made up, in the order in which the
SDKs do that (storage, keys, registration), registers a device at the authority, and sends a request that the device
signed. A second run finds the device again and only signs."""

import base64
import ctypes
import hashlib
import json
import sys
import time
import urllib.error
import urllib.request
import uuid
from typing import Any, Dict, Optional

SERVICE = b"synheart-core"

# SubjectPublicKeyInfo of a P-256 key (RFC 5480) up to its point.
SPKI = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("state_dir", ctypes.c_char_p), ("tpm", ctypes.c_char_p),
                ("allow_simulator", ctypes.c_uint32), ("counter", ctypes.c_uint32)]


class Callbacks:
    """The eight functions. A text that is returned belongs to the caller, who frees it."""

    def __init__(self, path: str, state_dir: str, tpm: str) -> None:
        self._c = ctypes.CDLL(path)
        self._free = ctypes.CDLL(None).free
        self._free.argtypes = [ctypes.c_void_p]
        options = Options(ctypes.sizeof(Options), state_dir.encode(), tpm.encode(), 1, 0)
        if self._c.tenon_native_configure(ctypes.byref(options)) != 0:
            sys.exit(f"the library is in use already, or cannot use {state_dir}")

    def text(self, name: str, *arguments: Any) -> Optional[str]:
        function = getattr(self._c, name)
        function.restype = ctypes.c_void_p
        found = function(*arguments)
        if not found:
            return None
        try:
            return ctypes.string_at(found).decode()
        finally:
            self._free(found)

    def number(self, name: str, *arguments: Any) -> int:
        return getattr(self._c, "synheart_native_" + name)(*arguments)

    def call(self, name: str, *arguments: Any) -> Optional[str]:
        return self.text("synheart_native_" + name, *arguments)

    def must(self, name: str, *arguments: Any) -> str:
        answer = self.call(name, *arguments)
        if answer is None:
            sys.exit(f"{name}: {self.text('tenon_native_last_error')}")
        return answer


def bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def der(raw: bytes) -> bytes:
    """Ecdsa-Sig-Value of r and s (RFC 3279, 2.2.3)."""
    parts = b""
    for number in (raw[:32], raw[32:]):
        digits = number.lstrip(b"\0")
        digits = b"\0" + digits if digits[0] & 0x80 else digits
        parts += bytes([2, len(digits)]) + digits
    return bytes([0x30, len(parts)]) + parts


def post(url: str, body: bytes, headers: Optional[Dict[str, str]] = None) -> Dict[str, Any]:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"{url}: {error.code} {error.read().decode()}")


class Runtime:
    def __init__(self, callbacks: Callbacks, url: str, app: str) -> None:
        self.callbacks, self.url, self.app = callbacks, url, app
        self.record_name = f"device_record:{app}".encode()

    def record(self) -> Optional[Dict[str, Any]]:
        """A usable identity: the record is there, and so is its key."""
        text = self.callbacks.call("secure_load", SERVICE, self.record_name)
        record = json.loads(text) if text else None
        if record and self.callbacks.number("key_exists", record["key_name"].encode()) == 1:
            return record
        return None

    def register(self) -> Dict[str, Any]:
        name = f"dev_{uuid.uuid4()}"
        key = json.loads(self.callbacks.must("generate_key", name.encode()))
        text = base64.b64encode(SPKI + bytes_of(key["x"]) + bytes_of(key["y"])).decode()
        challenge = post(f"{self.url}/device/challenge", json.dumps({"app_id": self.app}).encode())["challenge"]
        nonce = hashlib.sha256((challenge + text).encode()).digest()
        attestation = json.loads(self.callbacks.must("get_attestation", name.encode(), nonce, ctypes.c_size_t(32)))
        print(f"get_attestation: {attestation['format']}, {len(attestation['blob'])} characters")
        answer = post(f"{self.url}/device/register", json.dumps({
            "app_id": self.app, "challenge": challenge, "public_key": text, "platform": "linux",
            "attestation": attestation}).encode())
        record = {"app_id": self.app, "device_id": answer["device_id"], "key_name": name, "attestation": "hardware",
                  "public_jwk": {"kty": "EC", "crv": "P-256", **key}, "registered_at_ms": int(time.time() * 1000)}
        if self.callbacks.number("secure_store", SERVICE, self.record_name, json.dumps(record).encode()) != 0:
            sys.exit("secure_store failed")
        return record

    def send(self, record: Dict[str, Any], path: str, body: bytes) -> Dict[str, Any]:
        stamp = str(int(time.time()))
        message = b"\n".join([b"POST", path.encode(), stamp.encode(), body])
        raw = bytes_of(self.callbacks.must("sign_bytes", record["key_name"].encode(), message,
                                           ctypes.c_size_t(len(message))))
        return post(self.url.rsplit("/auth/", 1)[0] + path, body, {
            "X-App-ID": self.app, "X-Device-ID": record["device_id"], "X-Synheart-Timestamp": stamp,
            "X-Synheart-Signature": base64.b64encode(der(raw)).decode(),
            "X-Synheart-Nonce": str(uuid.uuid4()), "X-Synheart-Sig-Version": "1"})


def main(library: str, state_dir: str, tpm: str, url: str, app: str) -> None:
    runtime = Runtime(Callbacks(library, state_dir, tpm), url + "/auth/v1", app)
    record = runtime.record()
    print("the device is known" if record else "the device registers")
    record = record or runtime.register()
    print(f"device {record['device_id']}")
    print(json.dumps(runtime.send(record, "/v1/echo", b'{"heart_rate":62}')))


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__.split(":")[0])
    main(*sys.argv[1:])
