#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names the Debian packages that the build and the tests need and this machine lacks; as root it installs them.
set -eu

missing=
need() { # need PACKAGE TEST...: the test fails when the package is missing
    package=$1
    shift
    "$@" > /dev/null 2>&1 || missing="$missing $package"
}

for program in gcc g++ make git curl openssl swtpm python3 rustc clang clang-format; do
    need "$program" command -v "$program"
done
need libc6-dev test -e /usr/include/stdio.h
need binutils command -v readelf
need pkg-config command -v pkg-config
need libmbedtls-dev test -e /usr/include/mbedtls/ecp.h
need libssl-dev test -e /usr/include/openssl/ec.h
need libtss2-dev test -e /usr/include/tss2/tss2_tctildr.h
need libhiredis-dev test -e /usr/include/hiredis/hiredis.h
need libpq-dev test -e /usr/include/postgresql/libpq-fe.h
need libsqlite3-dev test -e /usr/include/sqlite3.h
need libcurl4-openssl-dev pkg-config --exists libcurl
need libmicrohttpd-dev test -e /usr/include/microhttpd.h
need swtpm-tools command -v swtpm_setup
need procps command -v pgrep
need python3-venv python3 -c 'import ensurepip, venv'
need libsodium23 python3 -c 'import ctypes; ctypes.CDLL("libsodium.so.23")'
need valgrind test -e /usr/include/valgrind/memcheck.h

# Debian 13 has a Swift of its own, 6.0, which cannot build Tenon: it has no Span.
if ! command -v swift > /dev/null 2>&1; then
    echo "swift is not in PATH: install a Swift toolchain of 6.2 or later (https://www.swift.org/install) and try again" >&2
    exit 1
fi
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" != 0 ]; then
    echo "packages are missing; run this as root, then try again:" >&2
    echo "  $install" >&2
    exit 1
fi
echo "installing:$missing"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive $install -qq > /dev/null
