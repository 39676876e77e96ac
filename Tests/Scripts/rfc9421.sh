#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rfc9421.sh BUILD_DIR: requests that BUILD_DIR/request2_tool signs on a software TPM, before a library for RFC 9421,
# which comes from PyPI in the version of rfc9421.txt.
set -eu

[ $# = 1 ] || { echo "usage: $0 BUILD_DIR" >&2; exit 2; }
tool=$(cd "$1" && pwd)/request2_tool
root=$(cd "$(dirname "$0")/../.." && pwd)
wanted=$root/Tests/Scripts/rfc9421.txt
venv=$root/.build/deps/rfc9421

if ! cmp -s "$wanted" "$venv/installed.txt"; then
    rm -rf "$venv"
    mkdir -p "$root/.build/deps"
    "${PYTHON:-python3}" -m venv "$venv"
    if ! "$venv/bin/pip" install -q --disable-pip-version-check --retries 2 --require-hashes --only-binary :all: -r "$wanted"; then
        echo "http-message-signatures could not be had from PyPI, so nothing was verified: is there a network, or PIP_INDEX_URL?" >&2
        exit 1
    fi
    cp "$wanted" "$venv/installed.txt"
fi
PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" "$root/Tests/Scripts/rfc9421.py" "$tool"
