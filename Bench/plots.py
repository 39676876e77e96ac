# SPDX-License-Identifier: Apache-2.0
"""The parts of a page: bars and dots that fit any width, curves, tables. They load nothing from anywhere."""

import html
import math
import pathlib

# The command `tenon bench --html` writes its page in the same style.
STYLE = (pathlib.Path(__file__).resolve().parent.parent / "Sources/TenonBench/page.css").read_text(encoding="utf-8")
COLOURS = 6  # of the style's; no line has more contenders
OURS, FLOORS, THEIRS = 0, 2, 5  # the colours of Tenon, of the floor and of a peer
WIDTH, HEIGHT, LEFT, RIGHT, BELOW = 680, 220, 60, 20, 22  # of a plot with curves


def text(value):
    return html.escape(str(value))


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def figure(title, rows, caption="", kind="plot"):
    below = f"<figcaption>{text(caption)}</figcaption>" if caption else ""
    return f'<figure class="{kind}" aria-label="{text(title)}">{"".join(rows)}{below}</figure>'


def row(label, marks, value):
    return (
        f'<div class="row"><span class="label">{text(label)}</span><span class="track">{"".join(marks)}</span>'
        f'<span class="value">{text(value)}</span></div>'
    )


def bars(title, rows, caption=""):
    """rows: label, value, its low and high or None, colour, what stands behind the bar. The longest fills the width."""
    most = max((r[2][1] if r[2] else r[1] for r in rows), default=1) or 1
    out = []
    for label, value, interval, colour, shown in rows:
        marks = [f'<i class="bar f{colour}" style="width:{100 * value / most:.2f}%"></i>']
        if interval:
            low, high = (100 * end / most for end in interval)
            marks.append(f'<i class="interval" style="left:{low:.2f}%;width:{max(high - low, 0.2):.2f}%"></i>')
        out.append(row(label, marks, shown))
    return figure(title, out, caption)


def scale(values):
    """Whole powers of ten around the values."""
    return math.floor(math.log10(min(values))), max(
        math.ceil(math.log10(max(values))), math.floor(math.log10(min(values))) + 1
    )


def dots(title, rows, show, caption=""):
    """rows: label, [(value, colour, its name)]. The places are logarithms; show writes a value."""
    low, high = scale([value for _, points in rows for value, *_ in points])

    def place(value):
        return 100 * (math.log10(value) - low) / (high - low)

    axis = [
        f'<i class="tick" style="left:{place(10.0**e):.2f}%"><b>{text(show(10.0**e).replace(",000,000", " M"))}</b></i>'
        for e in range(low, high + 1)
    ]
    out = [
        f'<div class="row axis"><span class="label"></span><span class="track">{"".join(axis)}</span><span class="value"></span></div>'
    ]
    grid = "".join(f'<i class="grid" style="left:{place(10.0**e):.2f}%"></i>' for e in range(low, high + 1))
    for label, points in rows:
        marks = [grid] + [
            f'<i class="dot f{colour}" style="left:{place(value):.2f}%" title="{text(name)}: {text(show(value))}"></i>'
            for value, colour, name in points
        ]
        out.append(row(label, marks, ", ".join(show(value).replace(" ", "\u00a0") for value, *_ in points)))
    longest_first = sorted(rows, key=lambda row: -len(row[1]))
    names = dict.fromkeys((colour, name) for _, points in longest_first for _, colour, name in points)
    key = "".join(f'<span><i class="swatch f{colour}"></i>{text(name)}</span>' for colour, name in names)
    return figure(title, [f'<div class="key">{key}</div>'] + out, caption, "plot dots")


def ticks(low, high):
    """1, 2 and 5 of each power of ten between, thinned when there are many."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high < 500 * low else (1,)
    return [step * 10**e for e in exponents for step in steps if low <= step * 10**e <= high]


def curve(percentiles, low, high):
    room = HEIGHT - BELOW - 12
    points = []
    for i, value in enumerate(percentiles):
        x = LEFT + (WIDTH - LEFT - RIGHT) * i / (len(percentiles) - 1)
        y = HEIGHT - BELOW - room * (math.log(max(value, low)) - math.log(low)) / (math.log(high) - math.log(low))
        points.append(f"{x:.1f},{y:.1f}")
    return points


def distribution(title, contenders):
    """Time at each hundredth of the samples, on a logarithmic scale."""
    low = min(r["percentiles_ns"][0] for r in contenders) * 0.9
    high = max(r["percentiles_ns"][99] for r in contenders) * 1.1
    out = [f'<figure class="scroll" aria-label="{text(title)}"><svg viewBox="0 0 {WIDTH} {HEIGHT}">']
    for value in ticks(low, high):
        y = curve([value, value], low, high)[0].split(",")[1]
        out.append(
            f'<line class="line" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
            f'<text class="end" x="{LEFT - 6}" y="{float(y) + 4:.1f}">{duration(value)}</text>'
        )
    for percent in (0, 25, 50, 75, 90, 99):
        x = LEFT + (WIDTH - LEFT - RIGHT) * percent / 99
        out.append(f'<text class="middle" x="{x:.1f}" y="{HEIGHT - 6}">p{percent}</text>')
    for i, r in enumerate(contenders):
        # The hundredth hundredth is the one worst sample: it says what else the machine did.
        out.append(
            f'<polyline class="s{i % COLOURS}" points="{" ".join(curve(r["percentiles_ns"][:100], low, high))}"/>'
        )
    key = "".join(
        f'<span><i class="swatch f{i % COLOURS}"></i>{text(r["by"])}</span>' for i, r in enumerate(contenders)
    )
    return "".join(out) + f'</svg><div class="key">{key}</div></figure>'


def table(heading, rows, kind=""):
    """rows: of cells; a cell is a text, or a pair of a class and a text."""

    def cells(row, tag):
        pairs = (cell if isinstance(cell, tuple) else ("", cell) for cell in row)
        return "".join(
            f'<{tag} class="{name}">{text(value)}</{tag}>' if name else f"<{tag}>{text(value)}</{tag}>"
            for name, value in pairs
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f'<table class="{kind}"><tr>{cells(heading, "th")}</tr>{body}</table>'


def fold(name, parts):
    return f"<details><summary>{text(name)}</summary>{''.join(parts)}</details>"
