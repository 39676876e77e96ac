#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# swift.sh WORD...: swift, which keeps its caches, locks and temporary files in the clone. Tests have a folder outside of
# it, which goes with them: the path of a socket must be short.
set -u

home=$PWD/.build/home
mkdir -p "$home/tmp"
# Foundation asks the passwd file before HOME, and CFFIXED_USER_HOME before both.
export HOME="$home" CFFIXED_USER_HOME="$home"
unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
if [ "$1" != test ]; then
    TMPDIR=$home/tmp exec swift "$@"
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tenon-swift.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP
TMPDIR=$scratch swift "$@"
