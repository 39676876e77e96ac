#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh RELEASE PACKAGES TPM_STATE [OLD]: the Debian packages in the folder PACKAGES, in a root of that release that
# has nothing but Debian's own packages: what they contain, whether a device registers with them at an authority from
# them, what removing and purging leaves, and an upgrade from the packages in the folder OLD that is interrupted at each
# command of its scripts.
set -u -o pipefail
export LC_ALL=C

[ $# -ge 3 ] || { echo "usage: $0 RELEASE PACKAGES TPM_STATE [OLD]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
release=$1 name=packages-$1
packages=$(cd "$2" && pwd) && state=$(cd "$3" && pwd) || exit 1
old=${4:+$(cd "$4" && pwd)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

expect() { # expect WHAT COMMAND...
    what=$1
    shift
    if "$@" > "$scratch/output" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "does not hold: $what"
        sed 's/^/    /' "$scratch/output"
    fi
}

refuse() {
    ! "$@"
}

dynamic() { # dynamic FILE PATTERN: a line of its dynamic section
    readelf -dW "$1" | grep -E "$2"
}

hardened() { # hardened FILE
    dynamic "$1" 'BIND_NOW|FLAGS_1.*NOW' && readelf -lW "$1" | grep GNU_RELRO &&
        readelf -hW "$1" | grep -E 'Type: +DYN' && ! dynamic "$1" 'RPATH|RUNPATH|TEXTREL'
}

# What they contain.
printf '%-20s %12s %14s\n' package 'size, KiB' 'installed, KiB'
for package in libtenon0 libtenon-tpm0 libsynheart-native-crypto libtenon-dev tenon tenon-authority; do
    file=$(ls "$packages/${package}"_*.deb)
    expect "$package unpacks" dpkg-deb -x "$file" "$scratch/$package"
    printf '%-20s %12d %14s\n' "$package" $(($(stat -c %s "$file") / 1024)) "$(dpkg-deb -f "$file" Installed-Size)"
done
for file in "$scratch"/tenon*/usr/bin/tenon* "$scratch"/libtenon*0/usr/lib/*/*.so.*.* \
    "$scratch"/libsynheart-native-crypto/usr/lib/*/*.so; do
    expect "${file##*/}: relro, now, PIE, no search path" hardened "$file"
done
expect "no file names the clone" refuse grep -rlF "$root/" "$scratch"/*tenon* "$scratch"/libsynheart*
lint() { lintian --fail-on error --tag-display-limit 0 "$packages"/*.changes; }
expect "lintian finds no error" lint

# In a root: what comes from this machine is what a visitor brings along.
roots=$root/Tests/Scripts/root.sh
build=$root/.build/roots/$name.build
expect "a root" "$roots" make "$name" "$release" python3 curl swtpm procps libtss2-tcti-swtpm0
rm -rf "$build/try"
mkdir -p "$build/try" && cp -r "$packages" "$build/try/packages" && cp -r "$state" "$build/try/tpm" || exit 1
[ -z "$old" ] || { mkdir "$build/try/old" && cp "$old"/*.deb "$build/try/old"; } || exit 1
"$roots" run "$name" Tests/Scripts/packages_installed.sh .build/try || failed=$((failed + 1))

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
