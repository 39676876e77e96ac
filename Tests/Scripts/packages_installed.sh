#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# packages_installed.sh FOLDER: what packages.sh does in its root; FOLDER has packages/, tpm/ and, to upgrade from,
# old/.
set -u -o pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(cd "$1" && pwd) || exit 1
packages=$folder/packages state=$folder/tpm old=$folder/old
# shellcheck disable=SC2034
tenon_authority=/usr/bin/tenon-authority
. "$root/Tests/Scripts/world.sh"
world
passed=0 failed=0

expect() { # expect WHAT COMMAND...
    local what=$1
    shift
    if "$@" > "$world/output" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "does not hold: $what"
        tail -n 30 "$world/output" | sed 's/^/    /'
    fi
}

refuse() { ! "$@"; }

deb() { ls "$1/$2"_*.deb; } # deb FOLDER PACKAGE
says() { "${@:2}" 2>&1 | grep -qE "$1"; } # says PATTERN COMMAND...
installed() { dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2> /dev/null | grep -q '^ii'; }
version() { dpkg-query -W -f '${Version}' "$1"; }

purge_all() { # what an earlier run left, too
    dpkg --purge --force-depends tenon tenon-authority libsynheart-native-crypto libtenon-dev \
        libtenon-tpm0-dbgsym libtenon0-dbgsym libtenon-tpm0 libtenon0
    rm -rf /var/lib/tenon /var/lib/tenon-authority
}

answer() { printf '%s %s boolean %s\n' "$1" "$1/$2" "$3" | debconf-set-selections; } # answer PACKAGE QUESTION VALUE

purge_all > "$world/output" 2>&1
apt-get -qq update > "$world/output" 2>&1 || { cat "$world/output"; exit 1; }

# --- installed
count=$(dpkg-query -f '.\n' -W | wc -l)
expect "all packages install, with what they depend on" apt-get -qq install \
    "$packages"/libtenon{0,-tpm0,-dev}_*.deb "$packages"/libsynheart-native-crypto_*.deb "$packages"/tenon_*.deb \
    "$packages"/tenon-authority_*.deb
echo "installed: $(($(dpkg-query -f '.\n' -W | wc -l) - count)) packages, with those that they need"
expect "no toolchain is here" refuse command -v swift
expect "tenon computes with mbedTLS" says ' with mbedtls$' tenon --version
expect "tenon-authority computes with OpenSSL" says ' with openssl$' tenon-authority --version
for program in /usr/bin/tenon /usr/bin/tenon-authority; do
    expect "$program finds its libraries" refuse says 'not found' ldd "$program"
    expect "$program needs none of Swift's" refuse says swift ldd "$program"
done
expect "the authority's user" says '^tenon-authority:.*:/usr/sbin/nologin$' getent passwd tenon-authority
expect "its folder" test "$(stat -c '%U %a' /var/lib/tenon-authority)" = "tenon-authority 700"
expect "completion" bash -c '. /usr/share/bash-completion/completions/tenon && complete -p tenon'
expect "manuals" test -s /usr/share/man/man1/tenon.1.gz -a -s /usr/share/man/man8/tenon-authority.8.gz
expect "units that systemd takes" systemd-analyze --man=no verify \
    tenon-authority.service tenon-maintain.service tenon-maintain.timer
expect "which is not started before it has a CA" test "$(systemctl --root=/ is-enabled tenon-authority)" = disabled
expect "a CA before the first start" runuser -u tenon-authority -- \
    tenon-authority ca init --state-dir /var/lib/tenon-authority --name Example
expect "the demo, with what is installed" "$root/Examples/demo.sh" /usr/bin "$state"
expect "the demo with a runtime, which loads the callbacks by their name" \
    env RUNTIME=libsynheart_native_crypto.so "$root/Examples/demo.sh" /usr/bin "$state"

# --- a registered identity
unset TENON_STATE_DIR
export STATE_DIRECTORY=
world_tpm device "$state/state"
export TENON_TPM=swtpm:path=$world/device.tpm

registers() {
    world_authority "$state/root.pem"
    tenon register --service "$url/auth" --app demo --dialect tenon --disclose-ek --ek-chain "$state/issuer.pem"
}

accepted() { # the authority takes what the device signs
    local line
    line=$(tenon sign POST "$url/v1/echo" --data text --format curl) || return 1
    sh -c "$line -s -w ' %{http_code}'" | tee "$world/answer"
    grep -q ' 200$' "$world/answer"
}

# stopped_at N FILE: the script ends before its command N, as it does when the power fails; false when it has fewer.
stopped_at() {
    {
        echo '#!/bin/bash'
        echo 'commands=0'
        printf 'trap '\''[ $((++commands)) != %d ] || { touch "%s/stopped"; exit 1; }'\'' DEBUG\n' "$1" "$world"
        cat "$world/script"
    } > "$2"
    rm -f "$world/stopped"
}

# interrupted PACKAGE SCRIPT COMMAND...: the command, with the script stopped before each of its commands in turn; what
# was installed still works, and the same command again repairs it.
interrupted() {
    local script=/var/lib/dpkg/info/$1.$2 number=0
    cp "$script" "$world/script"
    while :; do
        number=$((number + 1))
        stopped_at $number "$script"
        "${@:3}" > "$world/interrupted" 2>&1
        [ -e "$world/stopped" ] || break
        accepted || { echo "stopped at $number of $2: the device is not accepted"; return 1; }
        dpkg --unpack "$(deb "$packages" "$1")" || return 1
        cmp "$script" "$world/script" || { echo "another $2 is unpacked"; return 1; }
    done
    dpkg --unpack "$(deb "$packages" "$1")" && dpkg --configure "$1" && installed "$1" && [ $number -gt 1 ]
}

# replaced PACKAGE SCRIPT: an upgrade in which this script of the package that goes is stopped before each of its commands
# in turn. Now and again what is installed works, and the same upgrade goes through.
replaced() {
    local script=/var/lib/dpkg/info/$1.$2 number=0
    while :; do
        number=$((number + 1))
        cp "$script" "$world/script"
        stopped_at $number "$script"
        dpkg -i "$(deb "$packages" "$1")" > "$world/interrupted" 2>&1
        [ -e "$world/stopped" ] || break
        accepted || { echo "stopped at $number of $2: the device is not accepted"; return 1; }
        dpkg -i "$(deb "$packages" "$1")" || return 1
    done
    installed "$1" && [ $number -gt 1 ]
}

if [ -d "$old" ]; then
    expect "back to the old packages" dpkg --force-downgrade -i "$old"/*.deb
    expect "whose version is theirs" says '^0\.0\.9' version tenon
fi
expect "a device registers" registers
expect "and its requests are accepted" accepted
device=$(tenon status --json | grep -o '"device_id":"[^"]*"')
if [ -d "$old" ]; then
    expect "new files without their scripts: the device signs" dpkg --unpack "$(deb "$packages" tenon)"
    expect "accepted, half upgraded" accepted
fi
for package in tenon tenon-authority; do
    expect "$package: its files come" dpkg --unpack "$(deb "$packages" $package)"
    expect "$package: its postinst, interrupted at each command" interrupted $package postinst dpkg --configure $package
    expect "$package: the prerm of the old one, interrupted at each command" replaced $package prerm
    expect "$package: the postrm of the old one, interrupted at each command" replaced $package postrm
done
expect "accepted, upgraded" accepted
expect "it is the same device" test "$(tenon status --json | grep -o '"device_id":"[^"]*"')" = "$device"
if [ -d "$old" ]; then
    expect "the authority is upgraded while it runs" dpkg -i "$(deb "$packages" tenon-authority)"
    expect "and still answers" accepted
    again() { kill "$world_authority" && wait "$world_authority" && world_again; }
    expect "the new one takes over the old state" again
    # In its first second it refuses what may be from before its start, and says so.
    accepted_soon() { until accepted; do grep -q 'Sign it again' "$world/answer" || return 1; done; }
    expect "and accepts the device" accepted_soon
fi

# --- in a container: a read-only root that holds nothing else, and a user without rights
# contained WORD...: the program in the container's root, which it alone sees. A file, so that its process is the
# program's.
cat > "$world/contained" << EOF
#!/bin/sh
[ -n "\$inside" ] || inside=1 exec unshare --mount --propagation unchanged "\$0" "\$@"
mount --bind "$world/container/root" "$world/container/root" || exit 1
mount --bind "$world/container/state" "$world/container/root/var/lib/tenon-authority" || exit 1
mount -t proc proc "$world/container/root/proc" || exit 1
mount -o remount,ro,bind "$world/container/root" || exit 1
export STATE_DIRECTORY=/var/lib/tenon-authority
exec chroot --userspec=10001:10001 "$world/container/root" /usr/bin/tenon-authority "\$@"
EOF
chmod 755 "$world/contained"
contained() { "$world/contained" "$@"; }

serves_contained() {
    "$world/contained" serve --port "$(world_port)" --ek-roots /var/lib/tenon-authority/roots.pem \
        > "$world/contained.says" &
    contained=$!
    world_processes="$world_processes $contained"
    url=
    until contained health; do kill -0 $contained || return 1; done
    url=$(sed -n 's/^tenon-authority [^ ]* \(http[^,]*\),.*/\1/p' "$world/contained.says")
    [ -n "$url" ]
}

registers_contained() {
    TENON_STATE_DIR=$world/contained.state tenon register --service "$url/auth" --app demo --dialect tenon --disclose-ek \
        --ek-chain "$state/issuer.pem" && TENON_STATE_DIR=$world/contained.state accepted
}

expect "the root of a container" "$root/packaging/container_root.sh" "$world/container"
expect "has no shell" refuse ls "$world"/container/root/usr/bin/*sh
install -m 644 "$state/root.pem" "$world/container/state/roots.pem"
chown -R 10001:10001 "$world/container/state"
chmod 711 "$world"
outside=$url
expect "it serves, and is healthy" serves_contained
expect "a device registers there, and its requests are accepted" registers_contained
ends_contained() { kill "$contained" && wait "$contained"; }
expect "it ends as asked" ends_contained
expect "and is not healthy then" refuse contained health
url=$outside

# --- removed
expect "the authority is removed while it runs" dpkg --remove tenon-authority
expect "it still answers" accepted
stops() { kill "$world_authority" && wait "$world_authority"; }
expect "and ends as asked" stops
expect "tenon is removed" dpkg --remove tenon
expect "its identity stays" ls /var/lib/tenon/*.record
expect "tenon is purged" dpkg --purge tenon
expect "its identity still stays" ls /var/lib/tenon/*.record
expect "the authority is purged" dpkg --purge tenon-authority
expect "its state stays" test -e /var/lib/tenon-authority/ca.json
expect "both are installed again" dpkg -i "$(deb "$packages" tenon)" "$(deb "$packages" tenon-authority)"
expect "and the device is known" says registered tenon status
answer tenon remove-identities true
answer tenon-authority remove-state true
expect "both are purged, with their state" dpkg --purge tenon tenon-authority
expect "no identity is left" test ! -e /var/lib/tenon
expect "no state is left" test ! -e /var/lib/tenon-authority
expect "the libraries go" dpkg --purge libsynheart-native-crypto libtenon-dev libtenon-tpm0 libtenon0
left() { find /usr /etc -name '*tenon*' -o -name '*synheart*' | grep -v /90tenon; } # root.sh's own
expect "no file is left" refuse left

echo "in the root: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
