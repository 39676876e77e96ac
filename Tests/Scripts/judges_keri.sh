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
# shellcheck source=/dev/null
. "$root/Tests/Scripts/pypi.sh"
# keri and two packages that it needs are source packages.
pypi judges_keri "keri and auths" --no-build-isolation --no-binary hio,keri,pysodium
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/Examples"
"$venv/bin/python" "$root/Tests/Scripts/judges_keri.py" "$build"
"$root/Tests/Scripts/stores.sh" "$venv/bin/python" "$root/Tests/Scripts/auths_client.py" "$build" "$authority"
