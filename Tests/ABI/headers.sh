#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh: each header of include/tenon/ compiles alone as C11 and as C++17 with gcc and clang, names no other
# library, has no conditional but its guard (api.h may), and every parameter has a name.
set -u

cd "$(dirname "$0")/../.." || exit 1
warnings="-pedantic -Wall -Wextra -Werror -Wshadow -Wundef -Wconversion -fsyntax-only -Iinclude"
foreign='[a-z0-9_]*(mbedtls|openssl|libcrypto|tss2)[a-z0-9_]*|\b(EVP|TPM2B?|TPM[STLUI]|ESYS)_[a-z0-9_]*'
checks=0 status=0

fail() {
    echo "$1"
    status=1
}

compiles() { # compiles HEADER LANGUAGE STANDARD COMPILER [FLAG...]
    header=$1 language=$2 standard=$3 compiler=$4
    shift 4
    checks=$((checks + 1))
    # shellcheck disable=SC2086
    "$compiler" -x "$language" -std="$standard" $warnings "$@" -include "$header" /dev/null ||
        fail "$header: does not compile with $compiler as $standard"
}

# The first directive is the guard's and the last its end; between them no condition may stand.
conditions() {
    sed -nE 's/^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b.*/\1/p' "$1" | tr '\n' ' '
}

# A parameter is `void`, or a type and behind it a name that is not a type's.
unnamed() {
    awk -f Tests/ABI/prototypes.awk "$1" | awk '
        {
            gsub(/TENON_COUNTED\([^()]*\)/, " ")
            while (match($0, /\([^()*]([^()]*)\)/)) {
                count = split(substr($0, RSTART + 1, RLENGTH - 2), parameters, ",")
                for (i = 1; i <= count; i++) {
                    parameter = parameters[i]
                    gsub(/^ +| +$/, "", parameter)
                    plain = parameter
                    gsub(/(^| )(const|struct|enum|unsigned|signed) /, " ", plain)
                    type = "(char|short|int|long|float|double|void|bool|[a-z0-9_]+_t|tenon_[a-z0-9_]+)"
                    if (parameter != "void" && plain !~ ("^ *" type "[ *]+[a-z][a-z0-9_]*$" ) ||
                        plain ~ ("[ *]" type "$"))
                        print parameter
                }
                $0 = substr($0, 1, RSTART - 1) " " substr($0, RSTART + RLENGTH)
            }
        }'
}

for header in $(find include/tenon -name '*.h' | sort); do
    compiles "$header" c c11 gcc -Wstrict-prototypes -Wmissing-prototypes
    compiles "$header" c c11 clang -Wstrict-prototypes -Wmissing-prototypes
    compiles "$header" c++ c++17 g++ -Wold-style-cast
    compiles "$header" c++ c++17 clang++ -Wold-style-cast
    found=$(awk -f Tests/ABI/prototypes.awk "$header" | grep -oiE "$foreign") && fail "$header: names another library: $found"
    grep -E '^[ \t]*#[ \t]*include' "$header" | grep -vE '"tenon/|<std(def|int)\.h>|<ptrcheck\.h>' &&
        fail "$header: includes what is not ours"
    [ "$header" = include/tenon/api.h ] || [ "$(conditions "$header")" = "ifndef endif " ] ||
        fail "$header: has conditionals beside its guard: $(conditions "$header")"
    found=$(unnamed "$header")
    [ -z "$found" ] || fail "$header: a parameter without a name: $found"
done
[ "$checks" != 0 ] || fail "no header was found"
[ "$status" != 0 ] || echo "headers: $checks compilations, all clean"
exit "$status"
