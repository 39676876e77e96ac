#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# dist.sh VERSION FOLDER: what is published of a release: the sources of the last commit, an SBOM (SPDX 2.3) and the
# checksums of both. The same commit gives the same bytes on the same machine.
set -eu

[ $# = 2 ] || { echo "usage: $0 VERSION FOLDER" >&2; exit 2; }
cd "$(dirname "$0")/.."
if [ -n "$(git status --porcelain)" ]; then
    echo "$0: commit or remove what git status shows: it would not be in the archive" >&2
    exit 1
fi
rm -rf "$2"
mkdir -p "$2"
git archive --format=tar --prefix="tenon-$1/" HEAD | gzip -n9 > "$2/tenon-$1.tar.gz"
${PYTHON:-python3} packaging/sbom.py "$1" > "$2/tenon-$1.spdx.json"
cd "$2"
sha256sum "tenon-$1.tar.gz" "tenon-$1.spdx.json" > SHA256SUMS
cat SHA256SUMS
