#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh ROOT SCRATCH: installs the library of ROOT below SCRATCH, builds verify.c with what pkg-config says and
# nothing else, runs it, and looks at what was linked and how; installs where it must fail, twice, and commands that are
# made up; and builds the library at another path. With CRYPTO=openssl libcrypto may be linked as well.
set -u

[ $# = 2 ] || { echo "usage: $0 ROOT SCRATCH"; exit 1; }
root=$(cd "$1" && pwd) || exit 1
mkdir -p "$2" && scratch=$(cd "$2" && pwd) || exit 1
prefix=$scratch/prefix stage=$scratch/stage
locked=$scratch/locked spaced="$scratch/a stage"
rm -rf "$prefix" "$stage" "$locked" "$spaced" "$scratch/commands" "$scratch/paths"
output=$scratch/output
# shellcheck source=/dev/null
. "$root/Tests/Scripts/expect.sh"

# RFC 6979, A.2.5: the key, and its signature over "sample".
key=3059301306072a8648ce3d020106082a8648ce3d03010703420004
key=${key}60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6
key=${key}7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299
key64=MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7Yfps
key64=${key64}5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==
signature=MEYCIQDv1IsqrLao/RFA3ZzUXoHWnSyHe1aq+ZHDTQ6oTq83FgIhAPfLHJQtZXxB1DbHobbin2Xz6QDbua/0Bk3Eqy+EOs2o
printf 'sample' > "$scratch/good"
printf 'Sample' > "$scratch/bad"

says() { # says OUTPUT CODE PROGRAM...
    wanted=$1 code=$2
    shift 2
    found=$("$@" 2>&1)
    [ "$?:$found" = "$code:$wanted" ] || { echo "$found"; return 1; }
}

verifies() { # verifies PROGRAM
    expect "a hex key" says valid 0 "$1" "$key" "$signature" "$scratch/good"
    expect "a base64 key" says valid 0 "$1" "$key64" "$signature" "$scratch/good"
    expect "another message" says "invalid: TENON_ERROR_SIGNATURE_INVALID" 3 "$1" "$key" "$signature" "$scratch/bad"
    expect "a cut signature" says "invalid: TENON_ERROR_BASE64_LENGTH" 2 "$1" "$key" "${signature%???}" "$scratch/good"
    expect "a key off the curve" says "invalid: TENON_ERROR_POINT_OFF_CURVE" 2 "$1" "${key%9}8" "$signature" "$scratch/good"
    expect "no file" says "verify: the file cannot be opened" 1 "$1" "$key" "$signature" "$scratch/none"
}

# Every library that the dynamic linker brings in, those of libraries included.
links_only() { # links_only ALLOWED FILE
    ldd "$2" > "$scratch/linked" || return 1
    ! awk '{ sub(/.*\//, "", $1); print $1 }' "$scratch/linked" | grep -vxE "$1"
}

system='linux-vdso\.so\.1|ld-linux[-a-z0-9_]*\.so\.[0-9]+|libc\.so\.6'
backend='libmbedcrypto\.so\.[0-9]+'
# Debian 13's libcrypto needs the other two.
[ "${CRYPTO:-mbedtls}" = mbedtls ] || backend="$backend|libcrypto\\.so\\.3|libz\\.so\\.1|libzstd\\.so\\.1"

build_verify() { # build_verify OUTPUT PKG_CONFIG_FLAGS CC_FLAGS [PREFIX]
    flags=$(PKG_CONFIG_PATH=${4:-$prefix}/lib/pkgconfig pkg-config $2 --cflags --libs tenon) || return 1
    # pkg-config escapes what a path contains.
    eval cc -Wall -Wextra -Werror "$3" '"$root/Examples/verify.c"' "$flags" -o '"$1"'
}

files() {
    (cd "$1" && find . | sort)
}

dynamic() { # dynamic PATTERN: a line of the library's dynamic section
    readelf -dW "$library" | grep -E "$1"
}

segment() {
    readelf -lW "$library" | grep -E "$1"
}

expect "make install PREFIX=" make -C "$root" install-lib PREFIX="$prefix"
expect "make install DESTDIR= PREFIX=" make -C "$root" install-lib DESTDIR="$stage" PREFIX=/usr
expect "DESTDIR only moves" test "$(files "$prefix")" = "$(files "$stage/usr")"
expect "the staged tenon.pc says /usr" grep -qx 'prefix=/usr' "$stage/usr/lib/pkgconfig/tenon.pc"
expect "nothing that is staged names the stage" refuse grep -rF "$stage" "$stage"
for header in "$root"/include/tenon/*.h; do
    expect "${header##*/} is installed" cmp "$header" "$prefix/include/tenon/${header##*/}"
done

library=$prefix/lib/libtenon.so.0
expect "SONAME" dynamic 'SONAME.*\[libtenon\.so\.0\]'
expect "no search path" refuse dynamic 'RPATH|RUNPATH'
expect "no relocation in code" refuse dynamic TEXTREL
expect "bound at start" dynamic 'BIND_NOW|FLAGS_1.*NOW'
expect "read-only after relocation" segment GNU_RELRO
expect "a stack that is said not to be executable" segment 'GNU_STACK.* RW '

export LD_LIBRARY_PATH="$prefix/lib"
expect "verify.c builds" build_verify "$scratch/verify" "" ""
verifies "$scratch/verify"
expect "the program links nothing else" links_only "libtenon\\.so\\.0|$backend|$system" "$scratch/verify"
expect "it runs with the installed library" grep -q "libtenon\.so\.0 => $prefix/lib/" "$scratch/linked"
unset LD_LIBRARY_PATH

expect "verify.c builds with libtenon.a" build_verify "$scratch/verify-static" --static -static
verifies "$scratch/verify-static"
expect "which links nothing" refuse ldd "$scratch/verify-static"

# Faults of an installation, and how it is undone.
unprivileged() {
    if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi
}

fails_saying() { # fails_saying TEXT COMMAND...
    wanted=$1
    shift
    ! "$@" > "$scratch/said" 2>&1 && grep -qF "$wanted" "$scratch/said" && return
    cat "$scratch/said"
    return 1
}

nothing_below() { # nothing_below FOLDER: neither files nor links
    [ -z "$(find "$1" ! -type d)" ]
}

contents() {
    (cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2)
}

mkdir "$locked" && chmod 555 "$locked"
expect "without permission it says so" fails_saying 'Permission denied' \
    unprivileged make -C "$root" install-lib PREFIX="$locked"
expect "and leaves nothing" nothing_below "$locked"

before=$(contents "$prefix")
expect "it may be installed twice" make -C "$root" install-lib PREFIX="$prefix"
expect "with the same outcome" test "$(contents "$prefix")" = "$before"

expect "a path with spaces" make -C "$root" install-lib PREFIX="$spaced"
expect "verify.c builds from there" build_verify "$scratch/verify-spaced" --static -static "$spaced"
verifies "$scratch/verify-spaced"

expect "LIBDIR" make -C "$root" install-lib DESTDIR="$spaced" PREFIX=/usr LIBDIR=/usr/lib/triplet
expect "has the libraries" test -e "$spaced/usr/lib/triplet/libtenon.so.0"
expect "and its name is in tenon.pc" grep -qxF 'libdir=${prefix}/lib/triplet' "$spaced/usr/lib/triplet/pkgconfig/tenon.pc"

expect "a packager may have warnings" sh -c "make -C '$root' -Bn V=1 WERROR= lib > '$scratch/plan'"
expect "and then none is an error" refuse grep -q -e -Werror "$scratch/plan"

# The commands are made up: they say what was asked of them.
mkdir "$scratch/commands"
for name in tenon tenon-authority; do
    printf '#!/bin/sh\necho "%s $*"\n' "$name" > "$scratch/commands/$name"
    chmod 755 "$scratch/commands/$name"
done
expect "all, into a path with spaces" make -C "$root" install COMMANDS="$scratch/commands" PREFIX="$spaced/all"
expect "the command runs from there" says "tenon x" 0 "$spaced/all/bin/tenon" x
expect "its manual" says "tenon --man" 0 cat "$spaced/all/share/man/man1/tenon.1"
expect "its completion" says "tenon --completion" 0 cat "$spaced/all/share/bash-completion/completions/tenon"
unit=$spaced/all/lib/systemd/system/tenon-authority.service
expect "the unit starts what was installed" grep -qxF "ExecStart=$(printf %s "$spaced/all" | sed 's/ /\\x20/g')/bin/tenon-authority serve" "$unit"
expect "nothing is left to replace" refuse grep -rE '@[A-Z_]+@' "$spaced/all/lib/systemd" "$spaced/all/lib/pkgconfig"
echo mine > "$spaced/all/lib/mine"
expect "uninstall" make -C "$root" uninstall PREFIX="$spaced/all"
expect "removes what was installed, and nothing else" test "$(find "$spaced/all" ! -type d)" = "$spaced/all/lib/mine"
expect "uninstall, twice" make -C "$root" uninstall PREFIX="$spaced/all"

expect "install without the commands says what to do" fails_saying 'run `make commands` first' \
    make -C "$root" install COMMANDS="$scratch/none" DESTDIR="$spaced/none"
expect "before it installs anything" test ! -e "$spaced/none"

# A build at another path is the same, and has what debuggers read.
here=$root/.build/make/${CRYPTO:-mbedtls}
other=$scratch/paths/the/other
there=$other/.build/make/${CRYPTO:-mbedtls}
build_there() {
    mkdir -p "$other" && cp -r "$root/CSources" "$root/include" "$root/Makefile" "$root/packaging" "$other" &&
        make -C "$other" lib CRYPTO="${CRYPTO:-mbedtls}"
}
libraries() { # libraries FOLDER
    (cd "$1" && find . -maxdepth 1 -type f -name 'lib*' ! -name '*-inner.a' | sort)
}
are_the_same() {
    [ "$(libraries "$here" | wc -l)" -ge 6 ] && [ "$(libraries "$here")" = "$(libraries "$there")" ] || return 1
    for library in $(libraries "$here"); do cmp "$here/$library" "$there/$library" || return 1; done
}
name_no_path() {
    for library in $(libraries "$here"); do ! grep -aqF "$root" "$here/$library" || return 1; done
}
expect "a build at another path" build_there
expect "it has what debuggers read" sh -c "readelf -SW '$there/libtenon.so.0' | grep -q debug_info"
expect "the libraries are the same" are_the_same
expect "none names its path" name_no_path

verdict
