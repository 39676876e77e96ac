# SPDX-License-Identifier: Apache-2.0
"""What Bench/run writes, read again: JSON lines, each with its kind."""
import json

FLOOR = "raw"


def load(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def of_kind(records, kind):
    return [r for r in records if r["kind"] == kind]


def measured(records):
    """The measured lines by backend, line and who did it."""
    return {(r["backend"], r["line"], r["by"]): r for r in of_kind(records, "line")}


def verdict(figure):
    if figure["value"] is None:
        return f"not measured: {figure['reason']}"
    return {None: "", True: "reached", False: "NOT reached"}[figure["reached"]]


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


def paired(a, b):
    """Round by round, the times of a over those of b: what disturbed the machine disturbed both."""
    return [x / y for x, y in zip(a["rounds_ns"], b["rounds_ns"])]


def latency_of(line):
    """Milliseconds that each TPM command took longer."""
    return int(line.partition("@")[2].removesuffix("ms") or 0)


def beside_floor(lines):
    """Each line with a TPM that the floor took part in: its key, its record, its speed beside the floor in each round.
    The fastest first; a slower TPM comes behind."""
    out = []
    for (backend, line, by), record in lines.items():
        floor = lines.get((backend, line, FLOOR))
        if floor is not None and (by != FLOOR or line == "tpm-sign"):
            out.append(((backend, line, by), record, paired(floor, record)))
    return sorted(out, key=lambda row: (latency_of(row[0][1]), -quantile(row[2], 0.5)))
