# SPDX-License-Identifier: Apache-2.0
"""Makes certificates/certificates.txt and cases.txt: chains of EK certificates, each flawed in one way or in none.

make_certificates.py FOLDER         writes both; the same bytes each time
make_certificates.py --pem FOLDER   writes NAME.pem of every certificate, for other programs to look at
make_certificates.py --swtpm STATE  prints what swtpm.txt holds, of a folder that Tests/Scripts/swtpm_state.sh made
"""

import base64
import hashlib
import pathlib
import sys
import textwrap

from curve import P256, P384, P521

# ---- Keys, with plain integers


def stream(label, n):
    """n bytes that are the label's."""
    out = b""
    while len(out) < n:
        out += hashlib.sha512(f"{label}/{len(out)}".encode()).digest()
    return out[:n]


SMALL = [p for p in range(3, 2000, 2) if all(p % q for q in range(3, int(p**0.5) + 1, 2))]


def is_prime(n):
    if any(n % p == 0 for p in SMALL):
        return n in SMALL
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19):
        x = pow(base, odd, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def prime(label, bits, fits=lambda p: True):
    """With the two highest bits set, so that a product of two has twice the bits."""
    p = int.from_bytes(stream(label, bits // 8), "big") | 3 << bits - 2 | 1
    while not (is_prime(p) and fits(p)):
        p += 2
    return p


class RSA:
    def __init__(self, label, bits, e=65537):
        p = prime(label + "/p", bits // 2, lambda p: (p - 1) % e)
        q = prime(label + "/q", bits // 2, lambda q: (q - 1) % e)
        self.n, self.e, self.d = p * q, e, pow(e, -1, (p - 1) * (q - 1))

    def spki(self):
        return rsa_spki(self.n, self.e)

    def sign(self, message, hash_name):
        n = (self.n.bit_length() + 7) // 8
        info = sequence(sequence(oid(HASHES[hash_name]), null()), octets(hashlib.new(hash_name, message).digest()))
        padded = b"\x00\x01" + b"\xff" * (n - 3 - len(info)) + b"\x00" + info
        return pow(int.from_bytes(padded, "big"), self.d, self.n).to_bytes(n, "big")

    def algorithm(self, hash_name):
        return sequence(oid(RSA_WITH[hash_name]), null())


CURVES = {"P-256": ("1.2.840.10045.3.1.7", P256), "P-384": ("1.3.132.0.34", P384), "P-521": ("1.3.132.0.35", P521)}


class EC:
    def __init__(self, label, curve):
        self.oid, self.curve = CURVES[curve]
        self.size, self.n = self.curve.size, self.curve.n
        self.d = int.from_bytes(stream(label, self.size + 8), "big") % (self.n - 1) + 1
        self.point = self.curve.multiply(self.d, self.curve.g)

    def encoded(self):
        return b"\x04" + self.curve.encoded(self.point)

    def spki(self, parameters=None, point=None):
        return sequence(sequence(oid("1.2.840.10045.2.1"), parameters or oid(self.oid)), bits(point or self.encoded()))

    def sign(self, message, hash_name):
        digest = hashlib.new(hash_name, message).digest()
        e = int.from_bytes(digest, "big") >> max(0, 8 * len(digest) - self.n.bit_length())
        k = int.from_bytes(stream(f"{self.d}/{digest.hex()}", self.size + 8), "big") % (self.n - 1) + 1
        r = self.curve.multiply(k, self.curve.g)[0] % self.n
        return sequence(integer(r), integer(pow(k, -1, self.n) * (e + r * self.d) % self.n))

    def algorithm(self, hash_name):
        return sequence(oid(ECDSA_WITH[hash_name]))


# ---- DER

HASHES = {"sha1": "1.3.14.3.2.26", "sha256": "2.16.840.1.101.3.4.2.1", "sha384": "2.16.840.1.101.3.4.2.2",
          "sha512": "2.16.840.1.101.3.4.2.3", "md5": "1.2.840.113549.2.5"}
RSA_WITH = {name: "1.2.840.113549.1.1." + str(last)
            for name, last in (("md5", 4), ("sha1", 5), ("sha256", 11), ("sha384", 12), ("sha512", 13))}
ECDSA_WITH = {"sha1": "1.2.840.10045.4.1"} | {
    name: "1.2.840.10045.4.3." + str(last) for name, last in (("sha256", 2), ("sha384", 3), ("sha512", 4))}


def tlv(tag, *parts):
    content = b"".join(parts)
    n = len(content)
    length = bytes([n]) if n < 128 else bytes([0x81, n]) if n < 256 else b"\x82" + n.to_bytes(2, "big")
    return bytes([tag]) + length + content


def sequence(*parts):
    return tlv(0x30, *parts)


def null():
    return b"\x05\x00"


def octets(content):
    return tlv(4, content)


def bits(content, unused=0):
    return tlv(3, bytes([unused]), content)


def integer(number):
    return tlv(2, number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True))


def oid(text):
    first, second, *rest = map(int, text.split("."))
    out = b""
    for number in (40 * first + second, *rest):
        part = bytes([number & 0x7F])
        while number := number >> 7:
            part = bytes([0x80 | number & 0x7F]) + part
        out += part
    return tlv(6, out)


def utc(text):
    return tlv(0x17, text.encode())


def general(text):
    return tlv(0x18, text.encode())


def attribute(name, value, tag=0x0C):
    return sequence(oid(name), tlv(tag, value if isinstance(value, bytes) else value.encode()))


def name(*values):
    return sequence(*(tlv(0x31, attribute("2.5.4.3", value)) for value in values))


def rsa_spki(n, e, algorithm=None):
    return sequence(algorithm or sequence(oid("1.2.840.113549.1.1.1"), null()), bits(sequence(integer(n), integer(e))))


def extension(number, value, critical=False, default=b""):
    which = oid(number if "." in number else "2.5.29." + number)
    return sequence(which, tlv(1, b"\xff") if critical else default, octets(value))


def basic(ca=False, path=None, critical=True):
    return extension("19", sequence(tlv(1, b"\xff") if ca else b"", b"" if path is None else integer(path)), critical)


def usage(*numbers):
    value = sum(1 << 15 - i for i in numbers).to_bytes(2, "big").rstrip(b"\x00")
    unused = (value[-1] & -value[-1]).bit_length() - 1
    return extension("15", bits(value, unused), True)


def extended(*oids):
    return extension("37", sequence(*map(oid, oids)))


def key_id(key):
    return hashlib.sha1(key.spki()).digest()


def own_id(key):
    return extension("14", octets(key_id(key)))


def issuer_id(key):
    return extension("35", sequence(tlv(0x80, key_id(key))))


EK_USAGE, AK_USAGE = "2.23.133.8.1", "2.23.133.8.3"
MAKER, MODEL, VERSION = "2.23.133.2.1", "2.23.133.2.2", "2.23.133.2.3"


def directory(*sets):
    return tlv(0xA4, sequence(*(tlv(0x31, *attributes) for attributes in sets)))


def tpm_name(maker="id:54454E4F", model="Tenon", version="id:00010002", critical=True, tag=0x0C):
    """In one set, as makers write it."""
    return extension("17", sequence(directory([attribute(MAKER, maker, tag), attribute(MODEL, model, tag),
                                               attribute(VERSION, version, tag)])), critical)


# ---- Certificates

FROM, TO = utc("200101000000Z"), general("99991231235959Z")


def certificate(subject, key, issuer, signer, extensions, hash_name="sha256", version=2, serial=integer(77),
                dates=FROM + TO, inner=None, outer=None, spki=None, signature=None, more=b"", after=b"", field=0xA3):
    inner = inner or signer.algorithm(hash_name)
    part = sequence(tlv(0xA0, integer(version)) if version else b"", serial, inner, issuer, sequence(dates), subject,
                    spki or key.spki(), more, tlv(field, sequence(*extensions)) if extensions is not None else b"")
    signature = signature or bits(signer.sign(part, hash_name))
    return sequence(part, outer or inner, signature) + after


class Certificates(dict):
    def __setitem__(self, label, der):
        assert self.get(label, der) == der, label
        super().__setitem__(label, der)


made = Certificates()
cases = []


def case(title, chain, roots="root", result="OK", now=1800000000, flags=""):
    cases.append((title, chain, roots, result, now, flags))


def authority(label, key, issuer=None, hash_name="sha256", path=None, ids=True, subject=None, extensions=None, **changes):
    """issuer: (label, key) of another; None is self-signed."""
    above, signer = issuer or (label, key)
    made[label] = certificate(subject or name(label), key, changes.pop("issuer_name", name(above)), signer,
                              extensions or [basic(True, path), usage(5, 6)] + ([own_id(key), issuer_id(signer)] if ids else []),
                              hash_name, **changes)
    return label, key


def ek(label, key, issuer, kind=None, extensions=None, subject=None, **changes):
    above, signer = issuer
    made[label] = certificate(subject or sequence(), key, changes.pop("issuer_name", name(above)), signer,
                              extensions if extensions is not None else ek_extensions(kind or (2 if isinstance(key, RSA) else 4)),
                              **changes)
    return label


def ek_extensions(kind=4, san=None, eku=None, ca=None, ku=None):
    return [part for part in (ca or basic(), usage(kind) if ku is None else ku,
                              extended(EK_USAGE) if eku is None else eku, tpm_name() if san is None else san) if part]


def good_chains():
    rsa4096, rsa3072, rsa2048 = RSA("rsa4096", 4096), RSA("rsa3072", 3072), RSA("rsa2048", 2048)
    ek_rsa, ek256, ek384 = RSA("ek rsa", 2048), EC("ek 256", "P-256"), EC("ek 384", "P-384")
    p256, p384, p521 = EC("p256", "P-256"), EC("p384", "P-384"), EC("p521", "P-521")
    root = authority("root", p256)
    r4096 = authority("root-rsa4096", rsa4096, hash_name="sha512")
    r3072 = authority("ca-rsa3072", rsa3072, r4096, "sha384")
    r2048 = authority("ca-rsa2048", rsa2048, r3072, "sha512", path=0)
    e521 = authority("root-p521", p521, hash_name="sha512")
    e384 = authority("ca-p384", p384, e521, "sha512", path=1)
    e256 = authority("ca-p256", EC("ca 256", "P-256"), e384, "sha384", path=0)
    m2048 = authority("ca-mixed", RSA("mixed", 2048, 3), root, "sha384", path=0)
    ek("ek-rsa", ek_rsa, r3072, hash_name="sha256")
    ek("ek-rsa-deep", ek_rsa, r2048, hash_name="sha384")
    ek("ek-p256", ek256, e384, hash_name="sha384")
    ek("ek-p256-deep", ek256, e256, hash_name="sha512")
    ek("ek-p384", ek384, m2048, hash_name="sha512")
    ek("ek", ek256, root)
    case("RSA-2048 below RSA-3072 below RSA-4096", "ek-rsa ca-rsa3072", "root-rsa4096")
    case("RSA, the root in the chain", "ek-rsa ca-rsa3072 root-rsa4096", "root-rsa4096")
    case("four of RSA with the root", "ek-rsa-deep ca-rsa2048 ca-rsa3072 root-rsa4096", "root-rsa4096")
    case("P-256 below P-384 below P-521", "ek-p256 ca-p384", "root-p521")
    case("P-521, the root in the chain", "ek-p256 ca-p384 root-p521", "root-p521")
    case("four curves with the root", "ek-p256-deep ca-p256 ca-p384 root-p521", "root-p521")
    case("P-384 below RSA with exponent 3 below P-256", "ek-p384 ca-mixed", "root")
    case("below the root", "ek", "root")
    case("below one of many roots", "ek", "root-p521 root-rsa4096 root")
    case("an intermediate that is trusted", "ek-rsa", "ca-rsa3072")
    above = e521
    for i in (1, 2, 3):
        above = authority(f"ca-worst{i}", EC(f"worst {i}", "P-521"), above, "sha512")
    ek("ek-worst", ek384, above, hash_name="sha512")
    case("four signatures of P-521", "ek-worst ca-worst3 ca-worst2 ca-worst1", "root-p521")
    case("no roots", "ek", "", "33")
    case("another root", "ek", "root-p521", "33")
    case("the intermediate is missing", "ek-rsa", "root-rsa4096", "33")
    case("nothing", "", "root", "22")
    case("wrong order", "ek-rsa root-rsa4096 ca-rsa3072", "root-rsa4096", "22")
    case("upside down", "ca-rsa3072 ek-rsa", "root-rsa4096", "22")
    case("one twice", "ek ek", "root", "22")
    case("the root twice", "ek root root", "root", "22")
    case("an unrelated one behind", "ek root-p521", "root root-p521", "22")
    case("five", "ek-rsa-deep ca-rsa2048 ca-rsa3072 root-rsa4096 root-rsa4096", "root-rsa4096", "22")
    case("the leaf is all that is trusted", "ek", "ek", "33")
    case("a root alone", "root", "root", "34")
    return root, ek256, ek_rsa


def dates(root, key):
    def between(label, first, last):
        return ek("ek-" + label, key, root, dates=first + last)

    for title, now, result in (("at its first second", 1577836800, "OK"), ("a second before", 1577836799, "33"),
                               ("at its last second", 2524607999, "OK"), ("a second after", 2524608000, "33")):
        between("dated", FROM, utc("491231235959Z"))
        case(title, "ek-dated", now=now, result=result)
    between("1950", utc("500101000000Z"), general("20500101000000Z"))
    case("UTCTime 50 is 1950", "ek-1950", "root", "OK", 2524608000)
    between("early", general("20200101000000Z"), general("20300101000000Z"))
    case("GeneralizedTime before 2050", "ek-early")
    between("leap", utc("200229000000Z"), general("24000229235959Z"))
    case("leap days", "ek-leap")
    for title, last in (
            ("30 February", utc("280230000000Z")), ("29 February of 2027", utc("270229000000Z")),
            ("29 February of 2100", general("21000229000000Z")), ("month 0", utc("300001000000Z")),
            ("month 13", utc("301301000000Z")), ("day 0", utc("300100000000Z")), ("31 April", utc("300431000000Z")),
            ("hour 24", utc("300101240000Z")), ("minute 60", utc("300101006000Z")), ("second 60", utc("300101000060Z")),
            ("no seconds", utc("3001010000Z")), ("an offset", utc("300101000000+0000")), ("no zone", utc("300101000000")),
            ("lower case", utc("300101000000z")), ("a fraction", general("20300101000000.5Z")),
            ("a letter", utc("30010100000AZ")), ("four digits in UTCTime", utc("20300101000000Z")),
            ("two in GeneralizedTime", general("300101000000Z")), ("1949", general("19490101000000Z")),
            ("a text", tlv(0x13, b"300101000000Z")), ("three dates", utc("300101000000Z") + TO)):
        label = "date: " + title
        between(label.replace(" ", "-"), FROM, last)
        case(label, "ek-" + label.replace(" ", "-"), result="22")
    authority("root-expired", EC("p256", "P-256"), dates=FROM + utc("210101000000Z"), subject=name("root"),
              issuer_name=name("root"))
    case("the root has expired", "ek", "root-expired", "33")
    case("of two certificates of the root one has expired", "ek", "root-expired root", "OK")
    old = authority("ca-expired", EC("expired", "P-256"), root, dates=FROM + utc("210101000000Z"))
    case("an authority has expired", ek("ek-below-expired", key, old) + " ca-expired", result="33")


def authorities(root, key):
    for label, title, result, extensions in (
            ("not-ca", "no authority in the middle", "33", [basic(), usage(5)]),
            ("no-constraints", "no basic constraints in the middle", "33", [usage(5)]),
            ("no-extensions", "no extensions in the middle", "33", None),
            ("no-sign", "an authority that may not sign certificates", "33", [basic(True), usage(6)]),
            ("no-usage", "an authority without key usage", "OK", [basic(True)]),
            ("not-critical", "basic constraints that are not critical", "OK", [basic(True, critical=False), usage(5)]),
            ("policies", "critical policies", "OK", [basic(True), usage(5), extension("32", sequence(sequence(oid("2.5.29.32.0"))), True)]),
            ("names", "critical name constraints", "23", [basic(True), usage(5), extension("30", sequence(tlv(0xA0, sequence(directory()))), True)]),
            ("policy-constraints", "critical policy constraints", "23", [basic(True), usage(5), extension("36", sequence(tlv(0x80, b"\x00")), True)]),
            ("any-policy", "critical inhibitAnyPolicy", "23", [basic(True), usage(5), extension("54", integer(0), True)]),
            ("distribution", "critical distribution points", "23", [basic(True), usage(5), extension("31", sequence(), True)]),
            ("soft-names", "name constraints that are not critical", "23", [basic(True), usage(5), extension("30", sequence(tlv(0xA0, sequence(directory()))))]),
            ("for-eks", "an authority for EKs", "OK", [basic(True), usage(5), extended(EK_USAGE)]),
            ("for-any", "an authority for any usage", "OK", [basic(True), usage(5), extended("1.3.6.1.5.5.7.3.1", "2.5.29.37.0")]),
            ("for-aks", "an authority for AKs", "33", [basic(True), usage(5), extended(AK_USAGE)]),
            ("for-servers", "an authority for servers", "33", [basic(True), usage(5), extended("1.3.6.1.5.5.7.3.1")])):
        ca = EC("ca " + label, "P-256")
        made["ca-" + label] = certificate(name(label), ca, name("root"), root[1], extensions)
        ek("ek-" + label, key, (label, ca))
        case(title, f"ek-{label} ca-{label}", result=result)
    asks = authority("root-asks", EC("root asks", "P-256"), extensions=[basic(True), usage(5), extension("1.2.3", b"", True)])
    case("a root with a critical extension that is not known", ek("ek-root-asks", key, asks), "root-asks", "33")
    case("the same, the root in the chain", "ek-root-asks root-asks", "root-asks", "23")
    servers = authority("root-servers", EC("root servers", "P-256"), extensions=[basic(True), usage(5), extended("1.3.6.1.5.5.7.3.1")])
    case("a root for servers", ek("ek-root-servers", key, servers), "root-servers")
    case("a root for servers in the chain", "ek-root-servers root-servers", "root-servers")
    flat = authority("root-flat", EC("flat", "P-256"), path=0)
    case("path length 0 and none between", ek("ek-flat", key, flat), "root-flat")
    below = authority("ca-flat", EC("below flat", "P-256"), flat)
    case("path length 0 and one between", ek("ek-below-flat", key, below) + " ca-flat", "root-flat", "33")
    case("the same, the root in the chain", "ek-below-flat ca-flat root-flat", "root-flat", "33")
    one = authority("ca-one", EC("one", "P-256"), root, path=0)
    two = authority("ca-two", EC("two", "P-256"), one, path=5)
    case("the path length of one in the middle", ek("ek-two", key, two) + " ca-two ca-one", "root", "33")
    other = authority("root-other", EC("other", "P-256"), ids=False, subject=name("root"), issuer_name=name("root"))
    case("another root of the same name", "ek", "root-other", "33")
    case("both roots of one name", "ek", "root-other root")
    authority("root-other-id", other[1], subject=name("root"), issuer_name=name("root"))
    ek("ek-with-id", key, root, extensions=ek_extensions() + [issuer_id(root[1])])
    case("roots of one name, told apart by key id", "ek-with-id", "root-other-id root")
    case("the key id is another's", "ek-with-id", "root-other-id", "33")
    between = authority("ca-with-id", EC("between", "P-256"), root)
    ek("ek-below-id", key, between, extensions=ek_extensions() + [issuer_id(between[1])])
    case("key ids all the way", "ek-below-id ca-with-id", "root")
    case("key ids all the way, the root in the chain", "ek-below-id ca-with-id root", "root")
    ek("ek-id-of-another", key, between, extensions=ek_extensions() + [issuer_id(other[1])])
    case("the key id of another authority in the middle", "ek-id-of-another ca-with-id", "root", "22")
    made["ca-id-of-another"] = certificate(name("ca-with-id"), between[1], name("root"), root[1],
                                           [basic(True), usage(5), own_id(between[1]), issuer_id(other[1])])
    case("the key id of another root", "ek-below-id ca-id-of-another", "root", "33")
    case("the key id of another root, the root in the chain", "ek-below-id ca-id-of-another root", "root", "22")
    same = authority("ca-same", EC("same", "P-256"), root, subject=name("twin"))
    made["ca-twin"] = certificate(name("twin"), EC("twin", "P-256"), name("twin"), same[1], [basic(True), usage(5)])
    ek("ek-twin", key, ("twin", EC("twin", "P-256")))
    case("two authorities of one name", "ek-twin ca-twin ca-same", result="22")
    made["root-broken"] = made["root"] + b"\x00"
    case("a root that cannot be read", "ek", "root-broken", "33")
    case("a root that cannot be read before the right one", "ek", "root-broken root")
    oaep = RSA("oaep ca", 2048)
    made["ca-oaep"] = certificate(name("ca-oaep"), oaep, name("root"), root[1], [basic(True), usage(5)],
                                  spki=rsa_spki(oaep.n, 65537, sequence(oid("1.2.840.113549.1.1.7"), sequence())))
    case("signed by a key for encryption", ek("ek-below-oaep", key, ("ca-oaep", oaep)) + " ca-oaep", result="33")
    off = EC("off", "P-256")
    made["ca-off"] = certificate(name("ca-off"), off, name("root"), root[1], [basic(True), usage(5)],
                                 spki=off.spki(point=off.encoded()[:-1] + bytes([off.encoded()[-1] ^ 1])))
    case("an authority's point off its curve", ek("ek-below-off", key, ("ca-off", off)) + " ca-off", result="33")


def signatures(root, key, rsa):
    r4096 = ("ca-mixed", RSA("mixed", 2048, 3))
    other = EC("another", "P-256")
    case("signed by another key of the name", ek("ek-forged", key, ("root", other)), result="33")
    case("an RSA signature below a P-256 root", ek("ek-by-rsa", key, ("root", rsa)), result="33")
    case("an ECDSA signature below RSA", ek("ek-by-ec", key, ("ca-mixed", other)) + " ca-mixed", result="33")
    good = bytes.fromhex("00") + r4096[1].sign(b"", "sha256")
    ek("ek-sig-long", key, r4096, signature=bits(good))
    case("an RSA signature with a zero before it", "ek-sig-long ca-mixed", result="33")
    ek("ek-sig-n", key, r4096, signature=bits(r4096[1].n.to_bytes(256, "big")))
    case("an RSA signature that is the modulus", "ek-sig-n ca-mixed", result="33")
    ek("ek-sig-1", key, r4096, signature=bits((1).to_bytes(256, "big")))
    case("an RSA signature 1", "ek-sig-1 ca-mixed", result="33")
    n = root[1].n
    for label, title, r, s, result in (("zero", "r and s are 0", 0, 0, "33"), ("s-zero", "s is 0", 1, 0, "33"),
                                       ("order", "r and s are n", n, n, "33"), ("ones", "r and s are 1", 1, 1, "33"),
                                       ("wide", "r has 66 bytes", 1 << 520, 1, "33"),
                                       ("wider", "r has 67 bytes", 1 << 528, 1, "22"),
                                       ("minus", "r is negative", -1, 1, "22")):
        case(title, ek("ek-sig-" + label, key, root, signature=bits(sequence(integer(r), integer(s)))), result=result)
    for label, title, signature in (
            ("unused", "unused bits in the signature", bits(sequence(integer(2), integer(1)), 1)),
            ("raw", "r || s", bits(bytes(64))), ("empty", "no signature", bits(b"")), ("none", "no bits", tlv(3)),
            ("trailing", "bytes in the signature behind s", bits(sequence(integer(1), integer(1), integer(1)))),
            ("behind", "bytes behind the signature's sequence", bits(sequence(integer(1), integer(1)) + b"\x00")),
            ("octets", "the signature is an OCTET STRING", octets(sequence(integer(1), integer(1))))):
        case(title, ek("ek-sig-" + label, key, root, signature=signature), result="22")
    case("ECDSA with SHA-1", ek("ek-sha1", key, root, hash_name="sha1"), result="22")
    for hash_name in ("sha1", "md5"):
        ek("ek-rsa-" + hash_name, key, r4096, hash_name=hash_name)
        case("RSA with " + hash_name, f"ek-rsa-{hash_name} ca-mixed", result="22")
    ek("ek-pss", key, r4096, inner=sequence(oid("1.2.840.113549.1.1.10"), sequence()))
    case("RSASSA-PSS", "ek-pss ca-mixed", result="22")
    ek("ek-no-null", key, r4096, inner=sequence(oid(RSA_WITH["sha256"])))
    case("RSA's algorithm without NULL", "ek-no-null ca-mixed")
    ek("ek-null", key, root, inner=sequence(oid(ECDSA_WITH["sha256"]), null()))
    case("ECDSA's algorithm with NULL", "ek-null", result="22")
    ek("ek-two-algorithms", key, root, outer=sequence(oid(ECDSA_WITH["sha384"])))
    case("another algorithm inside", "ek-two-algorithms", result="22")


def keys(root, key, rsa):
    p521, p384, large = EC("ek 521", "P-521"), EC("ek 384", "P-384"), RSA("ek 3072", 3072)
    n, curve = rsa.n, key.oid
    case("an EK on P-521", ek("ek-p521", p521, root), result="36")
    case("an EK of RSA-3072", ek("ek-rsa3072", large, root), result="36")
    case("an EK of RSA-2048 below P-256", ek("ek-direct-rsa", rsa, root))
    case("an EK with exponent 3", ek("ek-e3", rsa, root, spki=rsa_spki(n, 3)), result="36")
    ek("ek-oaep", rsa, root, spki=rsa_spki(n, 65537, sequence(oid("1.2.840.113549.1.1.7"), sequence())))
    case("an EK that is said to be for OAEP", "ek-oaep", result="35")
    ek("ek-oaep3072", large, root, spki=rsa_spki(large.n, 65537, sequence(oid("1.2.840.113549.1.1.7"), sequence())))
    case("an EK of RSA-3072 that is said to be for OAEP", "ek-oaep3072", result="35")
    case("an EK with the pattern of ROCA", ek("ek-roca", rsa, root, spki=rsa_spki(roca(), 65537)), result="36")
    for label, from_key in (("p256", key), ("p384", p384)):
        point = from_key.encoded()
        ek("ek-off-" + label, from_key, root, spki=from_key.spki(point=point[:-1] + bytes([point[-1] ^ 1])))
        case("an EK off its curve " + label, "ek-off-" + label, result="36")
        ek("ek-p-" + label, from_key, root, spki=from_key.spki(point=b"\x04" + (from_key.curve.p + 5).to_bytes(from_key.size, "big") + point[1 + from_key.size:]))
        case("an EK's x above p of " + label, "ek-p-" + label, result="36")
    parameters = sequence(integer(1), sequence(oid("1.2.840.10045.1.1"), integer(P256.p)),
                          sequence(octets((P256.p - 3).to_bytes(32, "big")), octets(P256.b.to_bytes(32, "big"))),
                          octets(b"\x04" + P256.encoded(P256.g)), integer(P256.n), integer(1))
    point = key.encoded()
    for label, title, spki in (
            ("explicit", "explicit parameters of the curve", key.spki(parameters)),
            ("k1", "secp256k1", key.spki(oid("1.3.132.0.10"))),
            ("no-curve", "no curve", sequence(sequence(oid("1.2.840.10045.2.1")), bits(point))),
            ("null-curve", "a curve that is NULL", key.spki(null())),
            ("two-curves", "two curves", key.spki(oid(curve) + oid(curve))),
            ("compressed", "a compressed point", key.spki(point=bytes([2 + (point[-1] & 1)]) + point[1:33])),
            ("hybrid", "a hybrid point", key.spki(point=bytes([6 + (point[-1] & 1)]) + point[1:])),
            ("infinity", "the point at infinity", key.spki(point=b"\x00")),
            ("short", "a point that is too short", key.spki(point=point[:-1])),
            ("long", "a point that is too long", key.spki(point=point + b"\x00")),
            ("ed25519", "Ed25519", sequence(sequence(oid("1.3.101.112")), bits(bytes(32)))),
            ("rsa1024", "RSA-1024", rsa_spki((1 << 1023) + 1, 65537)),
            ("rsa2047", "RSA-2047", rsa_spki((1 << 2046) + 1, 65537)),
            ("rsa4097", "RSA-4097", rsa_spki((1 << 4096) + 1, 65537)),
            ("rsa8192", "RSA-8192", rsa_spki((1 << 8191) + 1, 65537)),
            ("even-modulus", "an even modulus", rsa_spki(n + 1, 65537)),
            ("negative-modulus", "a negative modulus", sequence(sequence(oid("1.2.840.113549.1.1.1"), null()), bits(sequence(tlv(2, n.to_bytes(256, "big")), integer(65537))))),
            ("padded-modulus", "two zeros before the modulus", sequence(sequence(oid("1.2.840.113549.1.1.1"), null()), bits(sequence(tlv(2, bytes(2) + n.to_bytes(256, "big")), integer(65537))))),
            ("padded-2041", "a zero before a first bit that is clear", sequence(sequence(oid("1.2.840.113549.1.1.1"), null()), bits(sequence(tlv(2, bytes(1) + ((1 << 2054) + 1).to_bytes(257, "big")), integer(65537))))),
            ("e1", "exponent 1", rsa_spki(n, 1)), ("e0", "exponent 0", rsa_spki(n, 0)), ("e2", "exponent 2", rsa_spki(n, 2)),
            ("e-even", "an even exponent", rsa_spki(n, 65536)), ("e33", "an exponent of 33 bits", rsa_spki(n, (1 << 32) + 1)),
            ("e-negative", "a negative exponent", rsa_spki(n, -3)),
            ("rsa-no-null", "an RSA key without NULL", rsa_spki(n, 65537, sequence(oid("1.2.840.113549.1.1.1")))),
            ("rsa-trailing", "bytes behind the exponent", sequence(sequence(oid("1.2.840.113549.1.1.1"), null()), bits(sequence(integer(n), integer(65537), null())))),
            ("rsa-behind", "bytes behind the RSA key", sequence(sequence(oid("1.2.840.113549.1.1.1"), null()), bits(sequence(integer(n), integer(65537)) + null()))),
            ("pss-key", "a key for RSASSA-PSS", rsa_spki(n, 65537, sequence(oid("1.2.840.113549.1.1.10")))),
            ("spki-trailing", "bytes behind the point", sequence(sequence(oid("1.2.840.10045.2.1"), oid(curve)), bits(point), null())),
            ("spki-unused", "unused bits in the key", sequence(sequence(oid("1.2.840.10045.2.1"), oid(curve)), bits(point[:-1] + b"\x00", 1)))):
        case("key: " + title, ek("ek-" + label, key, root, spki=spki), result="22")
    ek("ek-e32", rsa, root, spki=rsa_spki(n, (1 << 32) - 1))
    case("key: an exponent of 32 bits is of a form that is taken", "ek-e32", result="36")


def roca():
    """A modulus as CVE-2017-15361 makes them: k M + (65537^a mod M), M the product of the first 126 primes."""
    product = 2
    for p in SMALL[:125]:
        product *= p
    factors = []
    for label in ("roca p", "roca q"):
        a = int.from_bytes(stream(label, 8), "big")
        p = pow(65537, a, product)
        k = (3 << 1022) // product + int.from_bytes(stream(label + " k", 5), "big") % 1000000
        while not is_prime(k * product + p):
            k += 1
        factors.append(k * product + p)
    return factors[0] * factors[1]


def forms(root, key):
    good = made["ek"]
    body = good[4:]
    unknown = "1.3.6.1.4.1.55555.1"

    def flawed(title, der=None, **changes):
        label = "ek-form-" + "".join(c if c.isalnum() else "-" for c in title)
        if der is None:
            ek(label, key, root, **changes)
        else:
            made[label] = der
        case(title, label, result=changes.get("result", "22"))

    def with_extensions(title, *more, result="22", **parts):
        label = "ek-ext-" + "".join(c if c.isalnum() else "-" for c in title)
        ek(label, key, root, extensions=ek_extensions(**parts) + list(more))
        case("extension: " + title, label, result=result)

    flawed("a byte behind the end", good + b"\x00")
    flawed("a length that is too long", bytes([0x30, 0x83, 0]) + good[2:4] + body)
    flawed("an indefinite length", b"\x30\x80" + body + b"\x00\x00")
    flawed("a SET", b"\x31" + good[1:])
    flawed("nothing but a header", b"\x30\x00")
    flawed("v1", version=0, extensions=None)
    flawed("v1 with extensions", version=0)
    flawed("v2", version=1)
    flawed("v4", version=3)
    flawed("v1, written out", version=0, more=b"", inner=tlv(0xA0, integer(0)))
    flawed("a serial of 22 bytes", serial=tlv(2, b"\x01" * 22))
    flawed("a serial of 21 bytes that is too large", serial=tlv(2, b"\x01" * 21))
    flawed("a negative serial of 21 bytes", serial=tlv(2, b"\xfe" * 21))
    flawed("a serial of no bytes", serial=tlv(2))
    flawed("a serial with zeros before it", serial=tlv(2, b"\x00\x01"))
    flawed("a serial with ones before it", serial=tlv(2, b"\xff\x81"))
    flawed("an empty issuer", issuer_name=sequence())
    flawed("an issuer with an empty set", issuer_name=sequence(tlv(0x31)))
    flawed("an issuer with half an attribute", issuer_name=sequence(tlv(0x31, sequence(oid("2.5.4.3")))))
    flawed("an issuer with an attribute and more", issuer_name=sequence(tlv(0x31, sequence(oid("2.5.4.3"), tlv(12, b"root"), null()))))
    flawed("an issuer with an empty OID", issuer_name=sequence(tlv(0x31, sequence(tlv(6), tlv(12, b"root")))))
    flawed("an issuer with an OID that begins with 80", issuer_name=sequence(tlv(0x31, sequence(tlv(6, b"\x55\x80\x03"), tlv(12, b"root")))))
    flawed("an issuer with an OID that does not end", issuer_name=sequence(tlv(0x31, sequence(tlv(6, b"\x55\x84"), tlv(12, b"root")))))
    flawed("an issuer with a long tag", issuer_name=sequence(tlv(0x31, sequence(oid("2.5.4.3"), b"\x1f\x81\x01\x00"))))
    for title, tag, text in (("an INTEGER", 2, b"\x01"), ("a BIT STRING", 3, b"\x00root"), ("an OCTET STRING", 4, b"root"),
                             ("a SEQUENCE", 0x30, b""), ("a UTF8String that is not UTF-8", 0x0C, b"\xc3\x28"),
                             ("a UTF8String with an overlong form", 0x0C, b"\xc0\x80"),
                             ("a UTF8String with a surrogate", 0x0C, b"\xed\xa0\x80"),
                             ("a BMPString of three bytes", 0x1E, b"\x00r\x00"),
                             ("a UniversalString of three bytes", 0x1C, b"\x00\x00r")):
        flawed("an issuer whose name is " + title, issuer_name=sequence(tlv(0x31, attribute("2.5.4.3", text, tag))))
    for title, tag, text in (("UTF8String", 0x0C, "r\u00f6\u20ac\U0001f512".encode()), ("NumericString", 0x12, b"1"), ("PrintableString", 0x13, b"root"),
                             ("TeletexString", 0x14, b"root"), ("IA5String", 0x16, b"root"),
                             ("UniversalString", 0x1C, b"\x00\x00\x00r"), ("BMPString", 0x1E, b"\x00r")):
        label = "root-" + title
        named = authority(label, EC(label, "P-256"), subject=sequence(tlv(0x31, attribute("2.5.4.3", text, tag))),
                          issuer_name=sequence(tlv(0x31, attribute("2.5.4.3", text, tag))))
        ek("ek-" + title, key, named, issuer_name=sequence(tlv(0x31, attribute("2.5.4.3", text, tag))))
        case("an issuer whose name is a " + title, "ek-" + title, label)
    flawed("an issuer that is a text", issuer_name=tlv(12, b"root"))
    flawed("unique identifiers", more=tlv(0x82, b"\x00\x01"))
    flawed("extensions in another field", field=0xA4)
    flawed("no extensions in their field", extensions=[])
    flawed("a field behind the extensions", more=tlv(0xA3, sequence(extension(unknown, b""))))
    flawed("bytes behind the signature", sequence(body, null()))
    case("a negative serial", ek("ek-negative", key, root, serial=tlv(2, b"\x80")))
    case("a serial of 0", ek("ek-serial-0", key, root, serial=integer(0)))
    case("a serial of 20 bytes", ek("ek-serial-20", key, root, serial=integer(1 << 159)))
    with_extensions("an unknown one", extension(unknown, b"\x00"), result="OK")
    with_extensions("an unknown one that is critical", extension(unknown, b"\x00", True), result="23")
    with_extensions("an unknown one that is critical, before one that is broken", extension(unknown, b"\x00", True), extension("14", b"abc"))
    with_extensions("name constraints", extension("30", b""), result="23")
    with_extensions("an unknown one twice", extension(unknown, b"\x00"), extension(unknown, b"\x01"))
    with_extensions("a known one twice", usage(4))
    with_extensions("all that makers write", issuer_id(root[1]), own_id(key), extension("31", sequence(sequence(tlv(0xA0, tlv(0xA0, tlv(0x86, b"http://tpm.example/crl")))))),
                    extension("1.3.6.1.5.5.7.1.1", sequence(sequence(oid("1.3.6.1.5.5.7.48.2"), tlv(0x86, b"http://tpm.example/ca")))),
                    extension("32", sequence(sequence(oid("2.16.840.1.113741.1.5.2.1")))),
                    extension("9", sequence(sequence(oid("2.23.133.2.16"), tlv(0x31, sequence(tlv(12, b"2.0"), integer(0), integer(159)))))), result="OK")
    with_extensions("critical directory attributes", extension("9", sequence(), True), result="23")
    with_extensions("defaults written out", extension(unknown, b"", default=tlv(1, b"\x00")), ca=extension("19", sequence(tlv(1, b"\x00")), True), result="OK")
    with_extensions("TRUE is 01", extension(unknown, b"", default=tlv(1, b"\x01")))
    with_extensions("TRUE of two bytes", extension(unknown, b"", default=tlv(1, b"\xff\xff")))
    with_extensions("a path length of none", ca=extension("19", sequence(integer(0)), True))
    with_extensions("a negative path length", ca=extension("19", sequence(tlv(1, b"\xff"), integer(-1)), True))
    with_extensions("a path length of 33 bits", ca=extension("19", sequence(tlv(1, b"\xff"), integer(1 << 32)), True))
    with_extensions("bytes behind the path length", ca=extension("19", sequence(tlv(1, b"\xff"), integer(0), null()), True))
    with_extensions("bytes behind the basic constraints", ca=extension("19", sequence() + b"\x00", True))
    with_extensions("key usage of whole bytes", ku=extension("15", bits(b"\x08\x00"), True), result="OK")
    with_extensions("key usage of 9 bits", ku=extension("15", bits(b"\x08\x80", 7), True), result="OK")
    with_extensions("key usage of no byte", ku=extension("15", bits(b""), True))
    with_extensions("key usage of three bytes", ku=extension("15", bits(b"\x08\x00\x00"), True))
    with_extensions("key usage with unused bits", ku=extension("15", bits(b"\x09", 3), True))
    with_extensions("key usage with 8 unused bits", ku=extension("15", bits(b"\x00", 8), True))
    with_extensions("key usage with 8 unused bits behind a byte", ku=extension("15", bits(b"\x08\x00", 8), True))
    with_extensions("key usage for nothing", ku=extension("15", bits(b"\x00"), True))
    with_extensions("extended usage for nothing", eku=extension("37", sequence()))
    with_extensions("extended usage that is a text", eku=extension("37", sequence(tlv(12, b"ek"))))
    with_extensions("no alternative name in its field", san=extension("17", sequence(), True))
    with_extensions("an alternative name of no kind", san=extension("17", sequence(tlv(0x89, b"x")), True))
    with_extensions("an alternative name that is a text", san=extension("17", sequence(tlv(12, b"x")), True))
    with_extensions("a directory name that is none", san=extension("17", sequence(tlv(0xA4, tlv(12, b"x"))), True))
    with_extensions("bytes behind a directory name", san=extension("17", sequence(tlv(0xA4, sequence(), null())), True))
    with_extensions("an empty key id", extension("14", octets(b"")))
    with_extensions("a key id that is none", extension("14", b"abc"))
    with_extensions("an issuer's key id that is none", extension("35", octets(b"abc")))
    with_extensions("an issuer's key id that is cut", extension("35", sequence(b"\x80\x05ab")))
    with_extensions("no policies in their field", extension("32", sequence()))
    with_extensions("32 of them", *(extension(f"{unknown}.{i}", b"") for i in range(28)), result="OK")
    with_extensions("33 of them", *(extension(f"{unknown}.{i}", b"") for i in range(29)))
    with_extensions("one with a field more", sequence(oid(unknown), octets(b""), null()))
    with_extensions("one without a value", sequence(oid(unknown)))

    def sized(n):
        empty = certificate(sequence(), key, name("root"), root[1], ek_extensions() + [extension(unknown, bytes(2000))])
        room = n - len(empty)
        for fill in range(room - 8, room + 9):
            der = certificate(sequence(), key, name("root"), root[1], ek_extensions() + [extension(unknown, bytes(2000 + fill))],
                              signature=bits(sequence(integer(1 << 255), integer(1 << 255))))
            if len(der) == n:
                return der
        raise ValueError(n)

    made["ek-4096"], made["ek-4097"] = sized(4096), sized(4097)
    case("4096 bytes are read, and its signature is none", "ek-4096", result="33")
    case("4097 bytes", "ek-4097", result="22")
    total, chain = 12288, ["ek-big"]
    above = ("root", root[1])
    for i in (3, 2, 1):
        ca = EC(f"big {i}", "P-256")
        made[f"ca-big{i}"] = certificate(name(f"big{i}"), ca, name(above[0]), above[1],
                                         [basic(True), usage(5), extension(unknown, bytes(2900))])
        chain.insert(1, f"ca-big{i}")
        total -= len(made[f"ca-big{i}"])
        above = (f"big{i}", ca)
    for label, n in (("ek-big", total), ("ek-bigger", total + 1)):
        for attempt in range(100):  # a signature has 70 to 72 bytes
            der = certificate(sequence(), key, name(above[0]), above[1], serial=integer(128 + attempt),
                              extensions=ek_extensions() + [extension(unknown, bytes(n - 418 + attempt % 9))])
            if len(der) == n:
                break
        else:
            raise ValueError(n)
        made[label] = der
    case("12288 bytes in all", " ".join(chain))
    case("12289 bytes in all", " ".join(["ek-bigger"] + chain[1:]), result="22")


def leaves(root, key):
    def leaf(title, result="34", flags="", subject=None, **parts):
        label = "ek-leaf-" + "".join(c if c.isalnum() else "-" for c in title)
        if label not in made:
            ek(label, key, root, extensions=ek_extensions(**parts), subject=subject)
        case("leaf: " + title, label, result=result, flags=flags)

    def named(*sets, critical=True):
        return extension("17", sequence(directory(*sets)), critical)

    maker, model, version = attribute(MAKER, "id:54454E4F"), attribute(MODEL, "Tenon"), attribute(VERSION, "id:1")
    leaf("an authority", ca=basic(True))
    leaf("no basic constraints", ca=extension("1.2.3", b""), result="OK")
    leaf("no key usage", ku=b"")
    leaf("key usage digitalSignature", ku=usage(0))
    leaf("key usage keyEncipherment", ku=usage(2), result="OK")
    leaf("key usage keyAgreement and more", ku=usage(0, 4), result="OK")
    leaf("no extended usage", eku=b"", result="OK")
    leaf("no extended usage, where it is required", eku=b"", flags="usage")
    leaf("extended usage, where it is required", result="OK", flags="usage")
    leaf("another extended usage", eku=extended("1.3.6.1.5.5.7.3.1"))
    leaf("extended usage of AKs", eku=extended(AK_USAGE))
    leaf("extended usage of EKs and AKs", eku=extended(EK_USAGE, AK_USAGE))
    leaf("extended usage of others and EKs", eku=extended("1.3.6.1.5.5.7.3.1", EK_USAGE), result="OK")
    leaf("extended usage that begins as that of EKs", eku=extended(EK_USAGE + ".1"))
    leaf("no alternative name", san=b"", subject=name("tpm"))
    leaf("an alternative name that is a host's", san=extension("17", sequence(tlv(0x82, b"tpm.example")), True))
    leaf("a host's name beside the TPM's", san=extension("17", sequence(tlv(0x82, b"tpm.example"), directory([maker, model, version])), True), result="OK")
    leaf("three sets", san=named([maker], [model], [version]), result="OK")
    leaf("more attributes", san=named([maker, attribute("2.5.4.3", "tpm")], [model, version]), result="OK")
    leaf("two directory names", san=extension("17", sequence(directory([maker]), directory([model, version])), True), result="OK")
    leaf("printable strings", san=tpm_name(tag=0x13), result="OK")
    leaf("IA5 strings", san=tpm_name(tag=0x16), result="OK")
    leaf("BMP strings", san=tpm_name(*(text.encode("utf-16-be") for text in ("id:54454E4F", "Tenon", "id:00010002")), tag=0x1E))
    leaf("no maker", san=named([model, version]))
    leaf("no model", san=named([maker, version]))
    leaf("no version", san=named([maker, model]))
    leaf("two makers", san=named([maker, model, version], [maker]))
    leaf("two makers in two names", san=extension("17", sequence(directory([maker, model, version]), directory([maker])), True))
    leaf("an empty maker", san=tpm_name(""))
    leaf("a maker of 64 characters", san=tpm_name("m" * 64), result="OK")
    leaf("a maker of 65 characters", san=tpm_name("m" * 65))
    leaf("a line feed in the model", san=tpm_name(model="a\nb"))
    leaf("a letter that is not ASCII", san=tpm_name(model="\u00e9"))
    leaf("an alternative name that is not critical, and no subject", san=tpm_name(critical=False))
    leaf("an alternative name that is not critical, and a subject", san=tpm_name(critical=False), subject=name("tpm"), result="OK")
    for label, text in (("libtpms", dict(maker="id:00001014")), ("swtpm", dict(model="swtpm")), ("SWTPM", dict(model="SWTPM")),
                        ("IBM", dict(maker="id:49424d00")), ("the reference code", dict(maker="id:58595A20"))):
        leaf("simulator " + label, san=tpm_name(**text), result="37")
        leaf("simulator " + label, san=tpm_name(**text), result="OK", flags="simulator")
    leaf("no simulator's maker", san=tpm_name(maker="id:000010140"), result="OK")


def make():
    root, key, rsa = good_chains()
    dates(root, key)
    authorities(root, key)
    signatures(root, key, rsa)
    keys(root, key, rsa)
    forms(root, key)
    leaves(root, key)


def write(folder):
    with open(folder / "certificates.txt", "w", encoding="ascii") as file:
        file.write("# Made by make_certificates.py, as DER.\n")
        for label, der in made.items():
            file.write(f"{label} = {der.hex()}\n")
    with open(folder / "cases.txt", "w", encoding="ascii") as file:
        file.write("# Made by make_certificates.py. Result is OK or the number of the rule.\n")
        for title, chain, roots, result, now, flags in cases:
            file.write(f"\nName = {title}\nChain = {chain}\nRoots = {roots}\nNow = {now}\nFlags = {flags}\nResult = {result}\n")


def pem(der):
    text = "\n".join(textwrap.wrap(base64.b64encode(der).decode(), 64))
    return f"-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n"


def swtpm(folder):
    print("# A chain of swtpm_localca 0.7.1, as Tests/Scripts/swtpm_state.sh makes one; by make_certificates.py --swtpm.")
    for label, file in (("ek-rsa2048", "ek-rsa2048.crt"), ("ek-p384", "ek-secp384r1.crt"), ("issuer", "issuer.pem"), ("root", "root.pem")):
        der = (folder / file).read_bytes()
        if file.endswith(".pem"):
            der = base64.b64decode("".join(line for line in der.decode().splitlines() if not line.startswith("-")))
        print(f"{label} = {der.hex()}")


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[-1])
    if sys.argv[1] == "--swtpm":
        swtpm(target)
    else:
        make()
        if sys.argv[1] == "--pem":
            for one, one_der in made.items():
                (target / f"{one}.pem").write_text(pem(one_der), encoding="ascii")
        else:
            write(target)
