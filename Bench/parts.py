# SPDX-License-Identifier: Apache-2.0
"""The parts in Swift: programs that write what they measured, two of them at an authority on loopback."""
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

import results

LAST_CORE = os.cpu_count() - 1


def cores(which):
    """A prefix that keeps a program on cores, where there are two."""
    return ["taskset", "-c", which] if LAST_CORE > 0 else []


def free_url():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


@contextlib.contextmanager
def serving(place, url, app, prefix=(), program=None, **more):
    """A tenon-authority for one app, whose state is in the scratch folder; its process."""
    address, port = url.removeprefix("http://").split(":")
    configuration = {"origins": [url], "public": {"address": address, "port": int(port)}, "apps": [{"id": "demo"} | app]} | more
    (place.scratch / "authority.json").write_text(json.dumps(configuration), encoding="utf-8")
    with open(place.scratch / "log", "w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *prefix, program or place.binaries / "tenon-authority", "serve", "--state-dir", place.state,
             "--config", place.scratch / "authority.json"], stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            if not process.stdout.readline().startswith("tenon-authority"):
                sys.exit("Bench/run: the authority does not start")
            yield process
        except BaseException:
            log.seek(0)
            sys.stderr.write(log.read())
            raise
        finally:
            process.terminate()
            process.communicate()


class Place:
    """Where the programs lie, the state of a software TPM with an EK certificate, and a folder that goes in the end."""

    def __init__(self, binaries, tpm_state, scratch, is_smoke, show):
        self.binaries, self.tpm_state, self.scratch, self.show = binaries, tpm_state, scratch, show
        self.state = scratch / "authority"
        self.state.mkdir(mode=0o700)
        self.options = ["--smoke"] if is_smoke else []

    def start(self, program, *words, prefix=(), **more):
        command = [*prefix, self.binaries / program, *words, *self.options]
        return results.start(command, env=os.environ | {"TMPDIR": str(self.scratch)}, **more)

    def read(self, process):
        return results.read(process, self.show)


def swift(place):
    """P4: what Swift adds to the calls of the core."""
    return place.read(place.start("SwiftBench"))


def authority(place):
    """P10: the authority on a core of its own, scheduled as the unit in packaging/ has it, and its load on the others."""
    url, root = free_url(), place.state / "root.pem"
    load = place.start("AuthorityBench", "--figure", "--instances", url, "--ek-root", root, "--devices", 1000, "--requests", 50_000,
                       prefix=cores(f"1-{LAST_CORE}"), stdin=subprocess.PIPE)
    while not (root.exists() and root.stat().st_size):
        if load.poll() is not None:
            return place.read(load)
        time.sleep(0.1)
    limits = {"per_address_per_minute": 1_000_000, "per_app_per_minute": 100_000_000, "requests_per_device": 1_000_000}
    with serving(place, url, {"ek_roots": [{"path": str(root)}]}, [*cores("0"), "chrt", "-b", "0"], limits=limits) as served:
        load.stdin.write(f"{served.pid}\n")
        load.stdin.close()
        records = place.read(load)
    return records + registrations(place)


COUNTED = 20  # devices


def instructions(place, deed):
    """What an authority executes from its start to its end while COUNTED devices have their AKs certified and do a deed; None when nothing is
    counted."""
    counter, program = [], place.binaries / "tenon-authority"
    if not place.options and shutil.which("valgrind"):
        counter = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        # valgrind gives up on debug information of a later DWARF than it knows.
        plain = place.scratch / "tenon-authority"
        subprocess.run(["strip", "--strip-debug", "-o", plain, program], check=True)
        program = plain
    url, root = free_url(), place.scratch / f"{deed}.pem"
    load = place.start("AuthorityBench", "--count", deed, "--instances", url, "--ek-root", root, "--devices", COUNTED)
    while not (root.exists() and root.stat().st_size):
        if load.poll() is not None:
            sys.exit("Bench/run: there is no load to count")
        time.sleep(0.1)
    app = {"ek_roots": [{"path": str(root)}]}
    wallet = {"id": "wallet", "service": "it-wallet"} | app
    with serving(place, url, app, counter, program, apps=[{"id": "demo"} | app, wallet], limits={"per_address_per_minute": 1_000_000}):
        place.read(load)
    found = re.search(r"Collected : (\d+)", (place.scratch / "log").read_text(encoding="utf-8"))
    return int(found.group(1)) if found else None


def registrations(place):
    """Each deed beyond what the certificate of the AK costs, which the other devices have certified, too."""
    certify, register, initialize = (instructions(place, deed) for deed in ("certify", "register", "initialize"))
    counts = [(n - certify) / COUNTED / 1e6 if certify else None for n in (register, initialize)]
    told = [results.figure("P10", "instructions of a registration with a certificate", None, counts[0], "M"),
            results.figure("P10", "instructions of an IT-Wallet initialization", None, counts[1], "M"),
            results.figure("P10", "  of those of a registration with a certificate", ("<=", 1.1),
                           round(counts[1] / counts[0], 3) if certify else None, gate=bool(certify))]
    if not certify:
        told = [record | {"reason": "--smoke" if place.options else "valgrind is missing"} for record in told]
    for record in told:
        place.show(record, None)
    return told


def flow(place):
    """P12: a device with a software TPM, from its registration to its reset. Each round is a new device of one TPM."""
    url, ca = free_url(), place.scratch / "ca.pem"
    app = {"ek_roots": [{"path": f"{place.tpm_state}/root.pem"}], "max_devices_per_ek": 1000}
    log = {"id": "log", "service": "auths", "require_attestation": False}
    wallet = {"id": "wallet", "service": "it-wallet"} | app
    with serving(place, url, app, apps=[{"id": "demo"} | app, log, wallet]):
        with open(ca, "w", encoding="utf-8") as file:
            subprocess.run([place.binaries / "tenon-authority", "ca", "show", "--state-dir", place.state], stdout=file, check=True)
        return place.read(place.start("AuthorityBench", "--instances", url, "--flows", place.tpm_state, "--root", ca))


ALL = {"swift": swift, "authority": authority, "flow": flow}
