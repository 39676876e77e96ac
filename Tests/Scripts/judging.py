# SPDX-License-Identifier: Apache-2.0
"""What the judges share: they count what holds, and ask a program that keeps its keys in a software TPM while it runs."""

import subprocess

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
