#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# judges.sh PACKAGES NAME WORD...: runs NAME.py of this folder, which judges what Tenon makes with verifiers of others: the
# packages of PACKAGES.txt from PyPI, each pinned by its hash. What PACKAGES.build.txt lists is installed before, for those
# that are built from source. keri needs libsodium (Debian: libsodium23).
set -eu

[ $# -ge 3 ] || { echo "usage: $0 PACKAGES NAME WORD..." >&2; exit 2; }
scripts=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$scripts/../.." && pwd)
wanted=$scripts/$1.txt before=$scripts/$1.build.txt venv=$root/.build/deps/$1 name=$2
shift 2

pip_install() {
    "$venv/bin/pip" install -q --disable-pip-version-check --retries 2 --require-hashes --only-binary :all: "$@"
}
install() {
    [ -e "$before" ] || { pip_install -r "$wanted"; return; }
    pip_install -r "$before" && pip_install --no-build-isolation --no-binary hio,keri,pysodium -r "$wanted"
}
if ! cmp -s "$wanted" "$venv/installed.txt"; then
    rm -rf "$venv"
    mkdir -p "$root/.build/deps"
    "${PYTHON:-python3}" -m venv "$venv"
    install ||
        { echo "what $wanted lists could not be had from PyPI, so nothing was judged: is there a network, or PIP_INDEX_URL?" >&2; exit 1; }
    cp "$wanted" "$venv/installed.txt"
fi
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/Examples" exec "$venv/bin/python" "$scripts/$name.py" "$@"
