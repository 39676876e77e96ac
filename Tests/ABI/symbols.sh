#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh LIBRARY MAP [HEADER...]: what the headers mark with TENON_API, what the version script names and what the
# library exports is one list, and a C++ program links each function of it. Without HEADER: include/tenon/*.h. What our
# libraries share is not part of it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { echo "usage: $0 LIBRARY MAP [HEADER...]" >&2; exit 1; }
library=$1 map=$2
shift 2
[ $# -gt 0 ] || set -- "$here"/../../include/tenon/*.h

lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
status=0

awk -f "$here/prototypes.awk" "$@" | grep -E '(tenon|synheart)_[a-z0-9_]+\(' > "$lists/declarations" || true
if grep -v ': TENON_API ' "$lists/declarations"; then
    echo "these functions are declared without TENON_API"
    status=1
fi
sed -nE 's/^[^(]*[ *]((tenon|synheart)_[a-z0-9_]+)\(.*/\1/p' "$lists/declarations" | sort > "$lists/headers"
sed -nE '/^TENON_PRIVATE/,$ d; /global:/,/local:/ s/^[ \t]*([A-Za-z0-9_*?]+);$/\1/p' "$map" | sort > "$lists/map"
nm -D --defined-only "$library" | awk '$2 != "A" && $3 !~ /@TENON_PRIVATE/ { sub(/@.*/, "", $3); print $3 }' | sort > "$lists/library"

[ -s "$lists/headers" ] || { echo "no function was found in the headers"; status=1; }
for other in map library; do
    if ! diff "$lists/headers" "$lists/$other" > "$lists/difference"; then
        sed -n "s/^< \(.*\)/\1: in the headers, not in the $other/p; s/^> \(.*\)/\1: in the $other, not in the headers/p" \
            "$lists/difference"
        status=1
    fi
done
{
    printf '#include "%s"\n' $(realpath "$@")
    echo 'typedef void (*any)(); int main() { any all[] = {'
    sed 's/.*/    reinterpret_cast<any>(\&&),/' "$lists/headers"
    echo '}; return all[0] == nullptr; }'
} > "$lists/all.cpp"
g++ -std=c++17 -I"$here/../../include" "$lists/all.cpp" "$library" -Wl,-rpath-link,"$(dirname "$library")" -o "$lists/all" ||
    { echo "a C++ program cannot link these functions"; status=1; }
[ "$status" != 0 ] || echo "symbols: $(wc -l < "$lists/headers") functions, in headers, map and library alike"
exit "$status"
