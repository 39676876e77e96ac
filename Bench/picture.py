# SPDX-License-Identifier: Apache-2.0
"""The picture of the README: signatures a second at a slow chip, beside the host's CPU time for one."""

import html
import json

import results

DELAY = 35  # milliseconds, as of a chip; simulated
# At most ten bars: the line, who does it, and what is written beside it.
SHOWN = (
    ("tpm-sign", "tenon", "Tenon"),
    ("tpm-sign", "raw", "the floor: a bare TPM2_Sign"),
    ("tpm-sign-encrypted", "tenon", "Tenon, encrypted session"),
    ("tpm-first-srk", "tenon", "Tenon, new process"),
    ("tpm-sign", "esys", "ESYS"),
    ("tpm-sign-encrypted", "esys", "ESYS, encrypted session"),
    ("tpm-first-srk", "esys", "ESYS, key loaded each time"),
    ("tpm-sign", "tpm2-openssl", "tpm2-openssl"),
    ("tpm-sign", "tpm2-pkcs11", "tpm2-pkcs11"),
)
COLOURS = {"tenon": 0, "raw": 1}
ROW, TOP, LABELS, PANEL, GAP, VALUES = 24, 62, 200, 190, 40, 62
WIDTH = LABELS + 2 * (PANEL + VALUES) + GAP

STYLE = """svg { color-scheme: light dark; --ink: #1c2330; --soft: #5b6474; --paper: #ffffff; --c0: #1f6feb; --c1: #1a7f37; --c2: #8a94a3; }
@media (prefers-color-scheme: dark) { svg { --ink: #e8ecf2; --soft: #9aa4b2; --paper: #12161c; --c0: #58a6ff; --c1: #56d364; --c2: #7d8795; } }
text { fill: var(--ink); font: 13px system-ui, sans-serif; } .end { text-anchor: end; } .soft { fill: var(--soft); font-size: 12px; }
.paper { fill: var(--paper); } .f0 { fill: var(--c0); } .f1 { fill: var(--c1); } .f2 { fill: var(--c2); } line { stroke: var(--ink); stroke-width: 1.5; }"""


def of(records):
    """What the picture shows of a run; None where a side did not take part."""
    lines = {(line, by): r for (backend, line, by), r in reversed(results.measured(records).items())}
    machine = results.of_kind(records, "machine")[0]
    rows = []
    for line, by, label in SHOWN:
        slow, plain = lines.get((f"{line}@{DELAY}ms", by)), lines.get((line, by))
        if slow is None or plain is None:
            continue
        rates = [1e9 / results.quantile(slow["rounds_ns"], part) for part in (0.75, 0.5, 0.25)]
        rows.append(
            {
                "label": label,
                "by": by,
                "per_second": [round(rate, 1) for rate in rates],
                "cpu_us": round(plain["cpu_ns"] / 1e3, 1),
                "commands": plain["commands"],
                "version": results.versions(records).get(by) or machine["tenon"],
            }
        )
    return {"cpu": machine["cpu"], "delay_ms": DELAY, "rows": rows}


def bar(x, y, length, by):
    return (
        f'<rect class="f{COLOURS.get(by, 2)}" x="{x:.1f}" y="{y + 4}" width="{max(length, 1):.1f}" height="{ROW - 9}"/>'
    )


def rows_of(shown):
    left, right = LABELS, LABELS + PANEL + VALUES + GAP
    most = max(r["per_second"][2] for r in shown["rows"])
    slowest = max(r["cpu_us"] for r in shown["rows"])
    out = []
    for i, r in enumerate(shown["rows"]):
        y = TOP + i * ROW
        low, middle, high = (PANEL * rate / most for rate in r["per_second"])
        cpu = PANEL * r["cpu_us"] / slowest
        out.append(
            f'<text class="end" x="{left - 8}" y="{y + 16}">{html.escape(r["label"])}</text>'
            + bar(left, y, middle, r["by"])
            + f'<line x1="{left + low:.1f}" x2="{left + high:.1f}" y1="{y + 11}" y2="{y + 11}"/>'
            + f'<text x="{left + max(middle, high) + 6:.1f}" y="{y + 16}">{r["per_second"][1]:.1f}</text>'
            + bar(right, y, cpu, r["by"])
            + f'<text x="{right + cpu + 6:.1f}" y="{y + 16}">{r["cpu_us"]:,.0f} us</text>'
        )
    return out


def svg(shown):
    height = TOP + len(shown["rows"]) * ROW + 6
    right = LABELS + PANEL + VALUES + GAP
    title = f"TPM signatures a second at a simulated chip, and the host's CPU time for one: {len(shown['rows'])} ways"
    heads = (
        f'<text x="{LABELS}" y="16">signatures a second</text><text class="soft" x="{LABELS}" y="34">each command {shown["delay_ms"]} ms longer</text>'
        f'<text class="soft" x="{LABELS}" y="50">(simulated)</text>'
        f'<text x="{right}" y="16">host CPU a signature</text><text class="soft" x="{right}" y="34">shorter is better</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" width="{WIDTH + 24}" height="{height + 12}" '
        f'viewBox="-12 -6 {WIDTH + 24} {height + 12}"><style>{STYLE}</style>'
        f'<rect class="paper" x="-12" y="-6" width="{WIDTH + 24}" height="{height + 12}"/>{heads}{"".join(rows_of(shown))}</svg>\n'
    )


def write(shown, source, path):
    with open(source, "w", encoding="utf-8") as file:
        file.write(json.dumps(shown, indent=1, sort_keys=True) + "\n")
    draw(source, path)


def draw(source, path):
    with open(source, encoding="utf-8") as file:
        shown = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        file.write(svg(shown))
