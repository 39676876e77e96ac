#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures and the report of the benches with results that are made up: what is told and shown. And the committed
picture shows what is committed beside it."""
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
BENCH = pathlib.Path(__file__).resolve().parents[2] / "Bench"
sys.path.insert(0, str(BENCH))
import figures
import picture
import results

ROUNDS = 41


def line(name, by, microseconds, commands=None):
    """Rounds that lie evenly around a time."""
    times = [1e3 * microseconds * (1 + 0.02 * (2 * i / (ROUNDS - 1) - 1)) for i in range(ROUNDS)]
    ordered = sorted(times)
    made = {"kind": "line", "backend": "mbedtls", "line": name, "by": by, "p50_ns": ordered[ROUNDS // 2],
            "p95_ns": ordered[-2], "p99_ns": ordered[-1], "min_ns": ordered[0], "per_second": 1e9 / ordered[ROUNDS // 2],
            "cpu_ns": 1000.0, "allocations": 0, "rounds_ns": times,
            "percentiles_ns": [ordered[(ROUNDS - 1) * i // 100] for i in range(101)]}
    return made if commands is None else made | {"commands": commands}


def run_of():
    return [
        {"kind": "machine", "tenon": "1.2.3", "compiler": "gcc", "cpu": "A <CPU> & co", "governor": "none", "glibc": "2",
         "backend": "mbedtls"},
        {"kind": "peer", "name": "raw", "version": "1", "backend": "mbedtls"},
        {"kind": "peer", "name": "absent", "backend": "mbedtls"},
        line("tpm-sign", "tenon", 500, 1.0),
        line("tpm-sign", "raw", 490, 1.0),
        line("tpm-sign", "esys", 3000, 3.0),
        line("tpm-sign@35ms", "tenon", 35_500, 1.0),
        line("tpm-sign@35ms", "raw", 35_490, 1.0),
        line("tpm-sign@35ms", "esys", 108_000, 3.0),
        line("sign-threads-4", "tenon", 20),
        line("request-1k", "tenon", 10),
        {"kind": "figure", "figure": "P1", "what": "a figure", "bound": [">=", 0.97], "value": 0.5, "unit": "", "reached": False, "gate": True},
        {"kind": "count", "name": "mbedtls sign tenon", "count": 3000},
        {"kind": "count", "name": "mbedtls tpm-sign tenon", "count": 2000},
        {"kind": "count", "name": "mbedtls tpm-sign esys", "count": 200_000},
    ]


def figure(name, bound=None, value=None, **more):
    return {"kind": "figure", "figure": name, "what": f"what {name} says", "bound": bound, "value": value, "unit": "",
            "reached": None, "gate": False} | more


def others():
    """What the parts in Swift write."""
    return [
        line("swift-der-array", "tenon", 0.3), line("swift-der-array", "c", 0.1),
        line("authority-register", "tenon", 900), line("authority-request", "tenon", 400),
        {"kind": "commands", "backend": "openssl", "line": "flow-register", "by": "tenon", "operations": 1,
         "commands": "Create Load Load Sign", "exchanges": ["POST /challenge", "POST /register"]},
        {"kind": "commands", "backend": "openssl", "line": "flow-reset", "by": "tenon", "operations": 1, "commands": ""},
        line("flow-register", "tenon", 40_000, 4),
    ]


class Page(html.parser.HTMLParser):
    """What a page loads, and what its plots show."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.plots, self.texts, self.open, self.folded = [], {}, [], None, []
        self.at, self.width, self.cut = None, 0.0, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        names = ("src", "href", "xlink:href", "data", "srcset", "action")
        self.loads += [(tag, name) for name in names if name in attributes]
        if tag in ("script", "link", "iframe", "object", "embed", "img", "image"):
            self.loads.append((tag, ""))
        if tag == "figure":
            self.open = self.plots.setdefault(attributes["aria-label"], [])
        elif self.open is not None and tag in ("i", "polyline"):
            self.open.append((attributes.get("class", "").split(" ")[0], attributes))
        if tag == "svg":
            self.width = float(attributes["viewbox"].split()[2])
        self.at = attributes if tag == "text" else None

    def handle_data(self, data):
        self.texts.append(data)
        if self.at is not None:
            self.cut += cut_off(data, self.at, 0, self.width)

    def handle_endtag(self, tag):
        self.open = None if tag == "figure" else self.open
        self.at = None if tag == "text" else self.at


def cut_off(text, attributes, left, right):
    """A text that leaves its plot, where a letter takes six and a half, is told."""
    x, long = float(attributes["x"]), 6.5 * len(text)
    shift = {"end": long, "middle": long / 2}.get(attributes.get("class", "").split(" ")[-1], 0)
    return [] if left <= x - shift and x - shift + long <= right else [text]


def write(folder, name, records):
    path = folder / name
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return str(path)


def check(condition, what):
    if not condition:
        sys.exit(f"bench_test.py: {what}")


def call(*arguments):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True)


def share(attributes, name):
    """The percentage that a style gives to one of its members."""
    return float(re.search(rf"{name}:([\d.]+)%", attributes["style"]).group(1))


def shares(page, title, kind, name):
    check(title in page.plots, f"there is no plot {title}")
    return [share(a, name) for found, a in page.plots[title] if found == kind]


def check_answer(page):
    """The four plots at the top."""
    speeds = shares(page, "signatures a second", "bar", "width")
    check(len(speeds) == 3 and abs(speeds[1] / speeds[2] - 3000 / 490) < 0.05, "signatures a second: Tenon, the floor, a peer")
    begins, lengths = (shares(page, "signatures a second", "interval", name) for name in ("left", "width"))
    check(len(begins) == 3 and all(begin <= speed <= begin + long + 0.3 for begin, speed, long in zip(begins, speeds, lengths)),
          "an interval is around its bar's end")
    check(max(begin + long for begin, long in zip(begins, lengths)) <= 100.3, "an interval stays on the page")
    ours, theirs = shares(page, "TPM commands", "bar", "width")[:2]
    check(abs(theirs / ours - 3) < 0.05, "commands: one of Tenon's, three of a peer's")
    ours, theirs = shares(page, "work of the host", "dot", "left")
    check(abs((theirs - ours) - 100 * 2 / 3) < 0.1, "two powers of ten apart, of three from 1,000 to 1,000,000")
    steps = shares(page, "a device's life", "dot", "left")
    check(len(steps) == 3 and steps[0] < steps[1] and all(0 <= step <= 100 for step in steps), "a signature at two speeds, a registration")


def check_plots(page):
    widths = shares(page, "throughput tpm-sign, mbedtls build", "bar", "width")
    check(len(widths) == 3 and widths == sorted(widths, reverse=True), "a bar for each contender, the fastest first")
    check(abs(widths[0] / widths[2] - 3000 / 490) < 0.05, "bars are as long as their values")
    curves = [a for kind, a in page.plots["distribution tpm-sign, mbedtls build"] if kind.startswith("s") and "points" in a]
    check(len(curves) == 3, "a curve for each contender")
    for attributes in curves:
        points = [tuple(map(float, point.split(","))) for point in attributes["points"].split()]
        check(len(points) == 100 and points == sorted(points), "a point for each hundredth, from left to right")
        heights = [y for _, y in points]
        check(heights == sorted(heights, reverse=True) and heights[0] > heights[-1], "a later hundredth takes no less")
    check("many threads at one key mbedtls" in page.plots, "threads have a plot")


def check_parts(page):
    core, swift = shares(page, "throughput swift-der-array, mbedtls build", "bar", "width")
    check(abs(core / swift - 3) < 0.05, "Swift beside the calls of the core")
    register, request = shares(page, "answers of the authority, by the clock mbedtls", "bar", "width")
    check(abs(request / register - 900 / 400) < 0.05, "the authority: rates")
    shown = " ".join(page.texts)
    check("Create, 2 Load, Sign" in shown and "POST /challenge, POST /register" in shown, "what a flow sends is named")
    check("reset" in shown and "nothing" in shown, "a reset sends nothing")


def check_figures():
    """Every figure is in the table: reached, not reached, or why it was not measured; in the order of their numbers."""
    records = [figure("P12", ["<=", 2], 2, reached=True), figure("P10", ["<=", 60], 61.0, reached=False)]
    own = [figure("20 ms", ["<=", 216], 1.0, reached=True), figure("P7", [">=", 0.95]), figure("P6", None),
           figure("P3", ["<=", 5000], gate=True)]
    table = figures.in_order(own + figures.with_parts(records), True)
    told = [(f["figure"], results.verdict(f)) for f in table]
    wanted = [("P3", "not measured: valgrind is missing"), ("P4", "not measured: make bench-swift"),
              ("P7", "not measured: --counts"), ("P10", "NOT reached"), ("P12", "reached"), ("20 ms", "reached")]
    check(told == wanted, f"the figures say {told}")
    check(figures.is_missed(table) and not figures.is_missed(table[1:]), "a gate that was not measured is missed")


def check_report(folder):
    out = folder / "page.html"
    done = call(BENCH / "report.py", write(folder, "a.json", run_of() + others()), out)
    check(done.returncode == 0, done.stderr)
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    check(not page.loads, f"the page loads {page.loads}")
    check(not re.search(r"(https?:)?//|url\(|@import|data:", text), "the page names something outside of it")
    check("prefers-color-scheme: dark" in text, "the page has dark colours")
    shown = "".join(page.texts)
    check("A <CPU> & co" in shown and "absentmissing" in shown and "NOT reached" in shown, "machine, peers, verdicts")
    check("2,000 /s" in shown and "p99" in shown, "numbers are shown")
    check(not page.cut, f"texts that leave their plots: {page.cut}")
    check(text.count("<figcaption>") == 4, "a sentence under each plot at the top")
    places = [text.index(name) for name in ("<figcaption>", "a figure", "<details>", "<svg")]
    check(places == sorted(places) and text.rindex("<figcaption>") < places[1], "the plots come first, then the figures; the rest is folded")
    check(figures.WORDS["P1"] in shown, "a figure has its words")
    check_answer(page)
    check_plots(page)
    check_parts(page)


def check_picture(folder):
    source, out = folder / "picture.json", folder / "picture.svg"
    done = call(BENCH / "report.py", write(folder, "a.json", run_of()), source, out)
    check(done.returncode == 0, done.stderr)
    root = xml.etree.ElementTree.parse(out).getroot()
    name = "{http://www.w3.org/2000/svg}"
    texts = [element.text for element in root.iter(f"{name}text")]
    wanted = ["Tenon", "28.2", "1 us", "the floor: a bare TPM2_Sign", "28.2", "1 us", "ESYS", "9.3", "1 us"]
    check(texts[-9:] == wanted and any("simulated" in text for text in texts[:-9]), f"the picture shows {texts}")
    widths = [float(e.get("width")) for e in root.iter(f"{name}rect") if e.get("class") != "paper"]
    check(len(widths) == 6 and abs(widths[0] / widths[4] - 108 / 35.5) < 0.02, "two bars for each, as long as their values")
    check(len(list(root.iter(f"{name}line"))) == 3, "an interval for each")
    left, _, width, _ = map(float, root.get("viewBox").split())
    cut = [cut_off(e.text, e.attrib, left, left + width) for e in root.iter(f"{name}text")]
    check(not any(cut), f"texts that leave the picture: {cut}")


def check_what_is_missing(folder):
    """What the counts at the chip need is named in a sentence, with the command that gets it."""
    done = call(BENCH / "chip.py", folder, folder)
    check(done.returncode == 2 and done.stderr.count("\n") == 1 and " is missing; this gets it: " in done.stderr,
          f"chip.py without programs: {done.returncode}\n{done.stderr}")


def check_committed_picture(folder):
    """The picture of the README shows what is committed beside it, in ten bars at most, Tenon and the floor first."""
    docs = BENCH.parent / "docs"
    done = call(BENCH / "report.py", docs / "bench.json", folder / "committed.svg")
    check(done.returncode == 0, done.stderr)
    check((folder / "committed.svg").read_text(encoding="utf-8") == (docs / "bench.svg").read_text(encoding="utf-8"),
          "docs/bench.svg is not of docs/bench.json: Bench/report.py docs/bench.json docs/bench.svg")
    shown = json.loads((docs / "bench.json").read_text(encoding="utf-8"))
    bars = [(r["label"], r["by"]) for r in shown["rows"]]
    check(bars == [(label, by) for _, by, label in picture.SHOWN] and len(bars) <= 10, f"docs/bench.json has the bars {bars}")
    check([by for _, by in bars[:2]] == ["tenon", results.FLOOR], "Tenon and the floor come first")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        check_report(pathlib.Path(scratch))
        check_figures()
        check_picture(pathlib.Path(scratch))
        check_committed_picture(pathlib.Path(scratch))
        check_what_is_missing(pathlib.Path(scratch))
        print("figures, report, picture: parsed")
