#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# container.sh PACKAGES FOLDER: the root of a container for the authority, in FOLDER, made from the package in the
# folder PACKAGES and the libraries of this machine's release of Debian. It needs root.
set -eu

[ $# = 2 ] || { echo "usage: $0 PACKAGES FOLDER" >&2; exit 2; }
clone=$(cd "$(dirname "$0")/.." && pwd)
package=$(ls "$1"/tenon-authority_*.deb)
. /etc/os-release
name=packages-$VERSION_ID
build=$clone/.build/roots/$name.build
"$clone/Tests/Scripts/root.sh" make "$name" "$VERSION_CODENAME"
mkdir -p "$build"
cp "$package" "$build/tenon-authority.deb"
"$clone/Tests/Scripts/root.sh" run "$name" sh -c '
    set -e
    apt-get -qq update
    apt-get -qq --reinstall --allow-downgrades install ./.build/tenon-authority.deb > .build/container.log 2>&1 ||
        { cat .build/container.log; exit 1; }
    packaging/container_root.sh .build/container
    rm .build/tenon-authority.deb'
rm -rf "$2"
mv "$build/container" "$2"
