#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# packages_old.sh COMMIT VERSION PACKAGES FOLDER [PRODUCT...]: packages of the commands as COMMIT has them, called
# VERSION, which packages.sh upgrades from: those of PACKAGES with other programs. It takes as long as `make commands`.
set -eu

[ $# -ge 4 ] || { echo "usage: $0 COMMIT VERSION PACKAGES FOLDER [PRODUCT...]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
packages=$(cd "$3" && pwd)
mkdir -p "$4"
folder=$(cd "$4" && pwd)
source=$folder/source
if [ ! -d "$source" ]; then
    mkdir "$source.new"
    git -C "$root" archive "$1" | tar -x -C "$source.new"
    mv "$source.new" "$source"
fi

build() { # build PRODUCT
    product=$1
    set --
    [ "$product" = tenon ] || set -- --traits OpenSSL
    (cd "$source" && Tests/Scripts/swift.sh build -q -c release --static-swift-stdlib --disable-local-rpath \
        --scratch-path ".build/$product" --product "$product" "$@") || exit 1
    rm -rf "$folder/tree"
    dpkg-deb -R "$(ls "$packages/${product}"_*.deb)" "$folder/tree"
    strip -o "$folder/tree/usr/bin/$product" "$source/.build/$product/release/$product"
    sed -i "s/^Version: .*/Version: $version/" "$folder/tree/DEBIAN/control"
    (cd "$folder/tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | xargs -0 md5sum > DEBIAN/md5sums)
    dpkg-deb --root-owner-group -b "$folder/tree" "$folder/${product}_${version}_$(dpkg --print-architecture).deb"
    rm -rf "$folder/tree"
}

version=$2-1
commit=$1
shift 4
[ $# != 0 ] || set -- tenon tenon-authority
for product; do build "$product"; done
echo "$folder: the commands of $commit as $version"
