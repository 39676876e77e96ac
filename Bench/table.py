# SPDX-License-Identifier: Apache-2.0
"""What the benches say, for somebody at a terminal."""
import results

COLUMNS = (("p50 us", 10), ("p95 us", 10), ("p99 us", 10), ("min us", 10), ("op/s", 11), ("CPU us/op", 10), ("alloc", 7), ("TPM cmd", 7))
SOFTWARE_LINES = ("sign", "sign-cold", "verify", "verify-prepared", "generate")


class Table:
    """Takes each record as it comes."""

    def __init__(self):
        self.has_heading = False

    def show(self, record, ratio=None):
        """ratio: how fast Tenon is beside a line."""
        if record["kind"] == "line":
            self.line(record, ratio)
        elif record["kind"] != "figure":
            {"machine": self.machine, "peer": self.peer, "commands": self.works, "works": self.works}[record["kind"]](record)

    def machine(self, r):
        self.has_heading = False
        print(f"\ntenon {r['tenon']}, backend {r['backend']}, built with {r['compiler']}\n"
              f"CPU {r['cpu']}, governor {r['governor']}, glibc {r['glibc']}")

    def peer(self, r):
        print(f"peer {r['name']}: {r.get('version', 'missing')}")

    def works(self, r):
        sent = f": {results.counted(r['commands'].split()) or 'no TPM command'}" if "commands" in r else ""
        print("; ".join([f"{r['line']:<23} {r['by']:<15} works{sent}", *r.get("exchanges", ())]))

    def line(self, r, ratio):
        if not self.has_heading:
            self.has_heading = True
            print(f"\n{'line':<23} {'by':<15}" + "".join(f" {name:>{width}}" for name, width in COLUMNS)
                  + "  speed of tenon beside it (quartiles)")
        times = "".join(f" {r[name] / 1e3:>10.2f}" for name in ("p50_ns", "p95_ns", "p99_ns", "min_ns"))
        alloc = f"{r['allocations']:.1f}" if "allocations" in r else ""
        commands = f"{r['commands']:.2f}" if "commands" in r else ""
        beside = "  {median:.3f} ({low:.3f}-{high:.3f})".format(**ratio) if ratio else ""
        print(f"{r['line']:<23} {r['by']:<15}{times} {r['per_second']:>11.0f} {r['cpu_ns'] / 1e3:>10.2f} {alloc:>7} {commands:>7}{beside}",
              flush=True)
        for code, many in r.get("errors", {}).items():
            print(f"{'':<23} {many} times {code}")


def floor(records, versions, counts):
    """Who is how fast beside the floor."""
    rows = results.beside_floor(results.measured(records))
    if rows:
        print(f"\n{'line':<23} {'by':<15} {'build':<8} {'beside the floor':<21} {'CPU us/op':>10} {'instr./op':>10} {'TPM cmd':>8}  version")
    for (backend, line, by), r, ratios in rows:
        low, middle, high = (results.quantile(ratios, part) for part in (0.25, 0.5, 0.75))
        counted = counts.get(f"{backend} {line} {by}", "")
        print(f"{line:<23} {by:<15} {backend:<8} {middle:<6.3f} {f'({low:.3f}-{high:.3f})':<14} {r['cpu_ns'] / 1e3:>10.1f} {counted:>10} "
              f"{r['commands']:>8.2f}  {versions.get(by) or ''}")


def software(records, versions):
    """Software beside software."""
    lines = results.measured(records)
    sides = dict.fromkeys((backend, by) for backend, line, by in lines if line in SOFTWARE_LINES)
    if sides:
        print(f"\n{'P-256, us/op':<15} {'build':<8}" + "".join(f" {line:>16}" for line in SOFTWARE_LINES) + "  version")
    for backend, by in sides:
        times = (lines.get((backend, line, by)) for line in SOFTWARE_LINES)
        cells = "".join(f" {'':>16}" if r is None else f" {r['p50_ns'] / 1e3:>16.1f}" for r in times)
        print(f"{by:<15} {backend:<8}{cells}  {versions.get(by) or ''}")


def figures(table):
    if table:
        print(f"\n{'figure':<6} {'what':<75} {'bound':>9} {'value':>17}  verdict")
    for f in table:
        bound = "" if f["bound"] is None else f"{f['bound'][0]} {f['bound'][1]:g}"
        value = "-" if f["value"] is None else f"{f['value']:.{0 if isinstance(f['value'], int) else 3}f} {f['unit']}".strip()
        print(f"{f['figure']:<6} {f['what']:<75} {bound:>9} {value:>17}  {results.verdict(f)}")
