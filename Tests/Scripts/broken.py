# SPDX-License-Identifier: Apache-2.0
"""Breaks a copy of the project in one way after the other, and says whether the step that should notice does.

broken.py [NAME...]     each of Tests/Broken/NAME.patch, or all
broken.py --applies     only sees that each patch still fits the tree

A patch begins with two lines: "# " and what is broken, then "# step: " and the command that should notice.
What was tried is not tried again until the patch or the tree changes, so a run can be stopped and gone on with.
A build of the Swift tests takes longer than the tests of a patch, so patches for them that change different places are
built together; one that none of its own tests notices there is tried again alone.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATCHES = ROOT / "Tests/Broken"
WORK = ROOT / ".build/broken"
TREE = WORK / "tree"
LONGEST, LONGEST_TOGETHER = 900, 150
# So many at once, and so many of them in one folder: each adds to what has to be built, and could trouble another's test.
TOGETHER, NEIGHBOURS = 12, 3
# One changed file is built sooner so.
DEBUG = {**os.environ, "DEBUG": "1"}

SURVIVED, NO_COPY = "SURVIVED", "DOES NOT BUILD"
NOT_BUILT = r"^\S+\.(?:swift|c|h):\d+:\d+: (?:fatal )?error: |^\S+: error: (?:fatalError|link command failed)"
# How the runners name the test that failed.
CULPRITS = [r"^FAILED (?!after its)([\w./]+)", r"Test (?:\"([^\"]+)\"|(\w+)\(.*?\)) (?:recorded an issue|failed)", r"does not hold: (.*)",
            r"^(\w+, [^:\n]+: \d+ copies before, [1-9]\d* copies and traces after)$", r"(error: .*)",
            r"(.*WARNING: ThreadSanitizer.*)", r"(.*ERROR: AddressSanitizer.*)"]


def git(*words, folder=ROOT, **options):
    # The copy lies in the clone and is none of its files.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(WORK)}
    return subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, **options)


def files():
    out = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", check=True).stdout.decode()
    return [name for name in out.split("\0") if name and (ROOT / name).is_file() and not name.startswith("Tests/Broken/")]


def follow():
    """Makes the copy what the tree is; a file that did not change keeps its time, and so what was built of it."""
    digest = hashlib.sha256()
    wanted = set(files())
    for name in sorted(wanted):
        content = (ROOT / name).read_bytes()
        digest.update(name.encode() + b"\0" + content)
        copy = TREE / name
        if not copy.is_file() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy)
            os.utime(copy)
    for folder, folders, names in os.walk(TREE):
        folders[:] = [one for one in folders if one != ".build"]
        for name in names:
            path = pathlib.Path(folder, name)
            if str(path.relative_to(TREE)) not in wanted:
                path.unlink()
    (TREE / ".build").mkdir(exist_ok=True)
    deps = TREE / ".build/deps"
    if (ROOT / ".build/deps").is_dir() and not deps.exists():
        deps.symlink_to(ROOT / ".build/deps")
    return digest.hexdigest()[:16]


def step_of(patch):
    lines = patch.read_text().splitlines()
    if len(lines) < 2 or not lines[0].startswith("# ") or not lines[1].startswith("# step: "):
        raise SystemExit(f"{patch.name}: the first two lines are not what is broken and the step")
    return lines[1][len("# step: "):]


def apply(patch, folder, *more):
    return git("apply", *more, str(patch), folder=folder)


def culprit(log):
    for pattern in CULPRITS:
        found = re.search(pattern, log, re.MULTILINE)
        if found:
            return next(group for group in found.groups() if group)[:110]
    return "its exit code"


def step(command, log, longest):
    """The exit code, or None if it took too long; nothing that it began goes on."""
    with open(log, "wb") as out:
        process = subprocess.Popen(["bash", "-c", command], cwd=TREE, env=DEBUG, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.wait(longest)
        except subprocess.TimeoutExpired:
            # A script that is asked to end ends the servers that it began, which are in sessions of their own.
            os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def build(patches):
    """What is not broken is built before: the first build takes longer than any step."""
    if any("check-swift" in step_of(patch) for patch in patches):
        print("building the Swift tests: the first time it takes some minutes", flush=True)
        words = ["Tests/Scripts/swift.sh", "build", "--build-tests", "--scratch-path", ".build/swift-mbedtls", "-q"]
        subprocess.run(words, cwd=TREE, check=True, stdin=subprocess.DEVNULL)


def changed(patch):
    return re.findall(r"^\+\+\+ b/(.*)$", patch.read_text(), re.MULTILINE)


def broken_step(patches, command, log, longest):
    """The step's exit code with these patches; the copy is whole before and after."""
    applied = []
    try:
        for patch in patches:
            said = apply(patch, TREE)
            if said.returncode != 0:
                raise SystemExit(f"{patch.name} does not apply: {said.stderr.decode()}")
            applied.append(patch)
        return step(command, log, longest)
    finally:
        for patch in reversed(applied):
            apply(patch, TREE, "-R")
            for name in changed(patch):
                os.utime(TREE / name)


def swift_tests(patch):
    """Which Swift tests the step runs, if that is all it does."""
    found = re.fullmatch(r"make -s check-swift ONLY='([^']+)'", step_of(patch))
    return found and found[1]


def groups(patches):
    """Patches of one group change different files, and have different tests."""
    made = []
    for patch in patches:
        def fits(group):
            places = [(name, os.path.dirname(name)) for other in group for name in changed(other)]
            return (len(group) < TOGETHER and swift_tests(patch) not in map(swift_tests, group)
                    and all(name not in (one for one, _ in places) for name in changed(patch))
                    and all([folder for _, folder in places].count(os.path.dirname(name)) < NEIGHBOURS for name in changed(patch)))
        group = next(filter(fits, made), None)
        if group is None:
            made.append(group := [])
        group.append(patch)
    return [group for group in made if len(group) > 1]


def failures():
    """The tests of the last Swift run in which something was not as expected, and the one in which the process ended."""
    events = TREE / ".build/tests/chosen.jsonl"
    lines = events.read_bytes().split(b"\n")[:-1] if events.is_file() else []  # what ended the run may have cut the last
    records = [json.loads(line)["payload"] for line in lines]

    def names(kind):
        return {"/".join(one["testID"].split("/")[:2]) for one in records
                if one.get("kind") == kind and one.get("testID", "").count("/") > 1 and not one.get("issue", {}).get("isKnown")}
    return names("issueRecorded") | (names("testStarted") - names("testEnded"))


def attempt_together(group):
    """What was said of those patches that a test of their own noticed; one that ends the run does not hide the others."""
    said = {}
    while len(group) > 1:
        (TREE / ".build/tests/chosen.jsonl").unlink(missing_ok=True)
        only = "|".join(swift_tests(patch) for patch in group)
        code = broken_step(group, f"make -s check-swift ONLY='{only}'", WORK / "together.log", LONGEST_TOGETHER)
        failed = sorted(failures())
        noticed = {patch: next((name for name in failed if re.search(swift_tests(patch), name)), None) for patch in group}
        new = {patch: f"caught by {name}, beside {len(group) - 1} other faults" for patch, name in noticed.items() if name}
        said.update(new)
        group = [patch for patch in group if patch not in said]
        if code is not None or not new:
            break
    return said


def attempt(patch):
    log = WORK / f"{patch.stem}.log"
    code = broken_step([patch], step_of(patch), log, LONGEST)
    if code == 0:
        return SURVIVED
    text = log.read_text(errors="replace")
    if re.search(NOT_BUILT, text, re.MULTILINE):
        return NO_COPY
    return f"caught by {'the time it took' if code is None else culprit(text)}"


def run(names):
    known = sorted(patch.stem for patch in PATCHES.glob("*.patch"))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"there is no broken copy of this name: {', '.join(unknown)}")
    WORK.mkdir(parents=True, exist_ok=True)
    lock = open(WORK / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SystemExit("another run breaks this copy")
    state, missed, caught = follow(), [], 0
    patches = [PATCHES / f"{name}.patch" for name in names or known]

    def key(patch):
        return f"{state}-{hashlib.sha256(patch.read_bytes()).hexdigest()[:16]}"

    def result(patch):
        return WORK / f"{patch.stem}.result"

    def is_known(patch):
        return result(patch).is_file() and result(patch).read_text().startswith(key(patch))

    new = [patch for patch in patches if not is_known(patch)]
    build(new)
    for group in groups([patch for patch in new if swift_tests(patch)]):
        began = time.monotonic()
        for patch, said in attempt_together(group).items():
            result(patch).write_text(f"{key(patch)} {said}")
        print(f"{len(group)} faults in one build ({time.monotonic() - began:.0f} s)", flush=True)
    for patch in patches:
        began = time.monotonic()
        if not is_known(patch):
            result(patch).write_text(f"{key(patch)} {attempt(patch)}")
        said = result(patch).read_text().split(" ", 1)[1]
        print(f"{patch.stem:40} {said} ({time.monotonic() - began:.0f} s)", flush=True)
        missed += [f"{patch.stem}: {said}"] if said in (SURVIVED, NO_COPY) else []
        caught += said not in (SURVIVED, NO_COPY)
    print(f"{caught} caught, {len(missed)} not" + "".join(f"\n  {one}" for one in missed))
    return 1 if missed else 0


def applies():
    wrong = 0
    patches = sorted(PATCHES.glob("*.patch"))
    for patch in patches:
        step_of(patch)
        said = apply(patch, ROOT, "--check")
        if said.returncode != 0:
            wrong += 1
            print(f"does not apply: {patch.name}: {said.stderr.decode().strip()}")
    print(f"{len(patches) - wrong} passed, {wrong} failed")
    return 1 if wrong or not patches else 0


if __name__ == "__main__":
    sys.exit(applies() if sys.argv[1:] == ["--applies"] else run(sys.argv[1:]))
