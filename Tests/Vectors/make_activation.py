# SPDX-License-Identifier: Apache-2.0
"""Prints activation.txt: what a folded activation derives and binds (include/tenon/activate.h), with hashlib and hmac;
and values that somebody could take for it."""

import base64
import hashlib
import hmac

SECRET, REGISTER, ROTATE = b"tenon/secret/1", b"tenon/register/1", b"tenon/rotate/1"


def some(label, n=32):
    """n bytes that look random and are the same in each run."""
    return b"".join(hashlib.sha256(b"%s %d" % (label.encode(), i)).digest() for i in range(n // 32 + 1))[:n]


def fields(*parts, order="big", size=4):
    return b"".join(len(part).to_bytes(size, order) + part for part in parts)


def mac(key, message):
    return hmac.new(key, message, "sha256").digest()


def show(**values):
    for name, value in values.items():
        print(name, "=", value.hex() if isinstance(value, bytes) else value)
    print()


def text(label, n):
    return base64.b64encode(some(label, n))


class Case:
    def __init__(self, label, **changes):
        self.key = some(label + " key")
        self.origin = b"https://service.example"
        self.app = b"app"
        self.challenge = text(label + " challenge", 32)
        self.public_key = text(label + " public key", 91)
        self.ek_id = some(label + " ek")
        self.ak_name = b"\x00\x0b" + some(label + " ak")
        self.__dict__.update(changes)

    def but(self, **changes):
        """The same with what another field is; the secret is that of the new fields."""
        other = Case("")
        other.__dict__.update(self.__dict__)
        other.__dict__.update(changes)
        return other

    def secret_fields(self):
        return fields(SECRET, self.challenge, self.ek_id, self.ak_name)

    def secret(self):
        return mac(self.key, self.secret_fields())

    def parts(self):
        return self.origin, self.app, self.challenge, self.public_key, self.ek_id, self.ak_name

    def value_fields(self):
        return fields(REGISTER, *self.parts())

    def value(self):
        return mac(self.secret(), self.value_fields())

    def show(self):
        show(Key=self.key, Origin=self.origin.decode(), App=self.app.decode(), Challenge=self.challenge.decode(),
             PublicKey=self.public_key.decode(), EkId=self.ek_id, AkName=self.ak_name,
             SecretFields=self.secret_fields(), Secret=self.secret(), ValueFields=self.value_fields(),
             Value=self.value())


BASE = Case("base")
CASES = [
    BASE,
    Case("port", origin=b"http://localhost:8080", app=b"com.example.app"),
    Case("short", origin=b"o", app=b"a", challenge=b"c", public_key=b"k"),
    Case("key of 64 bytes", key=some("long", 64)),
    Case("key of 65 bytes", key=some("longer", 65)),
    Case("utf-8", app="größer".encode()),
    Case("long", app=b"a" * 300),
]


def others():
    """Of BASE: what each is, and the value; the service takes none of them."""
    secret, parts = BASE.secret(), BASE.parts()
    digest = hashlib.sha256(BASE.value_fields()).digest()

    def with_secret(**changes):  # the secret of BASE, and another field
        return mac(secret, BASE.but(**changes).value_fields())

    for origin in ("https://relay.example", "http://service.example", "https://service.example:443",
                   "https://service.example/", "https://SERVICE.example", "https://service.example."):
        yield "origin " + origin, with_secret(origin=origin.encode())
    yield "another app", with_secret(app=b"other")
    yield "another challenge", with_secret(challenge=text("another", 32))
    yield "another public key", with_secret(public_key=text("another", 91))
    yield "another EK", with_secret(ek_id=some("another"))
    yield "another AK", with_secret(ak_name=b"\x00\x0b" + some("another"))
    yield "the secret of another challenge", mac(BASE.but(challenge=text("another", 32)).secret(), BASE.value_fields())
    yield "the secret of another EK", mac(BASE.but(ek_id=some("another")).secret(), BASE.value_fields())
    yield "the secret of another AK", mac(BASE.but(ak_name=b"\x00\x0b" + some("another")).secret(), BASE.value_fields())
    yield "the secret of another K_act", mac(BASE.but(key=some("another")).secret(), BASE.value_fields())
    yield "K_act for the secret", mac(BASE.key, BASE.value_fields())
    yield "another label", mac(secret, fields(b"tenon/register/2", *parts))
    yield "the label of a rotation", mac(secret, fields(ROTATE, *parts))
    yield "no label", mac(secret, fields(*parts))
    yield "a label with a NUL", mac(secret, fields(REGISTER + b"\0", *parts))
    yield "little-endian sizes", mac(secret, fields(REGISTER, *parts, order="little"))
    yield "sizes of 2 bytes", mac(secret, fields(REGISTER, *parts, size=2))
    yield "sizes of 8 bytes", mac(secret, fields(REGISTER, *parts, size=8))
    yield "no sizes", mac(secret, b"".join((REGISTER, *parts)))
    yield "a border moved", mac(secret, fields(REGISTER, parts[0] + b"a", b"pp", *parts[2:]))
    yield "two fields exchanged", mac(secret, fields(REGISTER, parts[1], parts[0], *parts[2:]))
    yield "without the AK", mac(secret, fields(REGISTER, *parts[:5]))
    yield "one field more", mac(secret, fields(REGISTER, *parts, b""))
    yield "the AK Name without its hash", mac(secret, fields(REGISTER, *parts[:5], BASE.ak_name[2:]))
    yield "the public key decoded", mac(secret, fields(REGISTER, *parts[:3], base64.b64decode(parts[3]), *parts[4:]))
    yield "the challenge decoded", mac(secret, fields(REGISTER, *parts[:2], base64.b64decode(parts[2]), *parts[3:]))
    yield "the documented nonce alone", mac(secret, hashlib.sha256(BASE.challenge + BASE.public_key).digest())
    yield "a hash in place of an HMAC", digest
    yield "the secret before what is hashed", hashlib.sha256(secret + BASE.value_fields()).digest()
    yield "the HMAC of a hash", mac(secret, digest)
    yield "key and message exchanged", mac(BASE.value_fields(), secret)
    yield "SHA-512 cut", hmac.new(secret, BASE.value_fields(), "sha512").digest()[:32]
    yield "the secret", secret
    yield "zeros", bytes(32)
    yield "one byte less", BASE.value()[:31]
    yield "one byte more", BASE.value() + b"\0"
    yield "its text", BASE.value().hex().encode()


print("# Made by make_activation.py; do not edit.\n")
print("[values]\n")
for case in CASES:
    case.show()
print("# For the first of the above.\n\n[refused]\n")
for what, value in others():
    assert value != BASE.value()
    show(What=what, Value=value)
print("[rotation]\n")
for timestamp in (b"1700000000", b"2026-01-01T00:00:00Z"):
    parts = [BASE.origin, BASE.app, b"device", text("old", 91), text("new", 91), timestamp]
    message = fields(ROTATE, *parts)
    names = ("Origin", "App", "Device", "OldKey", "NewKey", "Timestamp")
    show(**{name: part.decode() for name, part in zip(names, parts)}, NonceFields=message,
         Nonce=hashlib.sha256(message).digest())
