#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_abi.py LIBRARY: what a program in another language needs of libtenon, judged by Python's own modules."""

import base64
import ctypes
import hashlib
import json
import pathlib
import secrets
import sys
import traceback
import uuid
from ctypes import byref, c_void_p

import tenon
from curve import P256

# RFC 6979, A.2.5: the key, and its signature over SHA-256 of "sample"
SCALAR = bytes.fromhex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721")
PUBLIC = bytes.fromhex(
    "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
    "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"
)
SAMPLE = hashlib.sha256(b"sample").digest()
SIGNATURE = bytes.fromhex(
    "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
    "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
)

LENGTHS = list(range(70)) + [127, 128, 255, 256, 1000, 4096]
PARTS = (b"POST", b"/ingest/v1/events", b"1740000000")
NONCE = b"8c7e3b52-3d9e-4f0a-9a43-0a6c1d2e3f40"

lib = tenon.Library(sys.argv[1])


def number(data):
    return int.from_bytes(data, "big")


def python_signs(scalar, digest):
    nonce = secrets.randbelow(P256.n - 1) + 1
    r = P256.multiply(nonce, P256.g)[0] % P256.n
    return P256.encoded((r, pow(nonce, -1, P256.n) * (number(digest) + r * number(scalar)) % P256.n))


def python_verifies(key, digest, signature):
    r, s = number(signature[:32]), number(signature[32:])
    of_g = P256.multiply(number(digest) * pow(s, -1, P256.n) % P256.n, P256.g)
    of_key = P256.multiply(r * pow(s, -1, P256.n) % P256.n, (number(key[:32]), number(key[32:])))
    return P256.add(of_g, of_key)[0] % P256.n == r


def raises(name, category, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except tenon.TenonError as error:
        assert (error.name, error.category) == (name, category), error
        assert error.text.endswith("."), error
        return
    raise AssertionError(f"no {name}")


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_version():
    major, minor, patch, zero = lib.version().to_bytes(4, "big")
    assert lib.version_text().decode() == f"{major}.{minor}.{patch}" and zero == 0
    assert lib.backend_name() in (b"mbedtls", b"openssl")


def test_sizes():
    assert (lib.sizes["digest"], lib.sizes["public_key"], lib.sizes["signature"]) == (32, 64, 64)
    assert all(size % 8 == 0 for size in lib.sizes.values())


def test_sha256():
    for n in LENGTHS:
        data = secrets.token_bytes(n)
        assert lib.digest(data) == hashlib.sha256(data).digest()


def test_sha256_stream():
    data = secrets.token_bytes(4096)
    stream, out = lib.value("sha256_stream"), lib.value("digest")
    lib.sha256_begin(stream)
    for i in range(0, len(data), 100):
        lib.sha256_update(stream, data[i : i + 100], len(data[i : i + 100]))
    lib.sha256_finish(stream, out)
    assert bytes(out) == hashlib.sha256(data).digest()
    raises("TENON_ERROR_STREAM", 1, lib.sha256_update, stream, b"", 0)


def test_base64():
    for n in LENGTHS:
        data = secrets.token_bytes(n)
        text, url = base64.b64encode(data), base64.urlsafe_b64encode(data).rstrip(b"=")
        assert lib.base64_encode(data, n) == text and lib.base64_decode(text, len(text)) == data
        assert lib.base64url_encode(data, n) == url and lib.base64url_decode(url, len(url)) == data


def test_base64_is_strict():
    raises("TENON_ERROR_BASE64_LENGTH", 2, lib.base64_decode, b"Z", 1)
    raises("TENON_ERROR_BASE64_PADDING", 2, lib.base64_decode, b"Zg", 2)
    raises("TENON_ERROR_BASE64_PADDING", 2, lib.base64url_decode, b"Zg==", 4)
    raises("TENON_ERROR_BASE64_STRAY_BITS", 2, lib.base64_decode, b"Zh==", 4)
    raises("TENON_ERROR_BASE64_ALPHABET", 2, lib.base64_decode, b"Zm9\n", 4)
    raises("TENON_ERROR_BASE64_ALPHABET", 2, lib.base64url_decode, b"+/+/", 4)


def test_hex():
    for n in LENGTHS:
        data = secrets.token_bytes(n)
        assert lib.hex_encode(data, n) == data.hex().encode()
        assert lib.hex_decode(data.hex().upper().encode(), 2 * n) == data
    raises("TENON_ERROR_HEX_ALPHABET", 2, lib.hex_decode, b"0g", 2)


def test_short_buffers():
    key = lib.value("public_key", PUBLIC)
    calls = [
        (lib.base64_encode, 44, (SAMPLE, 32)),
        (lib.base64_decode, 3, (b"Zm9v", 4)),
        (lib.hex_encode, 64, (SAMPLE, 32)),
        (lib.hex_decode, 2, (b"00ff", 4)),
        (lib.public_key_encode_spki, 91, (key,)),
        (lib.public_key_encode_compressed, 33, (key,)),
        (lib.public_key_thumbprint, 43, (key,)),
        (lib.signature_encode_der, 72, (lib.value("signature", SIGNATURE),)),
        (lib.request_nonce, 36, ()),
    ]
    for function, size, arguments in calls:
        assert len(function(*arguments, room=size)) == size
        assert len(function(*arguments, room=size + 5)) == size
        for room in (0, 1, size - 1):
            raises("TENON_ERROR_BUFFER_TOO_SMALL", 1, function, *arguments, room=room)


def test_null():
    raises("TENON_ERROR_NULL", 1, lib.sha256, None, b"", 0)
    raises("TENON_ERROR_NULL", 1, lib.sha256, lib.value("digest"), None, 1)
    assert lib.base64_encode(None, 0) == b""
    lib.key_free(None)
    lib.verifier_free(byref(c_void_p()))


def test_unknown_status():
    error = lib.error(0x7FFFFFFF)
    assert error.name and error.text and error.category == 0x7F


def test_binding_nonce():
    out, challenge, key = lib.value("digest"), b"Y2hhbGxlbmdl", base64.b64encode(PUBLIC)
    lib.binding_nonce(out, challenge, len(challenge), key, len(key))
    assert bytes(out) == hashlib.sha256(challenge + key).digest()
    raises("TENON_ERROR_EMPTY", 1, lib.binding_nonce, out, b"", 0, key, len(key))


def test_request_digest():
    out = lib.value("digest")
    lib.request_finish(lib.request(*PARTS, pieces=[b'{"heart', b"", b'_rate":62}']), out)
    assert bytes(out) == hashlib.sha256(b"\n".join(PARTS) + b'\n{"heart_rate":62}').digest()


def test_request_forms():
    method, path, timestamp = PARTS
    raises("TENON_ERROR_METHOD", 1, lib.request, b"post", path, timestamp)
    raises("TENON_ERROR_PATH", 1, lib.request, method, b"/v1?a=b", timestamp)
    raises("TENON_ERROR_PATH", 1, lib.request, method, b"/v1\nx", timestamp)
    raises("TENON_ERROR_TIMESTAMP", 1, lib.request, method, path, b"0740000000")


def test_nonce_is_a_fresh_uuid():
    nonces = [lib.request_nonce().decode() for _ in range(8)]
    assert len(set(nonces)) == 8
    for nonce in nonces:
        assert str(uuid.UUID(nonce)) == nonce and uuid.UUID(nonce).version == 4
        assert uuid.UUID(nonce).variant == uuid.RFC_4122


def test_headers():
    der = lib.signature_encode_der(lib.value("signature", SIGNATURE))
    assert lib.headers(SIGNATURE, b"demo", b"dev_1", PARTS[2], NONCE) == {
        "app_id": b"demo",
        "device_id": b"dev_1",
        "signature": base64.b64encode(der),
        "timestamp": PARTS[2],
        "nonce": NONCE,
        "version": b"1",
    }
    raises("TENON_ERROR_APP_ID", 1, lib.headers, SIGNATURE, b"de mo", b"dev_1", PARTS[2], NONCE)
    raises("TENON_ERROR_NONCE", 1, lib.headers, SIGNATURE, b"demo", b"dev_1", PARTS[2], b"1")
    raises("TENON_ERROR_SIGNATURE_RANGE", 2, lib.headers, bytes(64), b"demo", b"dev_1", PARTS[2], NONCE)


def test_signature_der():
    der = lib.signature_encode_der(lib.value("signature", SIGNATURE))
    integer = b"\x02\x21\x00"
    assert der == b"\x30\x46" + integer + SIGNATURE[:32] + integer + SIGNATURE[32:]
    out = lib.value("signature")
    assert lib.signature_of(der) == SIGNATURE
    lib.signature_decode_der(out, der, len(der))
    assert bytes(out) == SIGNATURE
    raises("TENON_ERROR_DER_TRAILING", 2, lib.signature_decode_der, out, der + b"\0", len(der) + 1)
    assert bytes(out) == bytes(64)


def test_public_key_forms():
    key, out = lib.value("public_key", PUBLIC), lib.value("public_key")
    spki = lib.public_key_encode_spki(key)
    assert spki.endswith(b"\x04" + PUBLIC) and len(spki) == 91
    assert lib.key_of(spki) == PUBLIC
    lib.public_key_decode_spki(out, spki, 91)
    assert bytes(out) == PUBLIC
    compressed = lib.public_key_encode_compressed(key)
    assert compressed == b"\x03" + PUBLIC[:32]
    lib.public_key_decode_compressed(out, compressed, 33)
    assert bytes(out) == PUBLIC
    raises("TENON_ERROR_POINT_OFF_CURVE", 2, lib.public_key_decode_spki, out, flipped(spki, 90), 91)


def test_thumbprint():
    x, y = (base64.urlsafe_b64encode(half).rstrip(b"=").decode() for half in (PUBLIC[:32], PUBLIC[32:]))
    jwk = '{"crv":"P-256","kty":"EC","x":"%s","y":"%s"}' % (x, y)
    expected = base64.urlsafe_b64encode(hashlib.sha256(jwk.encode()).digest()).rstrip(b"=")
    assert lib.public_key_thumbprint(lib.value("public_key", PUBLIC)) == expected


def test_software_key_signs_a_request():
    with tenon.Key.generate(lib) as key:
        assert not key.is_hardware
        digest = lib.value("digest")
        signature = key.sign_request(lib.request(*PARTS, pieces=[b"body"]))
        lib.request_finish(lib.request(*PARTS, pieces=[b"body"]), digest)
        lib.verify(key.public_key, bytes(digest), signature)
        assert python_verifies(key.public_key, bytes(digest), signature)
        for wrong in (
            (key.public_key, flipped(bytes(digest), 31), signature),
            (key.public_key, bytes(digest), flipped(signature, 31)),
            (PUBLIC, bytes(digest), signature),
        ):
            raises("TENON_ERROR_SIGNATURE_INVALID", 3, lib.verify, *wrong)


def test_bare_digest_needs_its_capability():
    with tenon.Key.generate(lib) as key:
        raises("TENON_ERROR_DIGEST_NOT_ALLOWED", 1, key.sign_digest, SAMPLE)
    with tenon.Key.generate(lib, tenon.KEY_SIGNS_DIGESTS) as key:
        lib.verify(key.public_key, SAMPLE, key.sign_digest(SAMPLE))


def test_rfc_6979():
    with tenon.Key.load(lib, SCALAR, tenon.KEY_SIGNS_DIGESTS | tenon.KEY_DETERMINISTIC) as key:
        assert key.public_key == PUBLIC
        assert key.sign_digest(SAMPLE) == SIGNATURE


def test_scalar_range():
    for scalar in (bytes(32), P256.n.to_bytes(32, "big"), SCALAR[:-1]):
        raises("TENON_ERROR_SCALAR_RANGE", 2, tenon.Key.load, lib, scalar)


def test_verifier():
    handle = c_void_p()
    lib.verifier_new(byref(handle), lib.value("public_key", PUBLIC))
    good, bad = lib.value("signature", SIGNATURE), lib.value("signature", flipped(SIGNATURE, 63))
    lib.verifier_verify(handle, lib.value("digest", SAMPLE), good)
    raises("TENON_ERROR_SIGNATURE_INVALID", 3, lib.verifier_verify, handle, lib.value("digest", SAMPLE), bad)
    lib.verifier_free(byref(handle))
    assert handle.value is None
    raises("TENON_ERROR_POINT_OFF_CURVE", 2, lib.verifier_new, byref(handle), lib.value("public_key"))


def test_log():
    vector = json.loads(pathlib.Path("Tests/Vectors/auths-kel-p256.json").read_text(encoding="ascii"))
    events = (vector["icp"], vector["rot"])
    inception, rotation = ((event["body"].encode(), event["attachment"].encode()) for event in events)
    did = vector["icp"]["did"]
    assert lib.did_of([inception]) == did
    assert lib.did_of([inception, rotation]) == did
    raises("TENON_ERROR_EMPTY", 1, lib.did_of, [])
    raises("TENON_KERI_6_NO_INCEPTION", 3, lib.did_of, [rotation])
    raises("TENON_KERI_7_INCEPTION_AGAIN", 3, lib.did_of, [inception, inception])
    raises("TENON_KERI_18_SIGNATURE", 3, lib.did_of, [(inception[0], rotation[1])])
    raises("TENON_KERI_2_UNSIGNED", 3, lib.did_of, [(inception[0], b"")])
    raises("TENON_KERI_11_SAID", 3, lib.did_of, [inception, (rotation[0].replace(b'"s":"1"', b'"s":"2"'), rotation[1])])


def test_key_made_of_python():
    freed = []
    flags = tenon.KEY_HARDWARE | tenon.KEY_SIGNS_DIGESTS
    sign = lambda digest: python_signs(SCALAR, digest)
    with tenon.Key.made_of(lib, PUBLIC, sign, lambda: freed.append(True), flags) as key:
        assert key.is_hardware and key.public_key == PUBLIC
        lib.verify(PUBLIC, SAMPLE, key.sign_digest(SAMPLE))
        digest = lib.value("digest")
        lib.request_finish(lib.request(*PARTS), digest)
        lib.verify(PUBLIC, bytes(digest), key.sign_request(lib.request(*PARTS)))
        assert not freed
    key.free()
    assert freed == [True]


def test_error_of_a_python_key_comes_back():
    def busy(_):
        raise lib.error(0x04812345)

    with tenon.Key.made_of(lib, PUBLIC, busy) as key:
        raises("TENON_TPM_TRANSIENT", 4, key.sign_request, lib.request(*PARTS))
    freed = []
    off_curve = flipped(PUBLIC, 63)
    raises("TENON_ERROR_POINT_OFF_CURVE", 2, tenon.Key.made_of, lib, off_curve, busy, lambda: freed.append(True))
    assert not freed


def test_key_ops_of_another_size():
    ops, handle = tenon.KeyOps(size=ctypes.sizeof(tenon.KeyOps) - 8), c_void_p(1)
    raises("TENON_ERROR_KEY_OPS", 1, lib.key_new, byref(handle), byref(ops), None)
    assert handle.value is None


def main():
    passed = failed = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
            passed += 1
        except Exception:
            failed += 1
            print(f"{name} failed:")
            traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
