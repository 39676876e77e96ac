#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# native.sh PROGRAM FOLDER: the instructions of one secure_load of 256 bytes, and of AES-256-GCM over as many, counted by
# callgrind as the difference between 20 calls and 10.
set -eu

[ $# = 2 ] || { echo "usage: $0 PROGRAM FOLDER" >&2; exit 2; }
counted() { # counted WHAT TIMES
    ${VALGRIND:-valgrind} -q --tool=callgrind --callgrind-out-file="$folder/callgrind.out" --collect-atstart=no \
        --toggle-collect="native_cost_$1" "$program" "$1" "$2" > "$folder/callgrind.log" 2>&1 || {
        cat "$folder/callgrind.log" >&2
        exit 1
    }
    sed -n 's/^\(summary\|totals\): //p' "$folder/callgrind.out" | head -n 1
}
program=$1 folder=$2
for what in load gcm; do
    few=$(counted "$what" 10)
    many=$(counted "$what" 20)
    echo "$what: $(((many - few) / 10)) instructions"
done
