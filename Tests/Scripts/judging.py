# SPDX-License-Identifier: Apache-2.0
"""What the judges share: they count what holds, ask a program that keeps its keys in a software TPM while it runs, and
certify keys of TPMs."""

import datetime
import subprocess

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

EK_USAGE, AK_USAGE = (x509.ObjectIdentifier(oid) for oid in ("2.23.133.8.1", "2.23.133.8.3"))

passed, failed = 0, []


def check(what, holds, found=""):
    global passed
    if holds:
        passed += 1
    else:
        failed.append(what)
        print("does not hold:", what, found)


def verdict(what):
    print(f"{what}: {passed} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


class Tool:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def line(self):
        line = self.process.stdout.readline().rstrip("\n")
        if not line or line.startswith("TENON_") and line != "TENON_OK":
            raise SystemExit(f"{self.process.args[0]}: {line}")
        return line

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def stop(self):
        self.process.stdin.close()
        check("the TPM is left in order", self.process.wait(timeout=60) == 0)


def key_usage(*names):
    return x509.KeyUsage(**{name: name in names for name in (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")})


class CA:
    """A root, and what it certifies."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "judges")])
        self.own = x509.SubjectKeyIdentifier.from_public_key(self.key.public_key())
        self.root = self.certificate(self.name, self.key.public_key(), x509.BasicConstraints(True, 0), self.own,
                                     key_usage("key_cert_sign", "crl_sign"))

    def certificate(self, subject, key, *extensions):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = (x509.CertificateBuilder().issuer_name(self.name).subject_name(subject).public_key(key)
                   .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
                   .not_valid_after(now + datetime.timedelta(days=9)))
        for extension in extensions:
            critical = isinstance(extension, (x509.BasicConstraints, x509.KeyUsage, x509.SubjectAlternativeName))
            builder = builder.add_extension(extension, critical)
        return builder.sign(self.key, hashes.SHA256())

    def of_tpm(self, key, maker, usage, *more):
        words = [("2.23.133.2.1", maker), ("2.23.133.2.2", "judge"), ("2.23.133.2.3", "id:00000001")]
        tpm = x509.Name([x509.NameAttribute(x509.ObjectIdentifier(oid), text) for oid, text in words])
        return self.certificate(
            x509.Name([]), key, x509.BasicConstraints(False, None), x509.SubjectAlternativeName([x509.DirectoryName(tpm)]),
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(self.own), x509.ExtendedKeyUsage([usage]), *more)
