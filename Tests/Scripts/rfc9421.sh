#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rfc9421.sh BUILD_DIR: requests that BUILD_DIR/request2_tool signs on a software TPM, before a library for RFC 9421,
# which comes from PyPI in the version of rfc9421.txt.
set -eu

[ $# = 1 ] || { echo "usage: $0 BUILD_DIR" >&2; exit 2; }
tool=$(cd "$1" && pwd)/request2_tool
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=/dev/null
. "$root/Tests/Scripts/pypi.sh"
pypi rfc9421 http-message-signatures
PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" "$root/Tests/Scripts/rfc9421.py" "$tool"
