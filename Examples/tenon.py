# SPDX-License-Identifier: Apache-2.0
"""libtenon through ctypes: nothing is known here but the functions; sizes are asked from the library.

Keys, digests and signatures are bytes; each function that fails raises TenonError."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, Dict, Iterable, Optional, Tuple

KEY_HARDWARE = 0x1
KEY_SIGNS_DIGESTS = 0x2
KEY_DETERMINISTIC = 0x100

HEADERS = ("app_id", "device_id", "signature", "timestamp", "nonce", "version")

SIGN = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)
PUBLIC_KEY = CFUNCTYPE(c_int32, c_void_p, c_void_p)
FREE = CFUNCTYPE(None, c_void_p)


class KeyOps(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("flags", c_uint32), ("sign", SIGN), ("public_key", PUBLIC_KEY), ("free", FREE)]


class HeaderOffsets(ctypes.Structure):
    _fields_ = [(name, c_size_t) for name in HEADERS]


class TenonError(Exception):
    """A status that is not success."""

    def __init__(self, status: int, name: str, text: str, category: int) -> None:
        super().__init__(f"{name}: {text}")
        self.status, self.name, self.text, self.category = status, name, text, category


# Arguments by letter: b bytes with their length, o an output buffer with n and written, s a size, i a uint32_t,
# p any other pointer.
ARGUMENTS = {
    "b": (c_char_p, c_size_t),
    "o": (c_void_p, c_size_t, POINTER(c_size_t)),
    "s": (c_size_t,),
    "i": (c_uint32,),
    "p": (c_void_p,),
}

STATUS_FUNCTIONS = {
    "sha256": "pb",
    "sha256_begin": "p",
    "sha256_update": "pb",
    "sha256_finish": "pp",
    "base64_encode": "ob",
    "base64_decode": "ob",
    "base64url_encode": "ob",
    "base64url_decode": "ob",
    "hex_encode": "ob",
    "hex_decode": "ob",
    "signature_encode_der": "op",
    "signature_decode_der": "pb",
    "public_key_encode_spki": "op",
    "public_key_decode_spki": "pb",
    "public_key_encode_compressed": "op",
    "public_key_decode_compressed": "pb",
    "public_key_thumbprint": "op",
    "binding_nonce": "pbb",
    "request_begin": "pbbb",
    "request_update": "pb",
    "request_finish": "pp",
    "request_nonce": "o",
    "request_headers": "oppbbbb",
    "key_new": "ppp",
    "key_public_key": "pp",
    "key_sign_request": "ppp",
    "key_sign_digest": "ppp",
    "software_key_generate": "pi",
    "software_key_import": "pbi",
    "p256_check": "p",
    "p256_verify": "ppp",
    "verifier_new": "pp",
    "verifier_verify": "ppp",
    "keri_append": "pbbi",
    "keri_did": "op",
}

SIZES = ("digest", "public_key", "signature", "sha256_stream", "request", "keri_state")

OTHER_FUNCTIONS = {
    "status_category": (c_int32, (c_int32,)),
    "status_name": (c_char_p, (c_int32,)),
    "status_text": (c_char_p, (c_int32,)),
    "key_free": (None, (c_void_p,)),
    "key_is_hardware": (c_int32, (c_void_p,)),
    "verifier_free": (None, (c_void_p,)),
    "version": (c_uint32, ()),
    "version_text": (c_char_p, ()),
    "backend_name": (c_char_p, ()),
    **{f"{name}_size": (c_size_t, ()) for name in SIZES},
}


class Library:
    """The functions without their prefix. They raise an error status, and return an output buffer."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        for name, (result, arguments) in OTHER_FUNCTIONS.items():
            setattr(self, name, self._function(name, result, arguments))
        for name, letters in STATUS_FUNCTIONS.items():
            arguments = [kind for letter in letters for kind in ARGUMENTS[letter]]
            function = self._function(name, c_int32, arguments)
            setattr(self, name, self._sized(function) if letters[0] == "o" else self._raising(function))
        self.sizes = {name: getattr(self, f"{name}_size")() for name in SIZES}

    def _function(self, name, result, arguments):
        function = self._library[f"tenon_{name}"]
        function.restype, function.argtypes = result, list(arguments)
        return function

    def error(self, status: int) -> TenonError:
        return TenonError(
            status, self.status_name(status).decode(), self.status_text(status).decode(), self.status_category(status)
        )

    def check(self, status: int) -> None:
        if status != 0:
            raise self.error(status)

    def _raising(self, function):
        return lambda *arguments: self.check(function(*arguments))

    def _sized(self, function):
        """Asks for the size, then for the bytes, unless `room` says how much there is."""

        def call(*arguments, room=None):
            written = c_size_t()
            if room is None:
                function(None, 0, byref(written), *arguments)
                room = written.value
            out = ctypes.create_string_buffer(max(room, 1))
            self.check(function(out, room, byref(written), *arguments))
            return out.raw[: written.value]

        return call

    def value(self, name: str, content: bytes = b"") -> Any:
        """Makes one of the library's values; the library knows its size."""
        buffer = (c_uint64 * (self.sizes[name] // 8))()
        ctypes.memmove(buffer, content, min(len(content), self.sizes[name]))
        return buffer

    def digest(self, data: bytes) -> bytes:
        out = self.value("digest")
        self.sha256(out, data, len(data))
        return bytes(out)

    def base64_decoded(self, text: bytes) -> bytes:
        return self.base64_decode(text, len(text))

    def _decoded(self, name, decode, data):
        out = self.value(name)
        decode(out, data, len(data))
        return bytes(out)

    def key_of(self, spki: bytes) -> bytes:
        """The public key, 64 bytes, in a SubjectPublicKeyInfo."""
        return self._decoded("public_key", self.public_key_decode_spki, spki)

    def signature_of(self, der: bytes) -> bytes:
        """The signature, 64 bytes, in its DER form."""
        return self._decoded("signature", self.signature_decode_der, der)

    def request(self, method: bytes, path: bytes, timestamp: bytes, pieces: Iterable[bytes] = ()) -> Any:
        """A request to sign, or to verify by its digest; pieces are its body."""
        request = self.value("request")
        self.request_begin(request, method, len(method), path, len(path), timestamp, len(timestamp))
        for piece in pieces:
            self.request_update(request, piece, len(piece))
        return request

    def request_digest(self, request: Any) -> bytes:
        out = self.value("digest")
        self.request_finish(request, out)
        return bytes(out)

    def headers(
        self, signature: bytes, app_id: bytes, device_id: bytes, timestamp: bytes, nonce: bytes
    ) -> Dict[str, bytes]:
        """The six values by name."""
        offsets = HeaderOffsets()
        texts = [part for text in (app_id, device_id, timestamp, nonce) for part in (text, len(text))]
        out = self.request_headers(byref(offsets), self.value("signature", signature), *texts)
        return {name: out[getattr(offsets, name) :].split(b"\0")[0] for name in HEADERS}

    def did_of(self, log: Iterable[Tuple[bytes, bytes]]) -> str:
        """The identifier of a KERI log: its events, each with its attachment. It raises what the first bad one breaks."""
        state = self.value("keri_state")
        for event, attachment in log:
            self.keri_append(state, event, len(event), attachment, len(attachment), 0)
        return self.keri_did(state).decode()

    def verify(self, key: bytes, digest: bytes, signature: bytes) -> None:
        self.p256_verify(
            self.value("public_key", key), self.value("digest", digest), self.value("signature", signature)
        )


class Key:
    """A tenon_key. Free it with `free`, or use it in a `with`."""

    def __init__(self, library: Library, handle: c_void_p, keep: Optional[KeyOps] = None) -> None:
        self._library, self._handle, self._keep = library, handle, keep

    @classmethod
    def generate(cls, library: Library, flags: int = 0) -> "Key":
        handle = c_void_p()
        library.software_key_generate(byref(handle), flags)
        return cls(library, handle)

    @classmethod
    def load(cls, library: Library, scalar: bytes, flags: int = 0) -> "Key":
        handle = c_void_p()
        library.software_key_import(byref(handle), scalar, len(scalar), flags)
        return cls(library, handle)

    @classmethod
    def made_of(
        cls,
        library: Library,
        public_key: bytes,
        sign: Callable[[bytes], bytes],
        free: Callable[[], None] = lambda: None,
        flags: int = 0,
    ) -> "Key":
        """A key whose private half the caller holds: sign(digest) returns r || s or raises TenonError."""

        def call_sign(_, out, digest):
            try:
                ctypes.memmove(out, sign(ctypes.string_at(digest, library.sizes["digest"])), library.sizes["signature"])
                return 0
            except TenonError as error:
                return error.status

        def call_public_key(_, out):
            ctypes.memmove(out, public_key, library.sizes["public_key"])
            return 0

        ops = KeyOps(
            ctypes.sizeof(KeyOps), flags, SIGN(call_sign), PUBLIC_KEY(call_public_key), FREE(lambda _: free())
        )
        handle = c_void_p()
        library.key_new(byref(handle), byref(ops), None)
        return cls(library, handle, ops)

    def __enter__(self) -> "Key":
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def free(self) -> None:
        self._library.key_free(byref(self._handle))

    @property
    def is_hardware(self) -> bool:
        return self._library.key_is_hardware(self._handle) == 1

    @property
    def public_key(self) -> bytes:
        out = self._library.value("public_key")
        self._library.key_public_key(self._handle, out)
        return bytes(out)

    def sign_request(self, request: Any) -> bytes:
        out = self._library.value("signature")
        self._library.key_sign_request(self._handle, out, request)
        return bytes(out)

    def sign_digest(self, digest: bytes) -> bytes:
        out = self._library.value("signature")
        self._library.key_sign_digest(self._handle, out, self._library.value("digest", digest))
        return bytes(out)
