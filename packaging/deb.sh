#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh VERSION FOLDER: makes Debian packages of what was built in this clone, for the Debian release of this machine,
# and leaves them in FOLDER.
set -eu

[ $# = 2 ] || { echo "usage: $0 VERSION FOLDER" >&2; exit 2; }
command -v dh > /dev/null || { echo "$0: install debhelper first" >&2; exit 1; }
clone=$(cd "$(dirname "$0")/.." && pwd)
. /etc/os-release
version=$1-1~deb$VERSION_ID
rm -rf "$2"
mkdir -p "$2/tree"
folder=$(cd "$2" && pwd)
cp -r "$clone/packaging/debian" "$folder/tree"

# The packages of one commit are identical whenever they are made.
date=$(git -C "$clone" log -1 --format=%cD 2> /dev/null) || date=$(date -R -d "@${SOURCE_DATE_EPOCH:?}")
maintainer=$(sed -n 's/^Maintainer: //p' "$folder/tree/debian/control")
printf 'tenon (%s) unstable; urgency=medium\n\n  * Release %s; CHANGELOG.md says what changed.\n\n -- %s  %s\n' \
    "$version" "$1" "$maintainer" "$date" > "$folder/tree/debian/changelog"

cd "$folder/tree"
TENON_CLONE=$clone dpkg-buildpackage -b -us -uc > "$folder/log" 2>&1 || { tail -n 30 "$folder/log" >&2; exit 1; }
cd ..
rm -rf tree
ls -- *.deb
