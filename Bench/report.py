#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.py RESULTS.json PAGE.html: one page with plots from what Bench/run wrote. It loads nothing from anywhere.
report.py BASELINE.json PICTURE.svg: the committed ratios of one build to the floor of TPM signing, as one picture."""
import html
import json
import math
import re
import sys

sys.dont_write_bytecode = True
import results

WIDTH, ROW, BARS = 680, 22, 300  # bars have at least so much room beside their labels
PLOT_HEIGHT, MARGIN, LEFT = 260, 40, 60
LETTER = 7.4  # the width that one may take, at 13px
COLOURS = 6  # of the style's; no line has more contenders

# What the picture shows, and what it says behind a name.
SHOWN = {"tpm-sign": "", "tpm-sign-salted": ", HMAC session", "tpm-sign-encrypted": ", encrypted session",
         "tpm-first-srk": ", key loaded each time", "tpm-first-primary": ", primary made each time"}

NAMES = {"tenon": "Tenon", "esys": "ESYS", "esys-hmac": "ESYS, unsalted"}

STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #6a7383; --paper: #ffffff; --line: #d9dee6;
  --c0: #1f6feb; --c1: #b35900; --c2: #1a7f37; --c3: #8250df; --c4: #bf3989; --c5: #57606a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf2; --soft: #9aa4b2; --paper: #12161c; --line: #2c3440;
  --c0: #58a6ff; --c1: #f0a04b; --c2: #56d364; --c3: #bc8cff; --c4: #ff7ebe; --c5: #aab4c0; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 860px; padding: 0 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; } h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p { color: var(--soft); } a { color: var(--c0); } figure { margin: 0 0 1rem; overflow-x: auto; }
svg { display: block; width: 100%; min-width: 560px; max-width: 860px; height: auto; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg .soft { fill: var(--soft); font-size: 12px; } svg .axis { stroke: var(--line); } svg .end { text-anchor: end; }
svg .paper { fill: var(--paper); } svg .middle { text-anchor: middle; } svg polyline { fill: none; stroke-width: 2; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
@media (max-width: 600px) { .figures tr { display: grid; grid-template-columns: 2.6rem 1fr 1fr 1.2fr;
  border-bottom: 1px solid var(--line); } .figures td { border: 0; } .figures td:nth-child(2) { grid-column: 2 / -1; }
  .figures td:nth-child(3) { grid-column: 2; text-align: left; } .figures tr:first-child { display: none; } }
td.n, th.n { text-align: right; white-space: nowrap; } .name { white-space: nowrap; } .missed { white-space: nowrap; color: var(--c1); font-weight: 600; }
""" + "".join(f".f{i} {{ fill: var(--c{i}); }} .s{i} {{ stroke: var(--c{i}); }}\n" for i in range(COLOURS))


def text(value):
    return html.escape(str(value))


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def room(texts):
    """How wide the longest may be."""
    return LETTER * max(map(len, texts), default=0) + 8


def bars(title, rows):
    """rows: label, value, colour, what stands behind the bar. The longest fills the width."""
    labels, values = room([row[0] for row in rows]), room([row[3] for row in rows])
    width = max(WIDTH, labels + BARS + values)
    scale = (width - labels - values) / (max(row[1] for row in rows) or 1)
    out = [f'<figure><svg class="bars" role="img" aria-label="{text(title)}" viewBox="0 0 {width:.0f} {len(rows) * ROW + 4}">']
    for i, (label, value, colour, shown) in enumerate(rows):
        y, length = i * ROW, max(1.0, scale * value)
        out.append(f'<text class="end" x="{labels - 8:.1f}" y="{y + 15}">{text(label)}</text>'
                   f'<rect class="f{colour}" x="{labels:.1f}" y="{y + 3}" width="{length:.1f}" height="{ROW - 6}"/>'
                   f'<text x="{labels + length + 6:.1f}" y="{y + 15}">{text(shown)}</text>')
    return "".join(out) + "</svg></figure>"


def curve_points(percentiles, low, high):
    high_enough = PLOT_HEIGHT - 2 * MARGIN
    points = []
    for i, value in enumerate(percentiles):
        x = LEFT + (WIDTH - LEFT - 20) * i / (len(percentiles) - 1)
        y = PLOT_HEIGHT - MARGIN - high_enough * (math.log(max(value, low)) - math.log(low)) / (math.log(high) - math.log(low))
        points.append(f"{x:.1f},{y:.1f}")
    return points


def ticks(low, high):
    """1, 2 and 5 of each power of ten between, thinned when there are many."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high < 500 * low else (1,)
    return [step * 10**e for e in exponents for step in steps if low <= step * 10**e <= high]


def distribution(title, contenders):
    """Time at each hundredth of the samples, on a logarithmic scale."""
    low = min(r["percentiles_ns"][0] for r in contenders) * 0.9
    high = max(r["percentiles_ns"][99] for r in contenders) * 1.1
    left, right = LEFT, WIDTH - 20
    out = [f'<figure><svg class="distribution" role="img" aria-label="{text(title)}" viewBox="0 0 {WIDTH} {PLOT_HEIGHT + ROW}">']
    for value in ticks(low, high):
        y = curve_points([value, value], low, high)[0].split(",")[1]
        out.append(f'<line class="axis" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>'
                   f'<text class="soft end" x="{left - 6}" y="{float(y) + 4:.1f}">{duration(value)}</text>')
    for percent in (0, 25, 50, 75, 90, 99):
        out.append(f'<text class="soft middle" x="{left + (right - left) * percent / 99:.1f}" '
                   f'y="{PLOT_HEIGHT - MARGIN + 18}">p{percent}</text>')
    for i, r in enumerate(contenders):
        colour, x, y = i % COLOURS, left + i * (WIDTH - left) / COLOURS, PLOT_HEIGHT
        # The hundredth hundredth is the one worst sample: it says what else the machine did.
        out.append(f'<polyline class="s{colour}" points="{" ".join(curve_points(r["percentiles_ns"][:100], low, high))}"/>'
                   f'<line class="s{colour}" stroke-width="3" x1="{x}" x2="{x + 22}" y1="{y}" y2="{y}"/>'
                   f'<text x="{x + 28}" y="{y + 4}">{text(r["by"])}</text>')
    return "".join(out) + "</svg></figure>"


def contests(records):
    """The lines with more than one contender, of one build: those with a TPM first, then as they were run."""
    out = {}
    for (backend, line, _), r in results.measured(records).items():
        out.setdefault((backend, line), []).append(r)
    found = [(key, rows) for key, rows in out.items() if len(rows) > 1]
    return dict(sorted(found, key=lambda item: "commands" not in item[1][0]))


def throughput(rows):
    """Fastest first."""
    ordered = sorted(rows, key=lambda r: r["p50_ns"])
    return [(r["by"], r["per_second"], ours_or_not(r), f"{number(r['per_second'])} /s") for r in ordered]


def ours_or_not(record):
    return 0 if record["by"] == "tenon" else 5


def command_rows(records, backend):
    lines = [r for r in results.of_kind(records, "line") if r["backend"] == backend and r["by"] != results.FLOOR]
    return [(f"{r['line']}, {r['by']}", r["commands"], ours_or_not(r), f"{r['commands']:g}")
            for r in lines if r["line"].startswith("tpm-") and r.get("commands", 0) > 0 and "threads" not in r["line"] and "@" not in r["line"]]


def alone(records, backend, pattern):
    rows = [r for r in results.of_kind(records, "line")
            if r["backend"] == backend and r["by"] == "tenon" and re.fullmatch(pattern, r["line"])]
    return [(r["line"], r["per_second"], 0, f"{number(r['per_second'])} /s") for r in rows]


def flow_table(records):
    """What each step of a device's life sends."""
    lines = {line: r for (_, line, _), r in results.measured(records).items()}
    out = [heading("the life of a device"), "<figure><table><tr><th>step</th><th class=n>time</th><th>what is sent</th></tr>"]
    for r in results.of_kind(records, "commands"):
        if r["line"].startswith("flow-"):
            time = duration(lines[r["line"]]["p50_ns"]) if r["line"] in lines else ""
            sent = [part for part in (results.counted(r["commands"].split()), ", ".join(r.get("exchanges", []))) if part]
            out.append(f"<tr><td class=name>{text(r['line'])}</td><td class=n>{time}</td><td>{'<br>'.join(map(text, sent)) or 'nothing'}</td></tr>")
    return out + ["</table></figure>"] if len(out) > 2 else []


def figures_table(records):
    rows = []
    for f in results.of_kind(records, "figure"):
        value = "" if f["value"] is None else f"{f['value']:{',.0f' if f['value'] >= 1000 else '.4g'}} {f['unit']}"
        bound = "" if f["bound"] is None else f"{f['bound'][0]} {f['bound'][1]:g}"
        kind = ' class="missed"' if f["reached"] is False else ""
        what = re.sub("^  ", "\u2013 ", f["what"])
        rows.append(f"<tr><td class=name>{text(f['figure'])}</td><td>{text(what)}</td><td class=n>{text(bound)}</td>"
                    f"<td class=n>{text(value)}</td><td{kind}>{text(results.verdict(f))}</td></tr>")
    if not rows:
        return ""
    return (heading("figures") + "<figure><table class=figures><tr><th></th><th>what</th><th class=n>bound</th><th class=n>value</th><th></th></tr>"
            + "".join(rows) + "</table></figure>")


def head(records):
    machine = next(iter(results.of_kind(records, "machine")), {})
    listed = "; ".join(f"{text(name)} {text(version or 'missing')}" for name, version in results.versions(records).items())
    return (f"<h1>Tenon {text(machine.get('tenon', ''))}: benches</h1>"
            f"<p>{text(machine.get('cpu', ''))}, {text(machine.get('compiler', ''))}, glibc {text(machine.get('glibc', ''))}. "
            f"Peers: {listed}. A software TPM answers in half a millisecond where a chip takes 17 to 200: "
            f"there, the number of TPM commands decides. Ratios count, times belong to this machine on that day.</p>")


def heading(name):
    return f'<h2 id="{text(anchor(name))}">{text(name)}</h2>'


def anchor(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


def contents(parts):
    names = [name for part in parts for name in re.findall(r'<h2 id="[^"]*">(.*?)</h2>', part)]
    return "<p>" + " · ".join(f'<a href="#{anchor(name)}">{name}</a>' for name in names) + "</p>"


def page(records):
    parts = [figures_table(records), *flow_table(records)]
    backends = list(dict.fromkeys(r["backend"] for r in results.of_kind(records, "line")))
    for backend in backends:
        commands = command_rows(records, backend)
        if commands:
            parts += [heading(f"TPM commands an operation, {backend} build"), bars(f"commands {backend}", commands)]
    for (backend, line), rows in contests(records).items():
        name = f"{line}, {backend} build"
        parts += [heading(name), "<h3>operations a second</h3>", bars(f"throughput {name}", throughput(rows)),
                  "<h3>time of an operation, by percentile</h3>", distribution(f"distribution {name}", rows)]
    for backend in backends:
        for pattern, title in ((".*-threads-[0-9]+", "many threads at one key"), ("request-[0-9].*", "whole requests, by size of the body"),
                               ("authority-.*", "answers of the authority, by the clock")):
            rows = alone(records, backend, pattern)
            if rows:
                parts += [heading(f"{title}, {backend} build"), "<h3>operations a second</h3>",
                          bars(f"{title} {backend}", rows)]
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Tenon: benches</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<style>{STYLE}</style></head><body>{head(records)}{contents(parts)}{''.join(parts)}</body></html>\n")


def floor_rows(baseline, backend="mbedtls"):
    """A baseline holds Tenon's speed beside each peer: what is Tenon's beside the floor gives the peer's beside it."""
    ratios = {tuple(name.split()): value for name, value in baseline["ratios"].items()}
    out = [("the bare TPM2_Sign", 1.0, 2)]
    for (build, line, peer), value in ratios.items():
        ours = ratios.get((build, line, results.FLOOR))
        if build != backend or ours is None or line not in SHOWN or peer.startswith(results.FLOOR + "-"):
            continue
        by, speed = ("tenon", ours) if peer == results.FLOOR else (peer, ours / value)
        out.append((NAMES.get(by, by) + SHOWN[line], speed, 0 if by == "tenon" else 5))
    ordered = sorted(out, key=lambda row: (-row[1], row[2] != 2))
    return [(*row, f"{row[1]:.2f}") for row in ordered]


def picture(baseline):
    plot = bars("speed of a signature", floor_rows(baseline))
    width, height = (int(n) for n in re.search(r'viewBox="0 0 (\d+) (\d+)"', plot).groups())
    rows = re.search(r"<svg[^>]*>(.*)</svg>", plot).group(1)
    title = "TPM signatures a second, beside the bare TPM2_Sign over the same wire (swtpm; longer is faster)"
    style = STYLE.replace(":root {", "svg {")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" width="{width}" height="{height + 40}" '
            f'viewBox="-12 -32 {width + 24} {height + 40}"><style>{style}</style>'
            f'<rect class="paper" x="-12" y="-32" width="{width + 24}" height="{height + 40}"/>'
            f'<text x="0" y="-12">{title}</text>{rows}</svg>\n')


def write_picture(baseline, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(picture(baseline))


def write(records, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(page(records))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[2].endswith(".svg"):
        with open(sys.argv[1], encoding="utf-8") as source:
            write_picture(json.load(source), sys.argv[2])
    else:
        write(results.load(sys.argv[1]), sys.argv[2])
