#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# judges.sh BUILD_DIR TENON_AUTHORITY: proofs that BUILD_DIR/attest_tool makes on a software TPM, judged by two verifiers
# of others, and the authority's IT-Wallet provider beside another one. They come from PyPI in the versions of judges.txt.
set -eu

[ $# = 2 ] || { echo "usage: $0 BUILD_DIR TENON_AUTHORITY" >&2; exit 2; }
tool=$(cd "$1" && pwd)/attest_tool
root=$(cd "$(dirname "$0")/../.." && pwd)
wanted=$root/Tests/Scripts/judges.txt
venv=$root/.build/deps/judges

if ! cmp -s "$wanted" "$venv/installed.txt"; then
    rm -rf "$venv"
    mkdir -p "$root/.build/deps"
    "${PYTHON:-python3}" -m venv "$venv"
    if ! "$venv/bin/pip" install -q --disable-pip-version-check --retries 2 --require-hashes --only-binary :all: -r "$wanted"; then
        echo "fido2, webauthn and jwcrypto could not be had from PyPI, so nothing was judged: is there a network, or PIP_INDEX_URL?" >&2
        exit 1
    fi
    cp "$wanted" "$venv/installed.txt"
fi
export PYTHONDONTWRITEBYTECODE=1
"$venv/bin/python" "$root/Tests/Scripts/native_judge.py" "$tool"
"$venv/bin/python" "$root/Tests/Scripts/judges.py" "$tool"
"$venv/bin/python" "$root/Tests/Scripts/judges_wallet.py" "$2"
