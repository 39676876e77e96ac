#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# root.sh make NAME RELEASE PACKAGE...   a root of that release of Debian, below .build/roots, with these packages
# root.sh run NAME COMMAND...            runs a command in it, as root; the clone is its working directory
# root.sh swift NAME COMMAND...          the same, with this machine's Swift toolchain in PATH there
#
# A package may be NAME:ARCHITECTURE. A root that is there already gets the packages that it lacks. What is built in a
# root goes to .build/roots/NAME.build, which the command sees as .build. Nothing is installed on this machine; mounts
# and processes end with the command. TENON_MIRROR is the mirror that packages come from.
set -eu

usage() {
    sed -n 's/^# \(root\.sh .*\)/  \1/p' "$0" >&2
    exit 2
}

[ $# -ge 3 ] || usage
[ "$(id -u)" = 0 ] || { echo "$0: only root can make a root and change into it" >&2; exit 1; }
clone=$(cd "$(dirname "$0")/../.." && pwd)
roots=$clone/.build/roots
root=$roots/$2
mirror=${TENON_MIRROR:-http://deb.debian.org/debian}

# Where the toolchain of `swift` lies: its usr/bin is what a root gets into PATH.
toolchain_folder() {
    program=$(readlink -f "$(command -v swift)") && [ -n "$program" ] && folder=${program%/usr/bin/*} &&
        [ -n "$folder" ] && [ "$folder" != "$program" ] ||
        { echo "$0: swift is not in PATH, or belongs to a package of this machine" >&2; exit 1; }
    echo "$folder"
}

toolchain=
enter() { # enter ROOT COMMAND...
    into=$1
    shift
    mkdir -p "$into/source" "$into/opt/swift" "$roots/${root##*/}.build"
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -c '
        set -e
        root=$1 clone=$2 build=$3 toolchain=$4
        shift 4
        mount --make-rprivate /
        mount --rbind /dev "$root/dev"
        mount -t proc proc "$root/proc"
        mount -t tmpfs tmpfs "$root/run"
        mount --bind "$clone" "$root/source"
        mount --bind "$build" "$root/source/.build"
        [ -z "$toolchain" ] || mount --bind -o ro "$toolchain" "$root/opt/swift"
        exec chroot "$root" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive ${TERM:+TERM="$TERM"} \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin${toolchain:+:/opt/swift/usr/bin} \
            sh -c '\''cd /source && exec "$@"'\'' sh "$@"
    ' sh "$into" "$clone" "$roots/${root##*/}.build" "$toolchain" "$@"
}

# Only what is whole has the root's name: a bootstrap that was cut is begun anew.
bootstrap() { # bootstrap RELEASE
    [ ! -e "$root" ] || return 0
    "$clone/Tests/Scripts/unpack.sh" debootstrap
    rm -rf "$root.new"
    mkdir -p "$root.new"
    DEBOOTSTRAP_DIR=$clone/.build/deps/debootstrap/usr/share/debootstrap \
        "$clone/.build/deps/debootstrap/usr/sbin/debootstrap" --variant=minbase "$1" "$root.new" "$mirror" > "$root.log" 2>&1 ||
        { tail -n 20 "$root.log" >&2; exit 1; }
    # Packages do not start services here.
    printf '#!/bin/sh\nexit 101\n' > "$root.new/usr/sbin/policy-rc.d"
    chmod 755 "$root.new/usr/sbin/policy-rc.d"
    # One package of two architectures may differ in a file that both have, of its documentation.
    cat > "$root.new/etc/apt/apt.conf.d/90tenon" << 'EOF'
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Dpkg::Options { "--force-unsafe-io"; "--force-overwrite"; };
EOF
    mv "$root.new" "$root"
}

install() { # install PACKAGE...
    enter "$root" sh -c '
        set -e
        missing=
        for package; do
            case $package in
            *:*) dpkg --print-foreign-architectures | grep -qx "${package#*:}" || dpkg --add-architecture "${package#*:}" ;;
            esac
            dpkg-query -W -f "\${db:Status-Abbrev}" "$package" 2> /dev/null | grep -q "^ii" || missing="$missing $package"
        done
        [ -n "$missing" ] || exit 0
        apt-get -qq update
        apt-get -qq install $missing
        apt-get -qq clean
    ' sh "$@" > "$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; exit 1; }
}

case $1 in
make)
    # One at a time: the lock ends with this process and what it started.
    mkdir -p "$roots"
    exec 9> "$root.lock"
    flock 9
    release=$3
    shift 3
    bootstrap "$release"
    [ $# = 0 ] || install "$@"
    ;;
run | swift)
    [ -d "$root/usr" ] || { echo "$0: there is no root \"$2\"; make it first" >&2; exit 1; }
    [ "$1" = run ] || toolchain=$(toolchain_folder) || exit 1
    shift 2
    enter "$root" "$@"
    ;;
*) usage ;;
esac
