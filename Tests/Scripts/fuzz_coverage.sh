#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz_coverage.sh FOLDER CLANG FUZZER...: how much of each file of the core the fuzzers ran, out of their profiles in
# FOLDER, the least covered first. The tools are those of this clang: another one's do not read its profiles.
set -eu

folder=$1
tools=$(dirname "$(readlink -f "$(command -v "$2")")")
shift 2
objects=
for name in "$@"; do
    objects="$objects -object $folder/${name}_fuzz"
done
"$tools/llvm-profdata" merge -o "$folder/all.profdata" "$folder"/*.profraw 2> /dev/null
# shellcheck disable=SC2086
"$tools/llvm-cov" report -instr-profile "$folder/all.profdata" $objects 2> /dev/null |
    awk '$1 ~ /^(.*CSources\/)?(base|batch|crypto|keri|proof|tpm)\/[a-z0-9_]+\.c$/ {
        sub(/.*CSources\//, "", $1)
        printf "%7s of the lines of %s\n", $10, $1
    }' | sort -n
