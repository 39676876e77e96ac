#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# arch.sh RELEASE ARCHITECTURE [VARIABLE=VALUE...]: `make check` with these variables in a root of that release of Debian
# (root.sh): with amd64 as on this machine; for another processor with a cross compiler and the libraries of that
# processor, by qemu, beside a software TPM of this machine's own. An x86-64 kernel runs i386 itself.
set -eu

[ $# -ge 2 ] || { echo "usage: arch.sh RELEASE amd64|arm64|armhf|i386|riscv64|s390x [VARIABLE=VALUE...]" >&2; exit 2; }
release=$1 arch=$2
shift 2
case $arch in
amd64) triplet= qemu= ;;
arm64) triplet=aarch64-linux-gnu qemu=qemu-aarch64 ;;
armhf) triplet=arm-linux-gnueabihf qemu=qemu-arm ;;
i386) triplet=i686-linux-gnu qemu= ;;
# The first release of Debian that has it is 13.
riscv64) triplet=riscv64-linux-gnu qemu=qemu-riscv64 release=trixie ;;
s390x) triplet=s390x-linux-gnu qemu=qemu-s390x ;;
*)
    echo "arch.sh: \"$arch\" is not one of amd64, arm64, armhf, i386, riscv64 and s390x" >&2
    exit 2
    ;;
esac

scripts=$(cd "$(dirname "$0")" && pwd)
# A process that qemu-user has forked from one with threads cannot start a thread: qemu 7.2 ends it by an assertion of its
# own ("qemu_plugin_vcpu_init_hook"), qemu 10 waits for ever. And qemu 7.2 says that it follows each advice of madvise,
# but no page is wiped in a child. These tests need the one and the other.
without=native_fork_after_use
[ "$release" = trixie ] || without="$without tpm_fork_child_is_told"
[ -z "$qemu" ] || set -- "TENON_TEST_WITHOUT=$without" "$@"
set -- make -j "$(nproc)" check ${triplet:+CC=$triplet-gcc} ${qemu:+RUN=$qemu} "$@"
"$scripts/root.sh" make "$release" "$release" gcc libc6-dev make openssl procps swtpm swtpm-tools \
    ${qemu:+qemu-user} ${triplet:+"gcc-$(echo $triplet | tr _ -)"} \
    "libc6-dev:$arch" "libmbedtls-dev:$arch" "libssl-dev:$arch" "libtss2-dev:$arch"
exec "$scripts/root.sh" run "$release" "$@"
