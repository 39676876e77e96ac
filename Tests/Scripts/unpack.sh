#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# unpack.sh PACKAGE...: each Debian package, with the packages that it needs and this machine lacks, unpacked below
# .build/deps/PACKAGE. They are used as they lie there: nothing is installed and no script of a package is run.
#
#   .build/deps/PACKAGE/usr/...     the files of all of them
#   .build/deps/PACKAGE/packages    what they are: one NAME=VERSION a line
#
# What is there already, in the version that apt would take, is not fetched again. Root also fetches apt's lists, when
# apt does not know a package or its file is not on the server any more.
set -eu

[ $# != 0 ] || { echo "usage: $0 PACKAGE..." >&2; exit 2; }
deps=$(cd "$(dirname "$0")/../.." && pwd)/.build/deps
mkdir -p "$deps"
new=
trap '[ -z "$new" ] || rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM

# One at a time: the lock ends with this process and what it started.
exec 9> "$deps/.lock"
flock 9
rm -rf "$deps"/.new.*

# What apt would install, or install again, for a package. It needs no root, and locks nothing.
plan() { # plan PACKAGE
    LC_ALL=C apt-get -s -qq -o APT::Get::Show-User-Simulation-Note=false install --reinstall --no-install-recommends "$1" \
        > "$new/plan" 2> "$new/log" || return 1
    sed -n 's/^Inst \([^ ]*\) \(\[[^]]*\] \)\{0,1\}(\([^ ]*\) .*/\1=\3/p' "$new/plan" > "$new/packages"
    grep -q "^$1=" "$new/packages"
}

fetch() {
    # shellcheck disable=SC2046
    (cd "$new/files" && apt-get -qq -o APT::Sandbox::User=root download $(cat "$new/packages")) > "$new/log" 2>&1
}

is_there() { # is_there PACKAGE
    [ -e "$deps/$1/packages" ] && ! grep -vxFf "$deps/$1/packages" "$new/packages" > "$new/missing"
}

get() { # get PACKAGE
    mkdir "$new/files"
    plan "$1" && { is_there "$1" || fetch; }
}

fail() { # fail PACKAGE
    echo "$1 cannot be unpacked: apt does not know it, or cannot fetch it or what it needs" >&2
    sed 's/^/    /' "$new/log" >&2
    [ "$(id -u)" = 0 ] || echo "run \"apt-get update\" as root and try again" >&2
    exit 1
}

unpack() { # unpack PACKAGE
    echo "unpacking: $(paste -sd ' ' "$new/packages")"
    mkdir "$new/tree"
    for file in "$new/files"/*.deb; do
        dpkg -x "$file" "$new/tree"
    done
    cp "$new/packages" "$new/tree"
    [ ! -e "$deps/$1" ] || mv "$deps/$1" "$new/old"
    mv -T "$new/tree" "$deps/$1"
}

updated=
for package; do
    new=$(mktemp -d "$deps/.new.XXXXXX")
    if ! get "$package"; then
        [ "$(id -u)" = 0 ] && [ -z "$updated" ] || fail "$package"
        updated=1
        apt-get update -qq > "$new/log" 2>&1 || fail "$package"
        rm -r "$new/files"
        get "$package" || fail "$package"
    fi
    is_there "$package" || unpack "$package"
    rm -rf "$new"
    new=
done
