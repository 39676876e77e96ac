#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# swift.sh WORD...: swift, which keeps its caches, locks and temporary files in the clone; `swift.sh tests` is
# swift_tests.py. Tests have a folder outside of the clone, which goes with them: the path of a socket must be short.
set -u

home=$PWD/.build/home
mkdir -p "$home/tmp"
# Foundation asks the passwd file before HOME, and CFFIXED_USER_HOME before both.
export HOME="$home" CFFIXED_USER_HOME="$home"
unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
if [ "$1" != tests ]; then
    TMPDIR=$home/tmp exec swift "$@"
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tenon-swift.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP
shift
TMPDIR=$scratch python3 Tests/Scripts/swift_tests.py "$@"
