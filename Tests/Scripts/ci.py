#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The steps of .ci/run, which installs the packages first.

Steps run side by side, in the order in which they stand below, as far as cores are free; steps of one lane use one
folder of what was built, and run one after the other. What a step printed is in .build/ci. The last lines say what
failed, and the command that repeats it.
"""

import collections
import os
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / ".build/ci"
CORES = os.cpu_count() or 1
# What hangs is a failure of its own, not of all that would have come after it.
LONGEST = "2000"

QUICK, TEST, FULL = 1, 2, 3
LEVELS = {"quick": QUICK, "test": TEST, "full": FULL}
# A step that mostly waits takes no core; `after` names what it needs besides its lane, `quick` what it leaves out then.
# The tests with threads: a race can be seen in no other.
THREADED = "thread ticket tpm_bare tpm_fork tpm_node tpm_open tpm_threads"
# What the step Swift wrote of its tests.
EVENTS = ".build/tests/device.jsonl .build/tests/authority.jsonl"
Step = collections.namedtuple("Step", "name lane level command cores after quick", defaults=(1, (), ""))
STEPS = [
    Step("shape of the tree", "tree", QUICK, "make rules house check-broken-applies check-report"),
    Step("format", "format", QUICK, "make check-format"),
    Step("Swift, built", "swift", QUICK, "make swift-tests"),
    Step("C, mbedTLS", "c", QUICK, f"make -j{CORES} check JOBS=1", quick=" TENON_TEST_QUICK=1"),
    Step("Swift", "swift", QUICK, "make check-swift", quick=" QUICK=1"),
    Step("commands", "commands", TEST, "make check-command", 0, after=("Swift, built",)),
    Step("faults of stores", "stores", TEST, "make check-stores", 0, after=("Swift, built",)),
    Step("C, OpenSSL", "c", TEST, "make check CRYPTO=openssl JOBS=1 TENON_TEST_QUICK=1"),
    Step("backends", "c", TEST, "make check-differential check-chains check-vectors"),
    Step("secrets", "c", TEST, "make check-constant-time check-heap"),
    Step("languages", "c", TEST, "make check-abi check-install check-support"),
    Step("other verifiers", "c", TEST, "make check-interop check-judges check-rfc9421", after=("Swift, built",)),
    Step("conformance", "swift", TEST, f"make check-conformance EVENTS='{EVENTS}'", after=("Swift",)),
    Step("examples", "c", TEST, "make check-examples", after=("Swift, built",)),
    Step("addresses", "address", FULL, "make check SANITIZE=address,undefined CC=clang JOBS=1 TENON_TEST_QUICK=1"),
    Step("threads", "thread", FULL, f"make check SANITIZE=thread JOBS=1 ONLY='{THREADED}'"),
    Step("bench figures", "c", FULL, "make bench-check"),
    Step("benches run", "c", FULL, "make bench-peers FLAGS='--smoke --check'", after=("Swift, built",)),
    Step("valgrind", "c", FULL, "make check-valgrind CRYPTO=openssl JOBS=1"),
    Step("eight processes", "swift", FULL, "make check-processes RACE_SECONDS=20"),
    Step("development build", "commands", FULL, "make check-dev-mode", after=("Swift, built",)),
    Step("rules fail when broken", "tree", FULL, "make check-rules"),
    Step("fuzzers", "fuzz", FULL, "make fuzz FUZZ_SECONDS=2 COVERAGE="),
]


class Run:
    def __init__(self, steps):
        self.waiting, self.running, self.done = list(steps), {}, {}
        self.begun = time.monotonic()
        LOGS.mkdir(parents=True, exist_ok=True)

    def log(self, step):
        return LOGS / f"{step.name.replace(',', '').replace(' ', '-')}.log"

    def next(self):
        """The first step that can begin; a step for which cores are missing lets none of a later one go before it."""
        busy = {step.lane for step, *_ in self.running.values()}
        free = CORES - sum(step.cores for step, *_ in self.running.values())
        for step in self.waiting:
            ready = step.lane not in busy and all(name in self.done for name in step.after)
            busy.add(step.lane)
            if ready:
                return step if min(step.cores, CORES) <= free else None
        return None

    def begin(self, step):
        self.waiting.remove(step)
        with open(self.log(step), "wb") as out:
            process = subprocess.Popen(["timeout", LONGEST, *shlex.split(step.command)], cwd=ROOT,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        self.running[process.pid] = (step, time.monotonic(), process)

    def end(self):
        pid, status, usage = os.wait4(-1, 0)
        step, begun, process = self.running.pop(pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds, busy = time.monotonic() - begun, usage.ru_utime + usage.ru_stime
        self.done[step.name] = (status == 0, seconds, busy)
        print(f"{'passed' if status == 0 else 'FAILED'} {seconds:5.0f} s   {step.name}", flush=True)
        if status:  # Here as well as at the end: whoever reads a part of the output reads its beginning or its end.
            print("\n".join("    " + line[:200] for line in last(self.log(step), 14)), flush=True)

    def all(self):
        try:
            while self.waiting or self.running:
                while step := self.next():
                    self.begin(step)
                self.end()
        finally:
            for _, _, process in self.running.values():
                process.terminate()  # timeout passes it on to all that it began

    def table(self):
        print(f"\n{'step':24} {'result':8} {'seconds':>8} {'of a core':>10}")
        for name, (passed, seconds, busy) in self.done.items():
            print(f"{name:24} {'passed' if passed else 'FAILED':8} {seconds:8.0f} {busy:10.0f}")
        busy = sum(one[2] for one in self.done.values())
        print(f"{'':24} {'':8} {time.monotonic() - self.begun:8.0f} {busy:10.0f}\n")


def last(path, count):
    return path.read_text(errors="replace").splitlines()[-count:]


def main(mode="full"):
    if mode not in LEVELS:
        print(f"usage: .ci/run [{'|'.join(LEVELS)}]", file=sys.stderr)
        return 2
    steps = [step for step in STEPS if step.level <= LEVELS[mode]]
    if mode == "quick":
        steps = [step._replace(command=step.command + step.quick) for step in steps]
    run = Run(steps)
    try:
        run.all()
    except KeyboardInterrupt:
        return 130
    run.table()
    failed = [step for step in steps if not run.done.get(step.name, (True,))[0]]
    # The first that failed comes last, with what its log ends with: a failure says there what was expected, and where.
    for step in reversed(failed):
        print(f"FAILED {step.name}; again: {step.command}")
        print("\n".join("    " + line[:200] for line in last(run.log(step), 14 if step is failed[0] else 3)))
    print(f"{len(run.done) - len(failed)} passed, {len(failed)} failed, {len(steps) - len(run.done)} not begun")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
