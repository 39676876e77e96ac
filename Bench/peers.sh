#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# peers.sh COMMAND...: runs a command with the peers of the benches in its reach: Debian packages that are unpacked below
# .build/deps and used as they lie there. Their versions are in BENCH_...; one that could not be had is said, and has none.
# Without a COMMAND it only unpacks. What is unpacked already stays as it is.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
deps=$root/.build/deps
architecture=$(uname -m)-linux-gnu

libraries=
for package in tpm2-openssl libtpm2-pkcs11-1 libp11-kit-dev; do
    [ -e "$deps/$package/packages" ] || "$root/Tests/Scripts/unpack.sh" "$package" >&2 || continue
    libraries=$libraries:$deps/$package/usr/lib/$architecture
done
[ $# != 0 ] || exit 0

version() { sed -n "s/^$1=//p" "$deps/$1/packages" 2> /dev/null || :; }
BENCH_PROVIDER=$(version tpm2-openssl)
BENCH_PKCS11=$(version libtpm2-pkcs11-1)
# What the build links anyway.
BENCH_ESYS=$(dpkg-query -W -f '${Version}' libtss2-dev 2> /dev/null || :)
export BENCH_PROVIDER BENCH_PKCS11 BENCH_ESYS
export BENCH_MODULES="$deps/tpm2-openssl/usr/lib/$architecture/ossl-modules" OPENSSL_CONF=/dev/null
export LD_LIBRARY_PATH="${libraries#:}" TSS2_LOG=all+NONE TPM2_PKCS11_LOG_LEVEL=0
exec "$@"
