# SPDX-License-Identifier: Apache-2.0
"""The figures that the C core has to reach, from counts and records; and all of them in order."""
import os
import re
import subprocess

import results
from results import figure

SIZE_BOUNDS = {"libtenon.so": 120_000, "libtenon-batch.so": 40_000, "libtenon-tpm.so": 80_000}
# Instructions a request: of the device, of a verifier that knows the root of 1,024, and that beside a verification.
BATCH_BOUNDS = {"mbedtls": (60_000, 135_000, 1 / 50), "openssl": (35_000, 75_000, 1 / 10)}
# Million instructions: 20 ms of a CPU that does 10.8 in a nanosecond, as with worst-proof. Of mbedTLS 3.6's the same CPU
# does 13.9 (docs/platforms.md), so 240 million are 17.3 ms.
BODY_BOUND, BODY_BOUND_3 = 216, 240
ONCE_BOUND = 170_000  # one EC_GROUP of libcrypto's and a point on it: Bench/README.md, "Where the time goes"
WORST_LINES = ("proof", "ak-certificate", "ek", "credential", "activation")
BACKENDS = ("mbedtls", "openssl")
# What each figure is, in words.
WORDS = {
    "P1": "A warm signature, beside the bare TPM2_Sign", "P2": "The same in a session that protects the bus",
    "P3": "Host instructions of a warm signature", "P4": "What Swift adds to the calls of the C core",
    "P5": "TPM commands before a new process signs", "P6": "Software keys with mbedTLS", "P7": "Software keys with OpenSSL",
    "P8": "A signed request without its signature", "P9": "A proof: making it, and verifying it", "P10": "An authority under load",
    "P11": "Size of the libraries", "P12": "A device's life at an authority",
    "P13": "A request of a batch under one signature", "P15": "A log of KERI events", "20 ms": "The most expensive bodies that a service accepts"}
PARTS = {"P4": "swift", "P10": "authority", "P12": "flow"}  # who measures the others


def commands_of(records):
    """The names of the TPM commands of each line of Tenon's; of builds that differ, the longer list."""
    out = {}
    for r in results.of_kind(records, "commands"):
        if r["by"] == "tenon" and r["line"].startswith("tpm-"):
            names = r["commands"].split()
            out[r["line"]] = max(names, out.get(r["line"], names), key=len)
    return out


def over(a, b):
    return a / b if a and b else None


def of_tpm(counts, ratios, commands):
    out = []
    for name, line, what, bound in (("P1", "tpm-sign", "password", 0.97), ("P2", "tpm-sign-salted", "salted HMAC", 0.92),
                                    ("P2", "tpm-sign-encrypted", "salted, AES-CFB", 0.92)):
        out += [figure(name, f"{b} build, warm TPM signature, {what}, beside the raw exchange", (">=", bound),
                       ratios.get((b, line, "raw"))) for b in BACKENDS]
        out.append(figure(name, f"  its TPM commands, {what}", ("<=", 1), len(commands.get(line, ())) or None, gate=True))
    out += [figure("P3", f"{b} build, warm TPM signature, canned answers", ("<=", 5000),
                   counts.get(f"{b} tpm-sign-host tenon"), "instr.", True) for b in BACKENDS]
    for line, what, bound in (("handle", "persistent handle", 0), ("srk", "blob under SRK", 1),
                              ("primary", "blob under primary", 2)):
        names = commands.get(f"tpm-first-{line}", ())
        out.append(figure("P5", f"TPM commands before a process's first signature, {what}", ("<=", bound),
                          names.index("Sign") if "Sign" in names else None, gate=True))
    out.append(figure("P9", "TPM commands of a proof", ("<=", 1), len(commands.get("tpm-attest", ())) or None, gate=True))
    return out


def body_bound(records):
    return BODY_BOUND_3 if (results.versions(records).get("mbedtls") or "").startswith("3.") else BODY_BOUND


def of_worst(backend, counts, times, bound):
    out = []
    for what in WORST_LINES:
        line = f"worst-{what}"
        out.append(figure("20 ms", f"{backend} build, the worst of 16 KiB, {what}", ("<=", bound),
                          over(counts.get(f"{backend} {line} tenon"), 1e6), "M instr.", True))
        out.append(figure("20 ms", "  the same in time of this CPU", None, over(times.get((backend, line)), 1e6), "ms"))
    return out


def of_backend(b, counts, lines, bound):
    """What both builds are asked for."""
    times = {(backend, line): r["p50_ns"] for (backend, line, by), r in lines.items() if by == "tenon"}
    cpu = {(backend, line): r["cpu_ns"] for (backend, line, by), r in lines.items() if by == "tenon"}
    whole, public_key = (counts.get(f"{b} {line} tenon") for line in ("proof-verify", "proof-public-key"))
    signed, hashing = (counts.get(f"{b} {line} tenon") for line in ("request-unsigned", "sha256-request"))
    return [
        figure("P9", f"{b} build, verifying a proof without its public-key operations", ("<=", 50_000),
               whole - public_key if whole else None, "instr.", True),
        *of_worst(b, counts, cpu, bound),
        figure("P8", f"{b} build, request without the signing over its SHA-256, instructions", ("<=", 2),
               over(signed, hashing), gate=True),
        figure("P8", f"  the same in time, on this CPU, {b} build", None,
               over(times.get((b, "request-unsigned")), times.get((b, "sha256-request"))))]


def of_libraries(counts, ratios):
    out = []
    for line, bound in (("sign", 4.3), ("verify", 13.6), ("verify-prepared", 8.3)):
        ours, theirs = counts.get(f"mbedtls {line} tenon"), counts.get(f"mbedtls {line} mbedtls")
        out.append(figure("P6", f"mbedTLS build, {line}", ("<=", bound), over(ours, 1e6), "M instr.", True))
        out.append(figure("P6", f"  plain mbedTLS's instructions over Tenon's, {line}", None, over(theirs, ours)))
    out += [figure("P7", f"OpenSSL build, {line} beside a kept-context EVP loop", (">=", 0.95), ratios.get(("openssl", line, "openssl")))
            for line in ("sign", "verify-prepared")]
    once, kept = (counts.get(f"openssl {line} tenon") for line in ("verify", "verify-prepared"))
    return out + [figure("P7", "OpenSSL build, one-shot verify beside EVP that takes the key each time, too", (">=", 1.0),
                         ratios.get(("openssl", "verify", "openssl-once"))),
                  figure("P7", "  instructions of its curve and key, beyond the prepared verification", ("<=", ONCE_BOUND),
                         once - kept if once and kept else None, "instr.", True),
                  figure("P7", "  its speed beside the loop, which makes no curve and no key", None,
                         ratios.get(("openssl", "verify", "openssl")))]


def of_log(b, counts, bound):
    """KERI: making an inception, and taking a rotation beside decoding its key and verifying its signature alone."""
    made, taken, alone = (counts.get(f"{b} keri-{line} tenon") for line in ("inception", "append", "verify"))
    return [figure("P15", f"{b} build, an inception without its signature", ("<=", 60_000), made, "instr.", True),
            figure("P15", f"{b} build, a rotation's key and signature beside taking it into a log, instructions",
                   (">=", bound), over(alone, taken), gate=True)]


def of_batch(b, counts):
    """Signature version 2 without the signing and the content's digest."""
    device, known, ratio = BATCH_BOUNDS[b]
    sizes = (1, 16, 256, 1024)
    out = []
    for size in sizes:
        made = counts.get(f"{b} batch-device-{size} tenon")
        out.append(figure("P13", f"{b} build, a device's request in a batch of {size}", ("<=", device),
                          made / size if made else None, "instr.", True))
    alone = counts.get(f"{b} verify-prepared tenon")
    for size in sizes:
        taken = counts.get(f"{b} batch-known-{size} tenon")
        out.append(figure("P13", f"{b} build, verifying one of {size} whose root is known", ("<=", known), taken, "instr.",
                          True))
        out.append(figure("P13", "  beside a prepared verification", ("<=", ratio), over(taken, alone), gate=True))
    return out


def stripped_size(build, name, folder):
    stripped = os.path.join(folder, "stripped.so")
    subprocess.run(["strip", "-o", stripped, os.path.join(build.folder, name)], check=True)
    return os.path.getsize(stripped) / 1000


def of_sizes(build, folder):
    sizes = {name: stripped_size(build, name, folder) for name in SIZE_BOUNDS}
    out = [figure("P11", f"{build.backend} build, stripped {name}", ("<=", SIZE_BOUNDS[name] / 1000), size, "KB", True)
           for name, size in sizes.items()]
    # It contains what it needs of libtenon-tpm (decision: native-one-file).
    native = stripped_size(build, "libsynheart_native_crypto.so", folder)
    return [*out, figure("P11", f"{build.backend} build, libsynheart_native_crypto.so beyond libtenon-tpm.so", ("<=", 60),
                         native - sizes["libtenon-tpm.so"], "KB", True)]


def all_of(counts, records, builds, folder):
    ratios = {(r["backend"], r["line"], r["peer"]): r["median"] for r in results.of_kind(records, "ratio")}
    lines, commands = results.measured(records), commands_of(records)
    out = of_tpm(counts, ratios, commands)
    if not commands:
        out = [f | {"reason": "swtpm is missing"} for f in out]
    for build in builds:
        out += of_backend(build.backend, counts, lines, body_bound(records))
    out += of_libraries(counts, ratios)
    for build in builds:
        out += of_log(build.backend, counts, {"mbedtls": 0.95, "openssl": 0.85}[build.backend])
        out += of_batch(build.backend, counts)
    for build in builds:
        out += of_sizes(build, folder)
    return out


def with_parts(records):
    """Those that the parts in Swift measured, and the command for those that they did not."""
    out = results.of_kind(records, "figure")
    here = {f["figure"] for f in out}
    return out + [figure(name, f"what make bench-{part} measures", None, None) | {"reason": f"make bench-{part}"}
                  for name, part in PARTS.items() if name not in here]


def in_order(table, is_counts):
    """P1 to P12, then what has no number. What has no value has a reason, but where a bound stands beside it already."""
    def rank(f):
        number = re.fullmatch(r"P(\d+)", f["figure"])
        return int(number.group(1)) if number else 100

    def reason(f):
        return "--counts" if is_counts and not f["gate"] else "valgrind is missing"
    shown = [f for f in table if f["value"] is not None or f["bound"] is not None or "reason" in f]
    return [f if f["value"] is not None else {"reason": reason(f)} | f for f in sorted(shown, key=rank)]


def is_missed(table):
    return any(f["gate"] and not f["reached"] for f in table)
