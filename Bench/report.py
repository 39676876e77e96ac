#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.py RESULTS.json PAGE.html: one page with plots from what Bench/run wrote. It loads nothing from anywhere.
report.py RESULTS.json PICTURE.json PICTURE.svg: what the README's picture shows of them, and the picture.
report.py PICTURE.json PICTURE.svg: the picture again."""

import re
import sys

sys.dont_write_bytecode = True
import figures
import picture
import results
from plots import FLOORS, OURS, STYLE, THEIRS, bars, distribution, dots, duration, fold, number, table, text

# What people call the lines.
LINES = {
    "tpm-sign": "signature",
    "tpm-sign-salted": "signature, HMAC",
    "tpm-sign-encrypted": "signature, encrypted",
    "tpm-attest": "proof",
    "tpm-first-handle": "first signature, persistent copy",
    "tpm-first-srk": "first signature, storage key",
    "tpm-first-primary": "first signature, new primary",
    "flow-request": "signed request",
    "flow-maintain": "maintenance",
    "flow-rotate": "rotation",
    "flow-register": "registration",
    "flow-register-docs": "registration, dialect docs",
    "flow-reset": "reset",
}
LIFE = (
    "tpm-sign",
    "tpm-first-handle",
    "tpm-first-srk",
    "tpm-first-primary",
    "flow-maintain",
    "flow-rotate",
    "flow-register",
    "flow-register-docs",
)
COLOUR_OF_DELAY = {0: OURS, 17: 3, 35: 4, 200: 1}
COLOUR_OF_PEER = {
    "tenon": OURS,
    results.FLOOR: FLOORS,
    "tpm2-openssl": 1,
    "tpm2-pkcs11": 3,
    "esys-hmac": 4,
}  # where bars have no names
NAMES = {
    "tenon": "Tenon",
    "raw": "the floor",
    "raw-load": "the floor, loading the key",
    "esys": "ESYS",
    "esys-hmac": "ESYS, no salt",
}


def name_of(by):
    return NAMES.get(by, by)


def colour_of(by):
    return {"tenon": OURS, results.FLOOR: FLOORS}.get(by, THEIRS)


def quartiles(values):
    return tuple(results.quantile(values, part) for part in (0.25, 0.5, 0.75))


def first_build(records):
    """Peers with a TPM run in one build."""
    return next((r["backend"] for r in results.of_kind(records, "line")), "")


def in_order(lines):
    """Signatures by line: Tenon, the floor, then the peers as they ran."""
    ranks = {line: i for i, line in enumerate(LINES)}
    return sorted(lines, key=lambda key: (ranks[key[1]], {"tenon": 0, results.FLOOR: 1}.get(key[2], 2)))


def speed_plot(records):
    lines = results.measured(records)
    build = first_build(records)
    rows = []
    for key in in_order(key for key in lines if key[0] == build and key[1] in LINES and key[1] != "tpm-attest"):
        floor = lines.get((build, key[1], results.FLOOR))
        if floor is None or key[2] == results.FLOOR and key[1] != "tpm-sign":
            continue
        low, middle, high = quartiles(results.paired(floor, lines[key]))
        rows.append(
            (
                f"{name_of(key[2])}: {LINES[key[1]]}",
                middle,
                (low, high),
                colour_of(key[2]),
                f"{middle:.2f} ({low:.2f}-{high:.2f})",
            )
        )
    ours = next((r for r in rows if r[0] == "Tenon: signature"), None)
    if ours is None:
        return ""
    caption = (
        f"Tenon's warm signature has {ours[1]:.2f} of the speed of the bare TPM2_Sign; the thin line spans the middle half of the rounds, "
        "so bars whose lines overlap cannot be told apart."
    )
    return "<h2>Signatures a second, beside the bare TPM2_Sign</h2>" + bars("signatures a second", rows, caption)


def commands_plot(records):
    build, seen = first_build(records), {}
    for r in results.of_kind(records, "line") + results.of_kind(records, "commands"):
        is_shown = r["backend"] == build and r["line"] in LINES or r["line"].startswith("flow-")
        if is_shown and r["by"] not in (results.FLOOR, "raw-load") and r.get("commands"):
            count = r["commands"] if r["kind"] == "line" else len(r["commands"].split())
            seen.setdefault((build, r["line"], r["by"]), count)
    rows = [
        (f"{name_of(by)}: {LINES[line]}", seen[build, line, by], None, colour_of(by), f"{seen[build, line, by]:g}")
        for build, line, by in in_order(key for key in seen if key[1] in LINES)
    ]
    if not rows:
        return ""
    caption = "A chip takes milliseconds for each command, so the number of commands is what a user waits for."
    return "<h2>TPM commands of each operation</h2>" + bars("TPM commands", rows, caption)


def host_rows(records):
    """Instructions where they were counted, else CPU time: the line, who, the value; and how a value is written."""
    build = first_build(records)
    counts = {tuple(r["name"].split()): r["count"] for r in results.of_kind(records, "count")}
    found = [
        (line, by, n)
        for (backend, line, by), n in ((key, n) for key, n in counts.items() if len(key) == 3)
        if backend == build and line in LINES
    ]
    if found:
        return found, lambda n: f"{n:,.0f}", "instructions"
    lines = results.measured(records)
    return (
        [
            (line, by, r["cpu_ns"])
            for (backend, line, by), r in lines.items()
            if backend == build and line.startswith("tpm-sign") and line in LINES
        ],
        duration,
        "CPU time",
    )


def host_plot(records):
    found, show, what = host_rows(records)
    if not found:
        return ""
    keys = in_order(("", line, by) for line, by, _ in found)
    values = {(line, by): n for line, by, n in found}
    rows = [
        (
            LINES[line],
            [(values[line, by], COLOUR_OF_PEER.get(by, THEIRS), name_of(by)) for _, other, by in keys if other == line],
        )
        for line in dict.fromkeys(key[1] for key in keys)
    ]
    ours = values.get(("tpm-sign", "tenon"))
    mine = (
        f"Tenon's warm signature costs {show(ours)}" if ours else f"Tenon's sessions cost the {what} of the blue dots"
    )
    caption = f"{mine}{' instructions' if ours and what == 'instructions' else ''} of the host's CPU, beside what the TPM does; the scale is logarithmic."
    return f"<h2>Work of the host for a signature, in {what}</h2>" + dots("work of the host", rows, show, caption)


def life_rows(records):
    """Each step, with its time as measured and with each command as much longer as was simulated."""
    lines = [r for r in results.of_kind(records, "line") if r["by"] == "tenon"]
    out = []
    for step in LIFE:
        timed = {}
        for r in lines:
            if r["line"].split("@")[0] == step:
                timed.setdefault(results.latency_of(r["line"]), r)
        if timed:
            points = [
                (
                    r["p50_ns"],
                    COLOUR_OF_DELAY.get(latency, THEIRS),
                    f"{latency} ms more for each command" if latency else "as measured",
                )
                for latency, r in sorted(timed.items())
            ]
            commands = next((r["commands"] for r in timed.values() if "commands" in r), None)
            out.append(
                (
                    (
                        f"{LINES[step]}, {commands:g} command{'s' if commands != 1 else ''}"
                        if commands is not None
                        else LINES[step]
                    ),
                    points,
                )
            )
    return out


def life_plot(records):
    rows = life_rows(records)
    if not rows:
        return ""
    most = max(rows, key=lambda row: row[1][-1][0])
    value, _, name = most[1][-1]
    is_simulated = any(len(points) > 1 for _, points in rows)
    step = most[0].rpartition(", ")[0] or most[0]
    caption = (
        f"{'As measured' if name == 'as measured' else 'With ' + name}, the longest step ({step}) takes {duration(value)}"
        + ("; the delays are simulated, on a software TPM." if is_simulated else ".")
    )
    return "<h2>A device's life, in commands and in time</h2>" + dots("a device's life", rows, duration, caption)


def figures_table(records):
    rows, last = [], None
    for f in results.of_kind(records, "figure"):
        if f["figure"] != last:
            last = f["figure"]
            rows.append([("p", last), ("words", figures.WORDS.get(last, "")), ("n", ""), ("n", ""), ""])
        value = "" if f["value"] is None else f"{f['value']:{',.0f' if f['value'] >= 1000 else '.4g'}} {f['unit']}"
        bound = "" if f["bound"] is None else f"{f['bound'][0]} {f['bound'][1]:g}"
        what = re.sub("^  ", "\u2013 ", f["what"])
        rows.append(
            ["", what, ("n", bound), ("n", value), ("missed" if f["reached"] is False else "", results.verdict(f))]
        )
    heading = ["", "figure", ("n", "bound"), ("n", "value"), "verdict"]
    return "<h2>The figures</h2>" + table(heading, rows, "figures") if rows else ""


def contests(records):
    """The lines with more than one contender, of one build: those with a TPM first, then as they were run."""
    out = {}
    for (backend, line, _), r in results.measured(records).items():
        out.setdefault((backend, line), []).append(r)
    found = [(key, rows) for key, rows in out.items() if len(rows) > 1]
    return dict(sorted(found, key=lambda item: "commands" not in item[1][0]))


def rates(title, records):
    return bars(
        title,
        [(label, r["per_second"], None, colour_of(r["by"]), f"{number(r['per_second'])} /s") for label, r in records],
    )


def group_of(line):
    if not line.startswith("tpm-"):
        return "each line without a TPM"
    return "each line with a slower TPM" if results.latency_of(line) else "each line with a TPM"


def folded_lines(records):
    """Operations a second, and the time of one by percentile."""
    groups = {}
    for (backend, line), rows in contests(records).items():
        name = f"{line}, {backend} build"
        ordered = sorted(rows, key=lambda r: r["p50_ns"])
        groups.setdefault(f"{group_of(line)}, {backend} build", []).extend(
            [
                f"<h3>{text(line)}</h3>",
                rates(f"throughput {name}", [(r["by"], r) for r in ordered]),
                distribution(f"distribution {name}", rows),
            ]
        )
    return [fold(name, parts) for name, parts in groups.items()]


def folded_rest(records):
    out = []
    for backend in dict.fromkeys(r["backend"] for r in results.of_kind(records, "line")):
        for pattern, title in (
            (".*-threads-[0-9]+", "many threads at one key"),
            ("request-[0-9].*", "whole requests, by size of the body"),
            ("authority-.*", "answers of the authority, by the clock"),
        ):
            rows = [
                (r["line"], r)
                for r in results.of_kind(records, "line")
                if r["backend"] == backend and r["by"] == "tenon" and re.fullmatch(pattern, r["line"])
            ]
            if rows:
                out.append(fold(f"{title}, {backend} build", [rates(f"{title} {backend}", rows)]))
    return out


def folded_flows(records):
    """What each step of a device's life sends."""
    rows = []
    for r in results.of_kind(records, "commands"):
        if r["line"].startswith("flow-"):
            sent = [
                part for part in (results.counted(r["commands"].split()), ", ".join(r.get("exchanges", []))) if part
            ]
            rows.append([LINES.get(r["line"], r["line"]), "; ".join(sent) or "nothing"])
    return [fold("what each step of a device's life sends", [table(["step", "what is sent"], rows)])] if rows else []


def head(records):
    machine = next(iter(results.of_kind(records, "machine")), {})
    tpm = machine.get("tpm", "a software TPM")
    return (
        f"<h1>Tenon {text(machine.get('tenon', ''))}: benches</h1>"
        f"<p>{text(machine.get('cpu', ''))}, {text(machine.get('compiler', ''))}, glibc {text(machine.get('glibc', ''))}. "
        f"TPM: {text(tpm)}. Ratios and counts hold elsewhere; times belong to this machine on that day.</p>"
    )


def folded_peers(records):
    rows = [[name_of(name), version or "missing"] for name, version in results.versions(records).items()]
    return [fold("who took part", [table(["who", "version"], rows)])] if rows else []


def page(records):
    parts = [
        speed_plot(records),
        commands_plot(records),
        host_plot(records),
        life_plot(records),
        figures_table(records),
        "<h2>Everything that was measured</h2>",
        *folded_flows(records),
        *folded_lines(records),
        *folded_rest(records),
        *folded_peers(records),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Tenon: benches</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>\n{STYLE}</style></head><body>{head(records)}{''.join(parts)}</body></html>\n"
    )


def write(records, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(page(records))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        picture.write(picture.of(results.load(sys.argv[1])), sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 3 and sys.argv[2].endswith(".svg"):
        picture.draw(sys.argv[1], sys.argv[2])
    elif len(sys.argv) == 3:
        write(results.load(sys.argv[1]), sys.argv[2])
    else:
        sys.exit(__doc__)
