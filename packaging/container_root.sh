#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# container_root.sh FOLDER: what packaging/Containerfile copies, out of a machine that tenon-authority is installed on:
# the program and every library that the dynamic linker brings in. Nothing else is in it: no shell, no package manager.
set -eu

[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
rm -rf "$1"
mkdir -p "$1/root/usr/bin" "$1/root/usr/lib" "$1/root/usr/lib64" "$1/root/etc" "$1/root/tmp" "$1/root/var/lib/tenon-authority" "$1/state"
ln -s usr/lib usr/lib64 "$1/root"
chmod 700 "$1/state"
cp /usr/bin/tenon-authority "$1/root/usr/bin"
ldd /usr/bin/tenon-authority > "$1/libraries"
if grep 'not found' "$1/libraries" >&2; then exit 1; fi
# Under the name that is asked for; of a link, what it leads to.
grep -o '/[^ ]*' "$1/libraries" | while read -r library; do
    cp -L --parents "$library" "$1/root"
done
rm "$1/libraries"
echo 'tenon-authority:x:10001:10001::/var/lib/tenon-authority:/usr/sbin/nologin' > "$1/root/etc/passwd"
echo 'tenon-authority:x:10001:' > "$1/root/etc/group"
du -sk "$1/root" | cut -f 1 | sed 's/$/ KiB/'
