#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# container_root.sh FOLDER: what packaging/Containerfile copies, out of a machine that tenon-authority is installed on:
# the program, libcurl, and every library that the dynamic linker brings in with them. Nothing else is in it: no shell,
# no package manager.
set -eu

[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
rm -rf "$1"
mkdir -p "$1/state" "$1/root/var/lib/tenon-authority"
# A container's runtime mounts proc and dev.
for folder in usr/bin usr/lib usr/lib64 etc tmp proc dev; do mkdir -p "$1/root/$folder"; done
ln -s usr/lib usr/lib64 "$1/root"
chmod 700 "$1/state"
cp /usr/bin/tenon-authority "$1/root/usr/bin"
# libcurl is loaded when it is first needed: `health` needs it.
curl=$(find /usr/lib -name libcurl.so.4)
ldd /usr/bin/tenon-authority "$curl" > "$1/libraries"
if grep 'not found' "$1/libraries" >&2; then exit 1; fi
# Each library under the name that the linker looks for, and not as a link.
sed -n -e 's/.* => \(\/[^ ]*\) .*/\1/p' -e 's/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' "$1/libraries" | sort -u |
    while read -r library; do
        cp -L --parents "$library" "$1/root"
    done
cp -L --parents "$curl" "$1/root"
rm "$1/libraries"
echo 'tenon-authority:x:10001:10001::/var/lib/tenon-authority:/usr/sbin/nologin' > "$1/root/etc/passwd"
echo 'tenon-authority:x:10001:' > "$1/root/etc/group"
du -sk "$1/root" | cut -f 1 | sed 's/$/ KiB/'
