# SPDX-License-Identifier: Apache-2.0
"""Counts and ratios that are committed, one file a machine, and what moved since."""
import json
import pathlib
import re
import shutil
import subprocess

import results

FOLDER = pathlib.Path(__file__).resolve().parent / "baselines"
MARGIN = 0.03
RATIO_MARGIN = 0.10


def valgrind_version():
    if shutil.which("valgrind") is None:
        return "missing"
    return re.search(r"[\d.]+\d", subprocess.run(["valgrind", "--version"], capture_output=True, text=True).stdout).group(0)


def key_of(records):
    """What instruction counts depend on, beside our own code."""
    machine = results.of_kind(records, "machine")[0]
    versions = {name: results.versions(records).get(name) or "missing" for name in ("mbedtls", "openssl")}
    return {"cpu": machine["cpu"], "compiler": machine["compiler"].split(" (")[0], "glibc": machine["glibc"], **versions,
            "valgrind": valgrind_version()}


def ratios_of(records):
    """Of a TPM that is slower the number of commands tells as much."""
    return {f"{r['backend']} {r['line']} {r['peer']}": round(r["median"], 2)
            for r in results.of_kind(records, "ratio") if "@" not in r["line"]}


def path_of(key):
    text = "_".join(value if name in ("cpu", "compiler") else f"{name}-{value}" for name, value in key.items())
    return FOLDER / (re.sub(r"[^a-z0-9._-]+", "-", text.lower()) + ".json")


def compare(key, counts, ratios):
    """Prints what moved by more than the margin; returns how many counts got worse."""
    path = path_of(key)
    if not path.exists():
        known = "".join(f"\n  {p.name}" for p in sorted(FOLDER.glob("*.json")))
        print(f"\nno baseline for this machine, so no count can regress here; there are:{known or ' none'}")
        return 0
    baseline = json.loads(path.read_text(encoding="utf-8"))
    before, worse = baseline["counts"], 0
    print(f"\nbaseline {path.name}, margin {MARGIN:.0%}:")
    # Ratios are of times: a hint, never a failure.
    for name in sorted(baseline["ratios"].keys() & ratios.keys()):
        if abs(ratios[name] / baseline["ratios"][name] - 1) > RATIO_MARGIN:
            print(f"  {name}: speed beside it {baseline['ratios'][name]:.2f} -> {ratios[name]:.2f}")
    for name in sorted(before.keys() & counts.keys()):
        change = counts[name] / before[name] - 1
        regressed = change > MARGIN and name.endswith(" tenon")
        worse += regressed
        if abs(change) > MARGIN:
            print(f"  {name}: {before[name]:,} -> {counts[name]:,} ({change:+.1%})"
                  + (" REGRESSED" if regressed else "; --update-baselines"))
    for name in sorted(name for name in before.keys() ^ counts.keys() if name.endswith(" tenon")):
        print(f"  {name}: only in the {'baseline' if name in before else 'run'}; --update-baselines")
    print(f"  {len(before.keys() & counts.keys())} counts compared, {worse} regressed")
    return worse


def write(key, counts, ratios):
    content = {"key": key, "counts": counts, "ratios": ratios}
    path = path_of(key)
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"wrote {path.relative_to(FOLDER.parent.parent)}")
