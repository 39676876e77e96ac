#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# release.sh: what a release must pass, from a clean clone of the commit: `make release-check`. Each step's output is in
# .build/release, and the last lines are a table. It goes on after a step that failed, and ends with 1 if one did.
set -u -o pipefail

cd "$(dirname "$0")/.." || exit 1
[ "$(id -u)" = 0 ] || { echo "$0: only root can make a root and change into it" >&2; exit 1; }
for program in dh lintian; do
    command -v $program > /dev/null || { echo "$0: apt-get install debhelper lintian" >&2; exit 1; }
done
[ -z "$(git status --porcelain)" ] || { echo "$0: commit or remove what git status shows" >&2; exit 1; }
commit=$(git rev-parse --short HEAD)
version=$(sed -n 's/^#define VERSION_[A-Z]* //p' CSources/base/constants.c | paste -sd .)
logs=$PWD/.build/release
rm -rf "$logs"
mkdir -p "$logs"
git clone -q . "$logs/clone" || exit 1
cd "$logs/clone" || exit 1
failed=0
table=

step() { # step NAME COMMAND...
    local name=$1 begun=$SECONDS result=passed
    shift
    "$@" > "$logs/${name// /-}.log" 2>&1 < /dev/null || { result=FAILED; failed=1; }
    printf '%-7s %5d s   %s\n' "$result" $((SECONDS - begun)) "$name"
    table+=$(printf '| %s | %s | %d s |' "$name" "$result" $((SECONDS - begun)))$'\n'
}

changelog() { # the version has a section, so that nothing is published under "Unreleased"
    grep -q "^## \[$version\]" CHANGELOG.md
}

reproducible() { # the archive of this commit is the same twice
    local first
    make dist && first=$(sha256sum .build/dist/*.gz .build/dist/*.json) && make dist &&
        [ "$first" = "$(sha256sum .build/dist/*.gz .build/dist/*.json)" ]
}

archive_builds() { # the archive builds without git
    tar -xzf ".build/dist/tenon-$version.tar.gz" -C "$logs" && make -C "$logs/tenon-$version" lib check-install
}

step "changelog" changelog
step "CI" .ci/run
step "demo" make demo
step "commands" make lib commands
step "packages" make deb
step "packages in a root" make check-packages
step "container" make container-root
step "archive" reproducible
step "archive builds" archive_builds

for crypto in mbedtls openssl; do
    step "Debian 13 $crypto" make check-arch RELEASE=trixie ARCH=amd64 CRYPTO=$crypto
done
# With OpenSSL, as an authority is shipped; CI has mbedTLS. The demo uses what was built for the tests.
step "Debian 13 Swift" make in-root RELEASE=trixie TARGETS="check-swift CRYPTO=openssl"
step "Debian 13 demo" make in-root RELEASE=trixie TARGETS="demo CRYPTO=openssl"
step "Debian 13 figures" make in-root RELEASE=trixie TARGETS=bench-check
step "Debian 13 packages" make in-root RELEASE=trixie TARGETS="lib commands deb"
step "Debian 13 packages in a root" make check-packages RELEASE=trixie PACKAGES=.build/roots/trixie.build/packages
step "i386" make check-arch ARCH=i386
for arch in arm64 armhf riscv64 s390x; do # by qemu, with fewer rounds
    step "$arch" make check-arch ARCH=$arch QUICK=1
done

echo
echo "Tenon $version, commit $commit, $(. /etc/os-release && echo "$PRETTY_NAME"), $(uname -m)"
echo
printf '| step | result | time |\n|---|---|---|\n%s' "$table"
exit "$failed"
