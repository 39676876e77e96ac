#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the Swift tests, in three processes side by side, and ends with what failed.

swift_tests.py BINARY [PATTERN | --quick]     those that the pattern finds, those that take no long time, or all

Within a process one test runs after the other: what measures a wait would measure the others, too. The parts share no
server. All that was printed is in .build/tests. A test that is skipped has failed.
"""

import json
import pathlib
import subprocess
import sys
import time

SEARCH = r"^TenonTests[.]RotationSearchTests"
AUTHORITY = r"^Tenon(TPM|Authority|AuthorityServer)Tests[.]"
# What a part runs, and what of it another part does: what no other part has is the device's, so that nothing is left
# out. Only the authority's uses the Redis and the PostgreSQL.
PARTS = {"search": (SEARCH, None), "device": (".", f"{SEARCH}|{AUTHORITY}"), "authority": (AUTHORITY, None)}
# What --quick leaves out: searches, a process that is killed at each step, stores that hang.
SLOW = r"[.](RotationSearch|(Log|Wallet)?Kill|Cut|EffectiveTime|DoubledLoad|Crash|Stop)Tests/|StoresPostgresTests/(anOutcome|aServerThatHangs)"
SHOWN = 4
FOLDER = pathlib.Path(".build/tests")


class Part:
    def __init__(self, name, binary, wanted, unwanted):
        self.name = name
        self.log, self.events = FOLDER / f"{name}.log", FOLDER / f"{name}.jsonl"
        self.events.unlink(missing_ok=True)
        self.events.touch()
        # Tests look beside the program for the commands, from other folders.
        command = [str(pathlib.Path(binary).absolute()), "--testing-library", "swift-testing", "--no-parallel",
                   "--filter", wanted,
                   *(["--skip", unwanted] if unwanted else []),
                   "--event-stream-output-path", str(self.events), "--event-stream-version", "0"]
        self.stream = self.events.open()
        self.started, self.passed, self.failed, self.rest = {}, 0, {}, ""
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log.open("wb"), stderr=subprocess.STDOUT)

    def look(self):
        lines = (self.rest + self.stream.read()).split("\n")
        self.rest = lines.pop()
        for line in lines:
            record = json.loads(line)
            if record["kind"] == "event":
                self.take(record["payload"])

    def take(self, event):
        # MODULE.Suite/test()/File.swift:6:6; a suite has no file.
        test = event.get("testID", "").split("/")
        name, is_test = "/".join(test[:2]), len(test) > 2
        texts = [message["text"] for message in event.get("messages", [])]
        if event["kind"] == "testStarted" and is_test:
            self.started[name] = True
        elif event["kind"] == "issueRecorded" and not event.get("issue", {}).get("isKnown"):
            self.failed.setdefault(name, []).append(texts[0] if texts else "an issue")
        elif event["kind"] == "testSkipped":
            self.failed.setdefault(name, []).append("was skipped: a skipped test is a failure")
        elif event["kind"] == "testEnded" and is_test:
            self.started.pop(name, None)
            self.passed += name not in self.failed

    def end(self):
        self.process.wait()
        self.look()
        code = self.process.returncode
        if code != 0 and (self.started or not self.failed):
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            for name in self.started or {f"the part {self.name}": True}:
                self.failed.setdefault(name, []).append(f"the process ended here with {how}")


def command(name):
    return f"make check-swift ONLY='{name.split('(')[0].replace('.', '[.]', 1)}'"


def chosen(pattern):
    if pattern is None:
        return PARTS
    if pattern != "--quick":
        return {"chosen": (pattern, None)}
    return {name: (wanted, f"{unwanted}|{SLOW}" if unwanted else SLOW)
            for name, (wanted, unwanted) in PARTS.items() if name != "search"}


def main(binary, pattern=None):
    FOLDER.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    parts = [Part(name, binary, *which) for name, which in chosen(pattern).items()]
    while any(part.process.poll() is None for part in parts):
        time.sleep(0.3)
        for part in parts:
            part.look()
        if sys.stdout.isatty():
            print(f"\r{sum(part.passed for part in parts)} passed", end="", flush=True)
    for part in parts:
        part.end()
    failed = {name: texts for part in parts for name, texts in part.failed.items()}
    for name, texts in list(failed.items())[:SHOWN]:
        print(f"FAILED {name}")
        for text in texts[:2]:
            print("   ", "\n    ".join(text.splitlines()[:2])[:300])
        print(f"    again: {command(name)}")
    if len(failed) > SHOWN:
        print(f"and {len(failed) - SHOWN} more: .build/tests/*.log")
    passed = sum(part.passed for part in parts)
    print(f"\r{passed} passed, {len(failed)} failed, {time.monotonic() - begun:.0f} s")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
