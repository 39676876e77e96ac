#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# packages.sh COMMAND...: runs a command with the peers of the benches in its reach: Debian packages that are unpacked
# below .build/deps and used as they lie there. BENCH_PACKAGES names a file of those that could be had, NAME=VERSION a
# line; one that could not be had is said, and is missing there. What is unpacked already stays as it is. Without a COMMAND it only unpacks.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
deps=$root/.build/deps
packages='tpm2-openssl tpm2-tools openssl libtpm2-pkcs11-1 python3-tpm2-pytss tpm2-abrmd libtss2-tcti-tabrmd0
    dbus-daemon libtss2-fapi1 libp11-kit-dev nettle-dev libwolfssl-dev libbotan-2-dev libgcrypt20-dev'
architecture=$(uname -m)-linux-gnu

mkdir -p "$deps"
BENCH_PACKAGES=$deps/bench-packages
libraries=
for package in $packages; do
    [ -e "$deps/$package/packages" ] || "$root/Tests/Scripts/unpack.sh" "$package" >&2 || continue
    libraries=$libraries:$deps/$package/usr/lib/$architecture
    cat "$deps/$package/packages"
done > "$BENCH_PACKAGES"
# What the build links anyway.
dpkg-query -W -f '${Package}=${Version}\n' libtss2-dev >> "$BENCH_PACKAGES" 2> /dev/null || :
[ $# != 0 ] || exit 0

export BENCH_PACKAGES
export BENCH_PYTSS="$root/Bench/peers/pytss.py"
export BENCH_FAPI_PROFILES="$deps/libtss2-fapi1/etc/tpm2-tss/fapi-profiles"
export BENCH_OPENSSL_MODULES="$deps/tpm2-openssl/usr/lib/$architecture/ossl-modules" OPENSSL_CONF=/dev/null
export PYTHONPATH="$deps/python3-tpm2-pytss/usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH="${libraries#:}"
export PATH="$deps/tpm2-tools/usr/bin:$deps/openssl/usr/bin:$deps/dbus-daemon/usr/bin:$deps/tpm2-abrmd/usr/sbin:$PATH"
export TSS2_LOG=all+NONE TPM2_PKCS11_LOG_LEVEL=0
exec "$@"
