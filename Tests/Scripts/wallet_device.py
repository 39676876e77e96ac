# SPDX-License-Identifier: Apache-2.0
"""A device of IT-Wallet that shares no code with Tenon: keys, a TPM's statements and the TPM's part of an activation are
made with cryptography and cbor2, and JWS with jwcrypto. Its TPM is one in words only, so it is for tests."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import secrets
import time

import cbor2
from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from jwcrypto import jwk, jws

from judging import CA, EK_USAGE, key_usage

SOLUTION = {"platform": "linux", "wallet_solution_id": "judge", "wallet_solution_version": "1"}


def text64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sized(data):
    return len(data).to_bytes(2, "big") + data


def sha256(data):
    return hashlib.sha256(data).digest()


def numbers(key):
    point = key.public_key().public_numbers()
    return point.x.to_bytes(32, "big"), point.y.to_bytes(32, "big")


def sign(key, digest):
    """The signature as DER, and as a TPM writes it."""
    der = key.sign(digest, ec.ECDSA(utils.Prehashed(hashes.SHA256())))
    r, s = (part.to_bytes(32, "big") for part in utils.decode_dss_signature(der))
    return der, bytes.fromhex("0018000b") + sized(r) + sized(s)


def area(key, attributes, scheme):
    """TPMT_PUBLIC of a P-256 key (TPM 2.0 Part 2, 12.2.4)."""
    x, y = numbers(key)
    return bytes.fromhex("0023000b") + attributes.to_bytes(4, "big") + bytes.fromhex("00000010" + scheme + "00030010") + \
        sized(x) + sized(y)


def name_of(public):
    return b"\0\x0b" + sha256(public)


def attest(kind, nonce, body):
    """TPMS_ATTEST (Part 2, 10.12.12)."""
    signer = name_of(b"the parent's")
    return bytes.fromhex("ff544347") + kind + sized(signer) + sized(nonce) + bytes(16) + b"\1" + bytes(8) + body


class Maker(CA):
    """Who makes TPMs, with one EK."""

    def __init__(self):
        super().__init__()
        self.ek = rsa.generate_private_key(65537, 2048)
        self.ek_certificate = self.of_tpm(self.ek.public_key(), "id:49465800", EK_USAGE, key_usage("key_encipherment"))


def kdfa(key, label, context, size):
    """Part 1, 11.4.10.2, with SHA-256."""
    return hmac.digest(key, b"\0\0\0\1" + label + b"\0" + context + (8 * size).to_bytes(4, "big"), "sha256")[:size]


def activate(ek, name, credential, secret):
    """What TPM2_ActivateCredential does for an RSA EK (Part 1, 24)."""
    seed = ek.decrypt(secret[2:], padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), b"IDENTITY\0"))
    blob = credential[2:]
    mac, encrypted = blob[2:34], blob[34:]
    assert hmac.compare_digest(mac, hmac.digest(kdfa(seed, b"INTEGRITY", b"", 32), encrypted + name, "sha256"))
    cipher = Cipher(algorithms.AES(kdfa(seed, b"STORAGE", name, 16)), CFB(bytes(16))).decryptor()
    return (cipher.update(encrypted) + cipher.finalize())[2:]


class Provider:
    """The way to tenon-authority."""

    def __init__(self, port, app, token=None):
        self.port, self.base, self.token = port, f"/it-wallet/{app}", token
        self.app, self.audience = app, f"http://127.0.0.1:{port}/it-wallet/{app}"

    def ask(self, method, path, message=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        body = None if message is None else json.dumps(message)
        headers = {"Content-Type": "application/json"}
        if self.token is not None:
            headers["Authorization"] = "Bearer " + self.token
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None

    def nonce(self):
        return self.ask("GET", self.base + "/nonce")[1]["nonce"]

    def post(self, path, message):
        return self.ask("POST", f"{self.base}/{path}", message)

    def certify(self, maker, ak_area):
        """The AK's certificate and those above it, from the attestation CA."""
        ek = base64.b64encode(maker.ek_certificate.public_bytes(serialization.Encoding.DER)).decode()
        status, answer = self.ask("POST", f"/ca/{self.app}/attest", {
            "ekCerts": [ek], "params": {"public": base64.b64encode(ak_area).decode()}})
        if status != 200:
            raise SystemExit(f"attest: {status} {answer}")
        credential, secret = (base64.b64decode(answer[part]) for part in ("credential", "secret"))
        opened = activate(maker.ek, name_of(ak_area), credential, secret)
        status, answer = self.ask("POST", f"/ca/{self.app}/secret", {"secret": base64.b64encode(opened).decode()})
        if status != 200:
            raise SystemExit(f"secret: {status} {answer}")
        return [base64.b64decode(certificate) for certificate in answer["chain"]]


class Device:
    def __init__(self, provider, maker):
        self.provider = provider
        self.key, self.ak = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        self.tag = text64(secrets.token_bytes(32))
        self.chain = provider.certify(maker, area(self.ak, 0x00050472, "0018000b"))

    def statement(self, key, nonce):
        """The proof of a key (WebAuthn 8.3, without authenticator data)."""
        public = area(key, 0x00040472, "0010")
        certified = attest(b"\x80\x17", nonce, sized(name_of(public)) + sized(name_of(b"qualified")))
        _, signature = sign(self.ak, sha256(certified))
        return text64(cbor2.dumps({"fmt": "tpm", "attStmt": {
            "alg": -7, "sig": signature, "ver": "2.0", "x5c": self.chain, "pubArea": public, "certInfo": certified,
        }}, canonical=True))

    def quote(self, nonce):
        quoted = attest(b"\x80\x18", nonce, bytes.fromhex("00000001000b03ff0000") + sized(sha256(bytes(256))))
        _, signature = sign(self.ak, sha256(quoted))
        return text64(cbor2.dumps({"fmt": "tpm-quote", "attStmt": {
            "alg": -7, "sig": signature, "ver": "2.0", "quoted": quoted}}, canonical=True))

    def initialization(self, nonce):
        data = compact({"nonce": nonce, "hardware_key_tag": self.tag, "jwk_thumbprint": thumbprint(self.key)})
        return {"nonce": nonce, "hardware_key_tag": self.tag, "key_attestation": self.statement(self.key, sha256(data))}

    def assertion(self, kind):
        """The claims of a request, its header, and the key that signs it."""
        key, nonce, now = ec.generate_private_key(ec.SECP256R1()), self.provider.nonce(), int(time.time())
        thumb = thumbprint(key)
        data = {"nonce": nonce, "jwk_thumbprints": [thumb]} if kind == "ka-request+jwt" else {
            "nonce": nonce, "jwk_thumbprint": thumb}
        digest = sha256(compact(data))
        issuer = f"{self.provider.audience}/{thumb}" if kind == "wp-war+jwt" else self.tag
        claims = {
            "iss": issuer, "aud": self.provider.audience, "iat": now, "exp": now + 300, "nonce": nonce,
            "hardware_key_tag": self.tag, "hardware_signature": text64(sign(self.key, digest)[0]),
            "cnf": {"jwk": public_jwk(key)}}
        if kind != "ka-request+jwt":
            claims["integrity_assertion"] = self.quote(digest)
        if kind.endswith("-request+jwt"):
            claims |= SOLUTION
        if kind in ("wua-request+jwt", "ka-request+jwt"):
            element = {
                "cnf": {"jwk": public_jwk(key)}, "iat": now, "exp": now + 300, "wscd_key_attestation": {
                    "storage_type": "LOCAL_NATIVE", "attestation": self.statement(key, digest)}}
            claims["keys_to_attest"] = [token({"alg": "ES256", "kid": thumb, "typ": "key-attestation-request+jwt"},
                                              element, key)]
        return claims, {"alg": "ES256", "kid": thumb, "typ": kind}, key

    def request(self, kind, **changes):
        """A request with other claims in it, and the claims of before."""
        claims, header, key = self.assertion(kind)
        return token(header, claims | changes, key), claims


def compact(members):
    return json.dumps(members, separators=(",", ":")).encode()


def public_jwk(key):
    x, y = numbers(key)
    return {"kty": "EC", "crv": "P-256", "x": text64(x), "y": text64(y)}


def thumbprint(key):
    return jwk.JWK(**public_jwk(key)).thumbprint()


def token(header, claims, key):
    """A compact JWS that jwcrypto makes."""
    made = jws.JWS(compact(claims))
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    made.add_signature(jwk.JWK.from_pem(pem), None, json.dumps(header), None)
    return made.serialize(compact=True)


TOKEN = secrets.token_urlsafe(32)


def settings(folder, internal, maker):
    """The authority's, with the wallet's backend at a port of its own."""
    roots = os.path.join(folder, "roots.pem")
    with open(roots, "wb") as file:
        file.write(maker.root.public_bytes(serialization.Encoding.PEM))
    return {
        "internal": {"address": "127.0.0.1", "port": internal}, "limits": {"per_address_per_minute": 1_000_000},
        "backends": [{"name": "portal", "token_sha256": sha256(TOKEN.encode()).hex(), "apps": ["wallet"]}],
        "apps": [{"id": "wallet", "service": "it-wallet", "ek_roots": [{"path": roots}]}]}
