#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""chip.py BINARIES TPM_STATE [MILLISECONDS ...]: the commands that arrive at a TPM for each verb of `tenon`, each in a
process of its own, and how long it takes while each command takes so many milliseconds longer.

Once without a resource manager, and once behind tpm2-abrmd, which sends commands of its own: it loads what a client
needs and saves it again. A relay in front of the software TPM counts both. tpm2-abrmd is a Debian package that
Tests/Scripts/unpack.sh unpacks; it runs on a message bus of its own.
"""
import collections
import contextlib
import itertools
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import parts

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = {
    0x120: "EvictControl", 0x131: "CreatePrimary", 0x143: "SelfTest", 0x144: "Startup", 0x145: "Shutdown", 0x147: "ActivateCredential",
    0x148: "Certify", 0x14E: "NV_Read", 0x151: "PolicySecret", 0x153: "Create", 0x157: "Load", 0x15D: "Sign", 0x161: "ContextLoad",
    0x162: "ContextSave", 0x165: "FlushContext", 0x169: "NV_ReadPublic", 0x171: "PolicyOR", 0x173: "ReadPublic", 0x176: "StartAuthSession",
    0x17A: "GetCapability", 0x17B: "GetRandom", 0x17E: "PCR_Read", 0x181: "ReadClock",
}
VERBS = ["doctor", "register", "sign", "rotate", "maintain"]
MANAGER = ("tpm2-abrmd", "libtss2-tcti-tabrmd0")  # Debian packages
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN" "busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={0}</listen><auth>EXTERNAL</auth><policy context="default">
<allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>"""


class Relay:
    """Hands commands to a TPM, one at a time, each some seconds later, and counts them by name."""

    def __init__(self, path, tpm, delay=0.0):
        self.tpm, self.delay, self.counted = tpm, delay, collections.Counter()
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(path)
        self.server.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.server.accept()
            with client, socket.socket(socket.AF_UNIX) as tpm:
                tpm.connect(self.tpm)
                while (command := message(client)) is not None:
                    code = int.from_bytes(command[6:10], "big")
                    self.counted[NAMES.get(code, f"{code:#x}")] += 1
                    time.sleep(self.delay)
                    tpm.sendall(command)
                    client.sendall(message(tpm))


def message(stream):
    """A command or an answer: ten bytes, of which four are its size, and the rest. None where there is nothing more."""
    read = b""
    while len(read) < 10 or len(read) < int.from_bytes(read[2:6], "big"):
        wanted = 10 if len(read) < 10 else int.from_bytes(read[2:6], "big")
        part = stream.recv(wanted - len(read))
        if not part:
            return None
        read += part
    return read


@contextlib.contextmanager
def running(*command, until, **more):
    """A program that has begun when `until` says so, and that ends with this block."""
    process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *map(str, command)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, **more)
    try:
        for _ in range(200):
            if process.poll() is not None or until():
                break
            time.sleep(0.05)
        if process.poll() is not None or not until():
            sys.exit(f"Bench/chip.py: {command[0]} does not start")
        yield
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def manager(scratch, chip):
    """tpm2-abrmd in front of a TPM. What its clients need: the address of the bus, and where the TCTI is."""
    bus, deps = scratch / "bus", ROOT / ".build/deps"
    (scratch / "bus.conf").write_text(BUS.format(bus), encoding="utf-8")
    libraries = next((deps / "libtss2-tcti-tabrmd0").glob("usr/lib/*"))
    environment = os.environ | {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={bus}", "LD_LIBRARY_PATH": str(libraries)}
    broker = deps / "tpm2-abrmd/usr/sbin/tpm2-abrmd"
    owns = ["dbus-send", f"--bus=unix:path={bus}", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
            "org.freedesktop.DBus.GetNameOwner", "string:com.intel.tss2.Tabrmd"]

    def is_owned():
        return subprocess.run(owns, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0

    with running("dbus-daemon", "--nofork", f"--config-file={scratch}/bus.conf", until=bus.exists), \
            running(broker, "--allow-root", f"--tcti=swtpm:path={chip}", until=is_owned, env=environment):
        yield environment


def life(place, url, chain, tpm, relay, environment):
    """The commands of each verb, those that `tenon` itself sent, and its seconds from start to end."""
    environment = environment | {"TENON_TPM": tpm, "TENON_STATE_DIR": str(place.scratch / f"state-{tpm[:5]}")}
    words = {"register": ["--service", f"{url}/auth", "--app", "demo", "--dialect", "tenon", "--disclose-ek", "--ek-chain", chain],
             "sign": ["POST", f"{url}/v1/echo", "--data", "{}"]}
    for verb in VERBS:
        relay.counted.clear()
        began = time.monotonic()
        done = subprocess.run([place.binaries / "tenon", verb, *words.get(verb, []), "--trace"], env=environment, text=True,
                              capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"Bench/chip.py: tenon {verb} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        yield verb, done.stderr.count("\n"), collections.Counter(relay.counted), time.monotonic() - began


def measured(place, managed, delay):
    scratch = pathlib.Path(tempfile.mkdtemp(dir=place.scratch))
    shutil.copytree(place.tpm_state / "state", scratch / "tpm")
    tpm, chip = scratch / "swtpm", scratch / "chip"
    url, app = parts.free_url(), {"ek_roots": [{"path": f"{place.tpm_state}/root.pem"}]}
    with running("swtpm", "socket", "--tpm2", "--tpmstate", f"dir={scratch}/tpm", "--flags", "not-need-init,startup-clear",
                 "--server", f"type=unixio,path={tpm}", "--ctrl", f"type=unixio,path={chip}.ctrl", until=tpm.exists):
        relay = Relay(str(chip), str(tpm), delay)
        place = parts.Place(place.binaries, place.tpm_state, scratch, False, False)
        with parts.serving(place, url, app), (manager(scratch, chip) if managed else contextlib.nullcontext(os.environ)) as environment:
            yield from life(place, url, f"{place.tpm_state}/issuer.pem", "tabrmd:" if managed else f"swtpm:path={chip}", relay, environment)


def check(binaries, state):
    """Ends with 2 where something that this runs is not there, and says which command gets it."""
    needed = [(name, ROOT / ".build/deps" / name, "Tests/Scripts/unpack.sh " + " ".join(MANAGER)) for name in MANAGER]
    needed += [(name, binaries / name, "make tested-commands") for name in ("tenon", "tenon-authority")]
    needed += [("the state of a software TPM", state / "state", f"Tests/Scripts/swtpm_state.sh {state}")]
    needed += [("swtpm", shutil.which("swtpm"), "make deps")]
    needed += [(name, shutil.which(name), "apt-get install dbus-daemon dbus-bin") for name in ("dbus-daemon", "dbus-send")]
    for what, place, getter in needed:
        if place is None or not os.path.exists(place):
            print(f"Bench/chip.py: {what} is missing; this gets it: {getter}", file=sys.stderr)
            sys.exit(2)


def main(binaries, state, *delays):
    binaries, state = pathlib.Path(binaries).resolve(), pathlib.Path(state).resolve()
    check(binaries, state)
    with tempfile.TemporaryDirectory() as folder:
        place = parts.Place(binaries, state, pathlib.Path(folder), False, False)
        for delay, managed in itertools.product(delays or ("0",), (False, True)):
            print("behind tpm2-abrmd" if managed else "without a resource manager", f"each command {delay} ms longer", sep=", ")
            print(f"  {'':10} {'sent':>5} {'at the TPM':>11} {'seconds':>8}")
            for verb, sent, counted, seconds in measured(place, managed, int(delay) / 1000):
                names = ", ".join(f"{count} {name}" for name, count in sorted(counted.items(), key=lambda one: -one[1]))
                print(f"  {verb:10} {sent:5} {sum(counted.values()):11} {seconds:8.2f}   {names}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print("usage: chip.py BINARIES TPM_STATE [MILLISECONDS ...]", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
