#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# judges_keri.sh BUILD_DIR TENON_AUTHORITY: KERI events that BUILD_DIR/keri_tool makes with keys of a software TPM, judged
# by the two verifiers of judges_keri.txt from PyPI, by BUILD_DIR/libtenon.so, and by the authority. keri needs libsodium
# (Debian: libsodium23).
set -eu

[ $# = 2 ] || { echo "usage: $0 BUILD_DIR TENON_AUTHORITY" >&2; exit 2; }
build=$(cd "$1" && pwd)
authority=$(realpath "$2")
root=$(cd "$(dirname "$0")/../.." && pwd)
wanted=$root/Tests/Scripts/judges_keri.txt
venv=$root/.build/deps/judges-keri

install() { # install PIP_ARGUMENT...
    "$venv/bin/pip" install -q --disable-pip-version-check --retries 2 --require-hashes --only-binary :all: "$@"
}

# keri and two packages that it needs are source packages, which the setuptools of the first line build.
if ! cmp -s "$wanted" "$venv/installed.txt"; then
    rm -rf "$venv"
    mkdir -p "$root/.build/deps"
    "${PYTHON:-python3}" -m venv "$venv"
    if ! { echo 'setuptools==80.9.0 --hash=sha256:062d34222ad13e0cc312a4c02d73f059e86a4acbfbdea8f8f76b28c99f306922' |
        install -r /dev/stdin && install --no-build-isolation --no-binary hio,keri,pysodium -r "$wanted"; }; then
        echo "keri and auths could not be had from PyPI, so nothing was judged: is there a network, or PIP_INDEX_URL?" >&2
        exit 1
    fi
    cp "$wanted" "$venv/installed.txt"
fi
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/Examples"
"$venv/bin/python" "$root/Tests/Scripts/judges_keri.py" "$build"
"$root/Tests/Scripts/stores.sh" "$venv/bin/python" "$root/Tests/Scripts/auths_client.py" "$build" "$authority"
