#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""verify_log.py DIR: checks a KERI log as `tenon auths log --out DIR` writes it, and prints the identifier.

The folder has 0.json with its attachment 0.att, 1.json with 1.att, and so on. It needs tenon.py beside it."""

import itertools
import os
import sys
from typing import Iterator, Tuple

import tenon


def read(folder: str) -> Iterator[Tuple[bytes, bytes]]:
    for number in itertools.count():
        path = os.path.join(folder, str(number))
        if not os.path.exists(path + ".json"):
            return
        with open(path + ".json", "rb") as event, open(path + ".att", "rb") as attachment:
            yield event.read(), attachment.read().strip()


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: verify_log.py DIR", file=sys.stderr)
        return 1
    try:
        print(tenon.Library(os.environ.get("LIBTENON", "libtenon.so.0")).did_of(read(sys.argv[1])))
    except tenon.TenonError as error:
        print(f"refused: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
