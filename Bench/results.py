# SPDX-License-Identifier: Apache-2.0
"""What the benches write, read again: JSON lines, each with its kind."""
import json
import subprocess
import sys

FLOOR = "raw"


def load(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def start(command, **more):
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True, **more)


def read(process, show):
    """What a bench says until it ends; each record is shown when it comes, and behind a line how fast Tenon is beside it."""
    out, own = [], {}
    for text in process.stdout:
        r, ratio = json.loads(text), None
        if r["kind"] == "line" and r["by"] == "tenon":
            own[r["line"]] = r
        elif r["kind"] == "line" and r["line"] in own:
            ratio = ratio_of(own[r["line"]], r)
        out += [r] if ratio is None else [r, ratio]
        show(r, ratio)
    if process.wait() != 0:
        sys.exit(f"Bench/run: {' '.join(process.args)} failed: {process.returncode}")
    return out


def ratio_of(ours, other):
    """Median and quartiles over the rounds; over 1: Tenon is faster."""
    low, median, high = (round(quantile(paired(other, ours), part), 4) for part in (0.25, 0.5, 0.75))
    return {"kind": "ratio", "backend": other["backend"], "line": other["line"], "peer": other["by"],
            "median": median, "low": low, "high": high}


def of_kind(records, kind):
    return [r for r in records if r["kind"] == kind]


def measured(records):
    """The measured lines by backend, line and who did it."""
    return {(r["backend"], r["line"], r["by"]): r for r in of_kind(records, "line")}


def versions(records):
    """Of the peers; None: it is missing. One that was left out of a build is in the other."""
    out = {}
    for r in of_kind(records, "peer"):
        out[r["name"]] = out.get(r["name"]) or r.get("version")
    return out


def figure(name, what, bound, value, unit="", gate=False):
    """bound: ("<=", n), (">=", n) or None for what is only told; gate: --check fails on it."""
    reached = None
    if bound is not None and value is not None:
        reached = value <= bound[1] if bound[0] == "<=" else value >= bound[1]
    return {"kind": "figure", "figure": name, "what": what, "bound": bound, "value": value, "unit": unit,
            "reached": reached, "gate": gate}


def verdict(figure):
    if figure["value"] is None:
        return f"not measured: {figure['reason']}"
    return {None: "", True: "reached", False: "NOT reached"}[figure["reached"]]


def counted(names):
    """`2 Load, Sign` of `Load Load Sign`, in the order in which they first come."""
    many = {name: names.count(name) for name in names}
    return ", ".join(f"{n} {name}" if n > 1 else name for name, n in many.items())


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
