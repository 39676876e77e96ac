#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""conformance.py EVENTS...: each case of IT-Wallet's test matrix beside the tests that show it.

EVENTS are what swift_tests.py wrote. A test's name begins with the cases that it shows: "WP_135a WP_150: a nonce ...".
A case passes if a test with its name ran and none failed. A case without a test fails, unless it is one of NOT_APPLICABLE.
"""

import json
import pathlib
import re
import sys

# The cases of the matrix that concern initialization, use, state and revocation of an instance.
CASES = """
    010 014 014b 014c 014f 015 018 021 022 023 026 027 028 029 029a 029b 030 031 033 035 035a 036 037 038 039 040 041
    042 043 044 131 132 132a 133 133a 133b 134 134a 135 135a 135b 136 137 138 139 140 140a 140b 140c 140d 140e 140f 141
    142 143a 143b 143c 143d 143e 143f 143g 144 145 146 147 148 149 150 151 152 153 154 155
""".split()

# The only cases that may have no test, and why. A case does not come onto this list because its test is missing.
NOT_APPLICABLE = {
    "014f": "lets a relying party's instance off the user's unlock: a rule for who certifies instances, not for a device",
    "015": "is about Android and iOS",
    "134a": "asks for a signature by a public key, an error of the matrix; WP_141 has the signature that is meant",
}


def read(paths):
    """The names of the tests that ended, and of those that failed, by the ids in their display names."""
    names, ended, failed = {}, set(), set()
    for path in paths:
        for line in path.open():
            record = json.loads(line)
            payload = record["payload"]
            if record["kind"] == "test" and payload.get("kind") == "function":
                names[payload["id"]] = payload.get("displayName") or payload["name"]
            elif record["kind"] == "event" and payload.get("testID") in names:
                if payload["kind"] == "testEnded":
                    ended.add(payload["testID"])
                elif payload["kind"] == "testSkipped" or (
                        payload["kind"] == "issueRecorded" and not payload.get("issue", {}).get("isKnown")):
                    failed.add(payload["testID"])
    return names, ended - failed, failed


def cases_of(name):
    head = re.match(r"((?:WP_\d+[a-z]? ?)+):", name)
    return re.findall(r"WP_(\d+[a-z]?)", head[1]) if head else []


def main(paths):
    names, passed, failed = read(paths)
    tests = {}
    for identifier, name in names.items():
        for case in cases_of(name):
            tests.setdefault(case, []).append(identifier)
    counts = {"pass": 0, "not applicable": 0, "FAILED": 0, "MISSING": 0}
    for case in CASES:
        ran = [test for test in tests.get(case, []) if test in passed | failed]
        if ran:
            word = "FAILED" if failed.intersection(ran) else "pass"
            why = "; ".join(test.split("/")[0].split(".")[-1] + "." + test.split("/")[1].split("(")[0] for test in ran)
        else:
            word, why = ("not applicable", NOT_APPLICABLE[case]) if case in NOT_APPLICABLE else ("MISSING", "no test ran")
        counts[word] += 1
        print(f"WP_{case:5} {word:14} {why}")
    unknown = sorted(set(tests) - set(CASES))
    for case in unknown:
        print(f"WP_{case:5} is no case of the matrix")
    print(", ".join(f"{count} {word.lower()}" for word, count in counts.items()))
    return 1 if counts["FAILED"] or counts["MISSING"] or unknown else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(main([pathlib.Path(name) for name in sys.argv[1:]]))
