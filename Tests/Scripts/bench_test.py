#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bench/report.py with results that are made up: what the page shows."""
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

BENCH = pathlib.Path(__file__).resolve().parents[2] / "Bench"
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


def run():
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


class Page(html.parser.HTMLParser):
    """What a page loads, and what its plots show."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.plots, self.texts, self.open = [], {}, [], None
        self.links, self.places = set(), set()
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
        elif self.open is not None and tag in ("rect", "polyline"):
            self.open.append((tag, attributes))

    def handle_data(self, data):
        self.texts.append(data)

    def handle_endtag(self, tag):
        if tag == "svg":
            self.open = None


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
    commands = page.plots["commands mbedtls"]
    check([round(float(a["width"]) / 500, 2) for _, a in commands] == [0.33, 1.0], "commands: one of Tenon's, three of a peer's")
    check("many threads at one key mbedtls" in page.plots, "threads have a plot")


def check_report(folder):
    out = folder / "page.html"
    done = call(BENCH / "report.py", write(folder, "a.json", run()), out)
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
    check_plots(page)


def check_picture(folder):
    ratios = {"mbedtls tpm-sign raw": 0.9, "mbedtls tpm-sign esys": 3.0, "openssl tpm-sign raw": 0.5, "mbedtls sign openssl": 0.1,
              "mbedtls tpm-sign@35ms raw": 1.0}
    source, out = folder / "baseline.json", folder / "picture.svg"
    source.write_text(json.dumps({"ratios": ratios}), encoding="utf-8")
    done = call(BENCH / "report.py", source, out)
    check(done.returncode == 0, done.stderr)
    root = xml.etree.ElementTree.parse(out).getroot()
    name = "{http://www.w3.org/2000/svg}"
    texts = [element.text for element in root.iter(f"{name}text")]
    check(texts == ["tpm-sign, tenon", "0.9", "tpm-sign, esys", "0.3"], f"the picture shows {texts}")
    widths = [float(e.get("width")) for e in root.iter(f"{name}rect") if e.get("class") != "paper"]
    check(len(widths) == 2 and abs(widths[0] / widths[1] - 3) < 0.01, "a bar for each, as long as its value")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        check_report(pathlib.Path(scratch))
        check_picture(pathlib.Path(scratch))
        print("report and picture: parsed")
