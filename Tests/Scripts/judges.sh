#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# judges.sh BUILD_DIR: proofs that BUILD_DIR/attest_tool makes on a software TPM, judged by two verifiers of others.
set -eu

[ $# = 1 ] || { echo "usage: $0 BUILD_DIR" >&2; exit 2; }
tool=$(cd "$1" && pwd)/attest_tool
root=$(cd "$(dirname "$0")/../.." && pwd)
venv=$root/.build/deps/judges
wanted="fido2==2.2.1 webauthn==3.0.1"

if [ "$(cat "$venv/wanted" 2> /dev/null)" != "$wanted" ]; then
    rm -rf "$venv"
    mkdir -p "$root/.build/deps"
    "${PYTHON:-python3}" -m venv "$venv"
    # shellcheck disable=SC2086
    "$venv/bin/pip" install -q --disable-pip-version-check $wanted
    echo "$wanted" > "$venv/wanted"
fi
PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" "$root/Tests/Scripts/judges.py" "$tool"
