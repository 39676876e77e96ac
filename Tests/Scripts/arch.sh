#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# arch.sh ARCHITECTURE [VARIABLE=VALUE...]: `make check` with these variables for another processor: a cross compiler
# and the libraries of that processor in a root of Debian (root.sh), and qemu, which runs the tests beside a software
# TPM of this machine's own.
set -eu

arch=${1:?usage: arch.sh arm64|armhf|i386|riscv64|s390x [VARIABLE=VALUE...]}
shift
release=bookworm
case $arch in
arm64) triplet=aarch64-linux-gnu qemu=qemu-aarch64 ;;
armhf) triplet=arm-linux-gnueabihf qemu=qemu-arm ;;
i386) triplet=i686-linux-gnu qemu=qemu-i386 ;;
# The first release of Debian that has it is 13.
riscv64) triplet=riscv64-linux-gnu qemu=qemu-riscv64 release=trixie ;;
s390x) triplet=s390x-linux-gnu qemu=qemu-s390x ;;
*)
    echo "arch.sh: \"$arch\" is not one of arm64, armhf, i386, riscv64 and s390x" >&2
    exit 2
    ;;
esac

scripts=$(cd "$(dirname "$0")" && pwd)
"$scripts/root.sh" make "$release" "$release" gcc libc6-dev make openssl procps swtpm swtpm-tools qemu-user \
    "gcc-$(echo $triplet | tr _ -)" "libc6-dev:$arch" "libmbedtls-dev:$arch" "libssl-dev:$arch" "libtss2-dev:$arch"
exec "$scripts/root.sh" run "$release" make -j "$(nproc)" check CC=$triplet-gcc RUN=$qemu "$@"
