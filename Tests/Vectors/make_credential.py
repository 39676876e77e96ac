# SPDX-License-Identifier: Apache-2.0
"""Prints credential.txt: ECDH on P-384, OAEP, and MakeCredential (TPM 2.0 Part 1, 24, B.10.3, C.6), made with plain
integers, hashlib and hmac; AES is that of the package `cryptography`, which also opens the OAEP blocks again."""

import hashlib
import hmac

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from curve import P256, P384

CURVES = {curve.size: curve for curve in (P256, P384)}


def some(label, n):
    """n bytes that look random and are the same in each run."""
    return b"".join(hashlib.sha256(b"%s %d" % (label.encode(), i)).digest() for i in range(n // 32 + 1))[:n]


def show(**fields):
    for name, value in fields.items():
        print(name, "=", value.hex() if isinstance(value, bytes) else value)
    print()


def prime(label):
    n = int.from_bytes(some(label, 128), "big") | 1 | 3 << 1022
    while pow(3, n - 1, n) != 1 or (n - 1) % 65537 == 0:
        n += 2
    return n


P, Q = prime("p"), prime("q")
MODULUS = (P * Q).to_bytes(256, "big")
NUMBERS = rsa.RSAPublicNumbers(65537, P * Q)
D = pow(65537, -1, (P - 1) * (Q - 1))
PRIVATE = rsa.RSAPrivateNumbers(P, Q, D, D % (P - 1), D % (Q - 1), pow(Q, -1, P), NUMBERS).private_key()


def oaep(message, salt, label):
    def mgf(seed, n):
        return b"".join(hashlib.sha256(seed + i.to_bytes(4, "big")).digest() for i in range(8))[:n]

    def xor(a, b):
        return bytes(x ^ y for x, y in zip(a, b))

    data = hashlib.sha256(label).digest() + bytes(190 - len(message)) + b"\1" + message
    data = xor(data, mgf(salt, len(data)))
    encoded = xor(salt, mgf(data, 32)) + data
    block = pow(int.from_bytes(encoded, "big"), 65537, P * Q).to_bytes(256, "big")
    how = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), label)
    assert PRIVATE.decrypt(block, how) == message
    return block


def sized(data):
    return len(data).to_bytes(2, "big") + data


def kdfa(name, key, label, context, n):
    bits = (8 * n).to_bytes(4, "big")
    parts = [hmac.digest(key, i.to_bytes(4, "big") + label + b"\0" + context + bits, name) for i in (1, 2)]
    return b"".join(parts)[:n]


def cfb(key, data):
    """With an IV of zeros."""
    aes, out, block = Cipher(algorithms.AES(key), modes.ECB()).encryptor(), b"", bytes(16)
    for i in range(0, len(data), 16):
        block = bytes(x ^ y for x, y in zip(aes.update(block), data[i : i + 16]))
        out += block
    return out


def credential(kind, key, name, secret, draw, salt):
    size = len(key) // 2
    hash_name, cipher_key = ("sha384", 32) if kind == 3 else ("sha256", 16)
    if kind == 1:
        seed = draw[:32]
        encrypted = sized(oaep(seed, salt, b"IDENTITY\0"))
    else:
        curve = CURVES[size]
        point = int.from_bytes(key[:size], "big"), int.from_bytes(key[size:], "big")
        scalar = int.from_bytes(draw[:size], "big")
        own = curve.encoded(curve.multiply(scalar, curve.g))
        z = curve.encoded(curve.multiply(scalar, point))[:size]
        info = bytes([0, 0, 0, 1]) + z + b"IDENTITY\0" + own[:size] + key[:size]
        seed = hashlib.new(hash_name, info).digest()
        encrypted = sized(sized(own[:size]) + sized(own[size:]))
    identity = cfb(kdfa(hash_name, seed, b"STORAGE", name, cipher_key), sized(secret))
    mac_key = kdfa(hash_name, seed, b"INTEGRITY", b"", hashlib.new(hash_name).digest_size)
    mac = hmac.digest(mac_key, identity + name, hash_name)
    show(Kind=kind, Key=key, Name=name, Secret=secret, Draw=draw, Salt=salt,
         Credential=sized(sized(mac) + identity), Encrypted=encrypted)


def scalar_where(curve, label, holds):
    """The first scalar of a sequence of which this holds."""
    sequence = (int.from_bytes(some(f"{label} {i}", curve.size), "big") % curve.n for i in range(9999))
    return next(filter(holds, sequence))


def scalars(curve, own):
    """Any scalar; one whose point, and one whose product with the key, begins with zeros."""
    small = 1 << 8 * (curve.size - 1)
    yield scalar_where(curve, "any", lambda k: True)
    yield scalar_where(curve, "ephemeral", lambda k: curve.multiply(k, curve.g)[0] < small)
    yield scalar_where(curve, "z", lambda k: curve.multiply(k, own)[0] < small)


print("# Made by make_credential.py; do not edit.\n")
KEYS = {size: curve.multiply(scalar_where(curve, "key", lambda k: True), curve.g) for size, curve in CURVES.items()}

print("[agree]\n")
for k in (*scalars(P384, KEYS[48]), 1, 2, P384.n - 1):
    show(Scalar=k.to_bytes(48, "big"), Point=P384.encoded(KEYS[48]),
         Ephemeral=P384.encoded(P384.multiply(k, P384.g)), Z=P384.encoded(P384.multiply(k, KEYS[48]))[:48])

print("[oaep]\n")
for text, n in (("IDENTITY", 32), ("IDENTITY", 1), ("STORAGE", 190)):
    message, salt = some("message", n), some(f"salt {n}", 32)
    show(Modulus=MODULUS, Label=text, Salt=salt, Message=message, Block=oaep(message, salt, text.encode() + b"\0"))

print("[credential]\n")
NAME = b"\0\x0b" + some("name", 32)
for n in (32, 1):
    credential(1, MODULUS, NAME, some("secret", n), some("draw", 48), some("salt", 32))
for size, curve in CURVES.items():
    for k in scalars(curve, KEYS[size]):
        credential(size // 16, curve.encoded(KEYS[size]), NAME, some("secret", 32),
                   k.to_bytes(size, "big") + some("draw", 48 - size), some("salt", 32))
credential(3, P384.encoded(KEYS[48]), NAME, some("secret", 48), some("draw", 48), some("salt", 32))
