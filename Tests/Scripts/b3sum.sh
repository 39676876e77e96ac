#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# b3sum.sh TOOL: the core's BLAKE3 and Debian's b3sum on the same random bytes, around the sizes of chunks and subtrees
# and up to 4 MiB.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/Tests/Scripts/unpack.sh" b3sum >&2
b3sum=$root/.build/deps/b3sum/usr/bin/b3sum
random=$(mktemp)
trap 'rm -f "$random"' EXIT
head -c 4194304 /dev/urandom > "$random"

count=0
for size in 0 1 63 64 65 1023 1024 1025 2047 2048 2049 3071 3072 3073 7168 7169 65535 65536 65537 1000000 1048577 4194304; do
    ours=$(head -c "$size" "$random" | "$1")
    theirs=$(head -c "$size" "$random" | "$b3sum" --no-names)
    [ "$ours" = "$theirs" ] || { echo "$size bytes: Tenon says $ours, b3sum $theirs"; exit 1; }
    count=$((count + 1))
done
echo "b3sum: $count sizes, each the same"
