#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""house.py: how the tree is built, in numbers; what has to be 0 fails.

Files and lines by folder, lengths of functions, runs of six lines that stand in two places, sources that name a service
outside its folders, lines of documents over 120 columns, public symbols without a comment.
"""

import collections
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Where a service may be named: its folders on both sides, and the list of each program.
SERVICES = {"synheart": r"(^|/)Synheart|SynheartAuth|(^|/)(Hosted)?Services\.swift$|^(CSources|include/tenon)/native/"}
RUN = 6


def files():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True).stdout
    return [name for name in names.splitlines() if (ROOT / name).is_file()]


def folder(name):
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def functions_c(lines):
    start = 0
    for number, line in enumerate(lines):
        if line == "{":
            start = number
        elif line == "}" and start:
            yield number - start - 1
            start = 0


def functions_swift(lines):
    head = re.compile(r"^( *)(?:@\w+(?:\(.*\))? )*(?:[a-z]+(?:\(set\))? )*(?:func\b|init[?(<])")
    open_at, indent = None, ""
    for number, line in enumerate(lines):
        found = head.match(line)
        # A protocol's function has no body: the next one begins at the same place.
        if found and (open_at is None or found[1] == indent):
            open_at = None
            if line.rstrip().endswith("}"):
                yield 1
            else:
                open_at, indent = number, found[1]
        elif open_at is not None and line == indent + "}":
            yield number - open_at - 1
            open_at = None


def spread(lengths):
    lengths = sorted(lengths) or [0]
    return f"{statistics.median(lengths):.0f} / {lengths[int(0.95 * (len(lengths) - 1))]} / {lengths[-1]}"


def repeated(texts):
    """Runs of lines that are in two places; a run that goes on counts once."""
    seen, found = {}, 0
    for name, lines in texts.items():
        code = [line.strip() for line in lines if len(line.strip()) > 3 and not re.match(r"\s*(//|\*|/\*|#|import |internal import)", line)]
        last = -RUN
        for at in range(len(code) - RUN + 1):
            run = tuple(code[at:at + RUN])
            first = seen.setdefault(run, (name, at))
            if first != (name, at) and at - last >= RUN:
                found, last = found + 1, at
    return found


def undocumented(name, lines):
    public = re.compile(r"^\s*(?:@\S+ )*public (?!import|extension)[a-z ]*(?:func|var|let|struct|class|enum|init|static|protocol|typealias)")
    for number, line in enumerate(lines):
        if not public.match(line) or re.search(r"\bpublic (?:func hash\(into|static func [=<~]+|var description|var debugDescription|var hashValue)", line):
            continue
        before = number - 1
        while before >= 0 and lines[before].strip().startswith("@"):
            before -= 1
        if not lines[before].strip().startswith("///"):
            yield f"{name}:{number + 1}"


def too_long(name):
    """Lines over 120 columns, but for tables and for what a program printed."""
    printed = False
    for number, line in enumerate((ROOT / name).read_text().splitlines()):
        printed ^= line.startswith("```")
        if len(line) > 120 and not printed and not line.startswith("|"):
            yield f"{name}:{number + 1}"


def main():
    sources = {name: (ROOT / name).read_text().splitlines() for name in files() if re.search(r"\.(swift|c|h)$", name)}
    product = {name: lines for name, lines in sources.items() if re.match(r"(CSources|include|Sources)/", name)}
    rows = collections.defaultdict(list)
    for name, lines in sources.items():
        rows[folder(name)].append(len(lines))
    print(f"{'folder':32} {'files':>5} {'lines':>7} {'median':>7}")
    for name, lengths in sorted(rows.items()):
        print(f"{name:32} {len(lengths):5} {sum(lengths):7} {statistics.median(lengths):7.0f}")
    for kind, of, ending in (("C", functions_c, (".c", ".h")), ("Swift", functions_swift, (".swift",))):
        mine = [lines for name, lines in product.items() if name.endswith(ending)]
        lengths = [length for lines in mine for length in of(lines)]
        print(f"{kind}: {len(mine)} files, {sum(map(len, mine))} lines, {len(lengths)} functions, median / p95 / longest {spread(lengths)}")
    tests = sum(len((ROOT / name).read_text(errors="replace").splitlines()) for name in files()
                if re.match(r"(Tests|Bench)/", name) and not re.match(r"Tests/(Vectors|Fuzz/corpus|Broken)/|Bench/baselines", name))
    print(f"tests and benches: {tests} lines")
    print(f"runs of {RUN} lines that stand twice: {repeated(product)}")
    zero = {}
    for service, place in SERVICES.items():
        zero[f"sources that name {service} outside its folders"] = [
            name for name, lines in product.items() if not re.search(place, name) and re.search(service, "\n".join(lines), re.IGNORECASE)]
    zero["lines of documents over 120 columns"] = [one for name in files() if name.endswith(".md") for one in too_long(name)]
    zero["public symbols without a comment"] = [
        one for name, lines in product.items() if name.endswith(".swift") for one in undocumented(name, lines)]
    for what, places in zero.items():
        print(f"{what}: {len(places)}" + "".join(f"\n    {place}" for place in places[:8]) + ("\n    ..." if len(places) > 8 else ""))
    return 1 if any(zero.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
