#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# judges.sh BUILD_DIR TENON_AUTHORITY: proofs that BUILD_DIR/attest_tool makes on a software TPM, judged by two verifiers
# of others, and the authority's IT-Wallet provider beside another one. They come from PyPI in the versions of judges.txt.
set -eu

[ $# = 2 ] || { echo "usage: $0 BUILD_DIR TENON_AUTHORITY" >&2; exit 2; }
tool=$(cd "$1" && pwd)/attest_tool
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=/dev/null
. "$root/Tests/Scripts/pypi.sh"
pypi judges "fido2, webauthn and jwcrypto"
export PYTHONDONTWRITEBYTECODE=1
"$venv/bin/python" "$root/Tests/Scripts/native_judge.py" "$tool"
"$venv/bin/python" "$root/Tests/Scripts/judges.py" "$tool"
"$venv/bin/python" "$root/Tests/Scripts/judges_wallet.py" "$2"
