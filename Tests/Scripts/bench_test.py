#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures and the report of the benches with results that are made up: what is told and shown. And the committed
picture is what the committed baseline gives."""
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
        line("sign-threads-4", "tenon", 20),
        line("request-1k", "tenon", 10),
        {"kind": "figure", "figure": "P1", "what": "a figure", "bound": [">=", 0.97], "value": 0.5, "unit": "", "reached": False, "gate": True},
        {"kind": "count", "name": "mbedtls sign tenon", "count": 3000},
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
        self.loads, self.plots, self.texts, self.open = [], {}, [], None
        self.links, self.places = set(), set()
        self.at, self.width, self.cut = None, 0.0, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        names = ("src", "href", "xlink:href", "data", "srcset", "action")
        self.loads += [(tag, name) for name in names if not attributes.get(name, "#").startswith("#")]
        self.links |= {attributes["href"][1:]} if "href" in attributes else set()
        self.places |= {attributes["id"]} if "id" in attributes else set()
        if tag in ("script", "link", "iframe", "object", "embed", "img", "image"):
            self.loads.append((tag, ""))
        if tag == "svg":
            self.open = self.plots.setdefault(attributes["aria-label"], [])
            self.width = float(attributes["viewbox"].split()[2])
        elif self.open is not None and tag in ("rect", "polyline"):
            self.open.append((tag, attributes))
        self.at = attributes if tag == "text" else None

    def handle_data(self, data):
        self.texts.append(data)
        if self.at is not None:
            self.cut += cut_off(data, self.at, 0, self.width)

    def handle_endtag(self, tag):
        if tag == "svg":
            self.open = None


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


def check_plots(page):
    bars = page.plots["throughput tpm-sign, mbedtls build"]
    widths = [float(a["width"]) for tag, a in bars]
    check(len(bars) == 3 and widths == sorted(widths, reverse=True), "a bar for each contender, the fastest first")
    check(abs(widths[0] / widths[2] - 3000 / 490) < 0.05, "bars are as long as their values")
    curves = page.plots["distribution tpm-sign, mbedtls build"]
    check([tag for tag, _ in curves] == ["polyline"] * 3, "a curve for each contender")
    for _, attributes in curves:
        points = [tuple(map(float, point.split(","))) for point in attributes["points"].split()]
        check(len(points) == 100 and points == sorted(points), "a point for each hundredth, from left to right")
        heights = [y for _, y in points]
        check(heights == sorted(heights, reverse=True) and heights[0] > heights[-1], "a later hundredth takes no less")
    ours, theirs = widths_of(page, "commands mbedtls")
    check(abs(theirs / ours - 3) < 0.05, "commands: one of Tenon's, three of a peer's")
    check("many threads at one key mbedtls" in page.plots, "threads have a plot")


def widths_of(page, name, kind="rect"):
    check(name in page.plots, f"there is no plot {name}")
    return [round(float(a["width"])) for tag, a in page.plots[name] if tag == kind]


def check_parts(page):
    core, swift = widths_of(page, "throughput swift-der-array, mbedtls build")
    check(abs(core / swift - 3) < 0.05, "Swift beside the calls of the core")
    register, request = widths_of(page, "answers of the authority, by the clock mbedtls")
    check(abs(request / register - 900 / 400) < 0.05, "the authority: rates")
    shown = " ".join(page.texts)
    check("Create, 2 Load, Sign" in shown and "POST /challenge, POST /register" in shown, "what a flow sends is named")
    check("flow-reset" in shown and "nothing" in shown, "a reset sends nothing")


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
    check("A <CPU> & co" in shown and "absent missing" in shown and "NOT reached" in shown, "machine, peers, verdicts")
    check("2,000 /s" in shown and "p99" in shown, "numbers are shown")
    check(page.links and page.links == page.places, "each heading is in the list at the top")
    check(not page.cut, f"texts that leave their plots: {page.cut}")
    check(text.index("a figure") < text.index("<svg"), "the figures come first")
    check_plots(page)
    check_parts(page)


def check_picture(folder):
    ratios = {"mbedtls tpm-sign raw": 0.9, "mbedtls tpm-sign esys": 3.0, "openssl tpm-sign raw": 0.5, "mbedtls sign openssl": 0.1,
              "mbedtls tpm-sign-salted raw": 0.8, "mbedtls tpm-sign raw-socket": 1.1}
    source, out = folder / "baseline.json", folder / "picture.svg"
    source.write_text(json.dumps({"ratios": ratios}), encoding="utf-8")
    done = call(BENCH / "report.py", source, out)
    check(done.returncode == 0, done.stderr)
    root = xml.etree.ElementTree.parse(out).getroot()
    name = "{http://www.w3.org/2000/svg}"
    title, *texts = [element.text for element in root.iter(f"{name}text")]
    wanted = ["the bare TPM2_Sign", "1.00", "Tenon", "0.90", "Tenon, HMAC session", "0.80", "ESYS", "0.30"]
    check("TPM2_Sign" in title and texts == wanted, f"the picture shows {texts}")
    widths = [float(e.get("width")) for e in root.iter(f"{name}rect") if e.get("class") != "paper"]
    check(len(widths) == 4 and abs(widths[0] / widths[3] - 1 / 0.3) < 0.01, "a bar for each, as long as its value")
    left, _, width, _ = map(float, root.get("viewBox").split())
    cut = [cut_off(e.text, e.attrib, left, left + width) for e in root.iter(f"{name}text")]
    check(not any(cut), f"texts that leave the picture: {cut}")


def check_committed_picture(folder):
    """The picture of the README is of a baseline that is committed, as it is."""
    shown = (BENCH.parent / "docs" / "bench.svg").read_text(encoding="utf-8")
    for baseline in (BENCH / "baselines").glob("*.json"):
        done = call(BENCH / "report.py", baseline, folder / "committed.svg")
        check(done.returncode == 0, done.stderr)
        if (folder / "committed.svg").read_text(encoding="utf-8") == shown:
            return
    check(False, "docs/bench.svg is of no committed baseline: Bench/report.py Bench/baselines/FILE docs/bench.svg")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        check_report(pathlib.Path(scratch))
        check_figures()
        check_picture(pathlib.Path(scratch))
        check_committed_picture(pathlib.Path(scratch))
        print("figures, report, picture: parsed")
