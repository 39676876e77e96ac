#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# judges.sh NAME PROGRAM: runs NAME.py of this folder, which judges what PROGRAM makes with verifiers of others. They come
# from PyPI in the versions of judges.txt.
set -eu

[ $# = 2 ] || { echo "usage: $0 NAME PROGRAM" >&2; exit 2; }
program=$(realpath "$2")
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=/dev/null
. "$root/Tests/Scripts/pypi.sh"
pypi judges "fido2, webauthn, jwcrypto and http-message-signatures"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/Examples" exec "$venv/bin/python" "$root/Tests/Scripts/$1.py" "$program"
