#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# layout_test.sh: breaks each rule of layout.sh in a copy of the tree, all of them at once, and sees that each break is
# reported under its rule and no other, and that nothing else is.
set -u
export LC_ALL=C

root=$(cd "$(dirname "$0")/../.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$root" && git ls-files -co --exclude-standard -z | tar --null --ignore-failed-read -T - -cf - 2> /dev/null | tar -xf - -C "$copy"
cd "$copy" || exit 1
git init -q . && git add -A
wanted=() # "FILE PLACE RULE...": where each break is reported, and as what

breaks() { # breaks RULES FILE TEXT [PLACE]: writes the text into a new file of a name of its own, or behind what the file holds
    local file=$2
    if [ ! -e "$file" ]; then
        file=$(dirname "$2")/a${#wanted[@]}$(basename "$2")
        file=${file#./}
        mkdir -p "$(dirname "$file")"
    fi
    printf '%b' "$3" >> "$file"
    wanted+=("${4:-${file// /_}}|$1|$2 with ${3:0:100}")
}

c='/* SPDX-License-Identifier: Apache-2.0 */\n'
swift='// SPDX-License-Identifier: Apache-2.0\n'
includes() { # includes RULES 'FOLDER HEADER'...: a file in this folder of the core includes the header
    local one
    for one in "${@:2}"; do breaks "$1" "CSources/${one% *}/more.c" "$c#include ${one#* }\n"; done
}
lines() { # lines N: so many lines of code
    for ((i = 0; i < $1; i++)); do printf 'a\\n'; done
}

breaks top more.txt 'a\n'
breaks top lib/more.txt 'a\n' lib
breaks spaces 'docs/a name.md' 'a\n'
breaks c-folders CSources/base/more.txt 'a\n'
breaks c-folders CSources/crypto/more/more.c "$c"
cp CSources/base/text.h CSources/proof/text.h
breaks c-names CSources/proof/text.h '' text.h
includes mbedtls 'base <mbedtls/sha256.h>' 'crypto <mbedtls/sha256.h>' 'proof "crypto/mbedtls.h"'
includes curl 'ports/httpd <curl/curl.h>'
includes httpd 'ports/curl <microhttpd.h>'
includes openssl 'crypto <openssl/sha.h>'
includes tss2 'proof <tss2/tss2_tpm2_types.h>' 'crypto <tss2/tss2_tpm2_types.h>'
includes layers 'base "crypto/p256.h"' 'base "crypto/group.h"' 'base "crypto/hash.h"' 'proof "tenon/tpm/tpm.h"' \
    'tpm "proof/statement.h"' 'crypto "tenon/tpm/tpm.h"' 'keri "proof/statement.h"' 'tpm "keri/event.h"' \
    'batch "proof/statement.h"' 'keri "batch/batch.h"'
includes "" 'keri "crypto/blake3.h"'
breaks mbedtls include/tenon/more.h "$c#include \"mbedtls/sha256.h\"\n"
breaks openssl CSources/base/more.c "$c  #  include <openssl/sha.h>\n"
breaks layers CSources/base/more.c "${c}int more(void)\n{\n    return tenon_sha256(0, 0, 0);\n}\n"
breaks layers CSources/tpm/more.c "${c}int more(void)\n{\n    return tenoni_chain_verify(0, 0, 0, 0, 0, 0, 0);\n}\n"
breaks layers CSources/crypto/more.c "${c}int more(void)\n{\n    return tenon_keri_did(0, 0, 0, 0);\n}\n"
breaks "" CSources/proof/more.c "$c#include \"crypto/p256.h\"\n#include \"base/bytes.h\"\n"
breaks "" CSources/tpm/more.c "$c#include \"tenon/tpm/tpm.h\"\n#include <tss2/tss2_tpm2_types.h>\n"
breaks "c-imports ctenon" Sources/Tenon/More.swift "${swift}import CTenon\n"
breaks "c-imports ctenon" Sources/Tenon/More.swift "${swift}@preconcurrency internal import struct CTenon.tenon_digest\n"
breaks "c-imports ctenon" Tests/TenonTests/More.swift "${swift}import CTenon\n"
breaks ctenon Sources/Tenon/Values/More.swift "${swift}internal import CTenonTPM\n"
breaks c-imports Sources/Tenon/More.swift "${swift}import CCurl\n"
breaks "" Sources/Tenon/Values/More.swift "${swift}internal import CTenon\n"
breaks "" Sources/Tenon/More.swift "${swift}// we do not import CTenon\nimport Crypto\n"
breaks foundation Sources/Tenon/More.swift "${swift}import Foundation\n"
breaks foundation Sources/Tenon/More.swift "${swift}public import FoundationEssentials\n"
breaks foundation Sources/SynheartAuth/More.swift "${swift}import Foundation\n"
breaks "" Sources/SynheartAuth/More.swift "${swift}import FoundationEssentials\n"
breaks services Sources/TenonAuthority/More.swift "${swift}// of Synheart\n"
breaks services Sources/TenonAuthorityServer/More.swift "${swift}let synheart = 1\n"
breaks "" Sources/TenonAuthorityServices/Synheart/More.swift "${swift}let synheart = 1\n"
for call in 'memcmp(a, b, 1)' 'strcpy(a, b)' 'sprintf(a, b)' 'printf(a)' 'fprintf(a, b)' 'puts (a)' 'abort()' 'exit(1)' \
    'assert(a)' 'a = stderr'; do
    breaks calls CSources/base/more.c "${c}void more(void)\n{\n    $call;\n}\n"
done
breaks "" CSources/base/more.c "${c}/* printf(a) */\nstatic_assert(1, \"abort()\"); // assert(a)\nint my_memcmp(int a);\n"
breaks malloc-cast CSources/base/more.c "${c}char *more(void)\n{\n    return (char *)malloc(1);\n}\n"
breaks conditionals CSources/base/more.c "$c#if defined(A)\n#endif\n"
breaks conditionals CSources/base/more.c "$c#ifdef TENON_OPENSSL\nint a;\n#endif\n"
breaks conditionals CSources/crypto/more_openssl.c "${c}int a;\n#ifdef TENON_OPENSSL\nint b;\n#endif\n"
breaks conditionals CSources/crypto/more_openssl.c "$c#ifdef TENON_OPENSSL\nint b;\n#else\nint c;\n#endif\n"
breaks conditionals CSources/crypto/more_mbedtls.c "$c#ifndef TENON_OPENSSL\nint b;\n#endif\nint c;\n"
breaks conditionals CSources/base/more.h "${c}int a;\n"
breaks conditionals CSources/base/more.h "$c#ifndef TENONI_MORE_H\n#define TENONI_MORE_H\n#ifdef A\n#endif\n#endif\n"
breaks "" CSources/crypto/more_openssl.c "$c#ifdef TENON_OPENSSL\nint b;\n#endif\n"
breaks c-files CSources/base/more.c "$c$(lines 400)"
breaks "" CSources/base/more.c "${c}static const int more[] = {\n$(lines 400)};\n"
breaks swift-files Sources/Tenon/More.swift "$swift$(lines 300)"
breaks functions CSources/base/more.c "${c}void more(void)\n{\n$(lines 79)}\n"
breaks functions Tests/C/more.c "${c}void more(void)\n{\n$(lines 79)}\n"
breaks "" CSources/base/more.c "${c}void more(void)\n{\n$(lines 78)}\n"
breaks white-space docs/more.md 'a \nb\n'
breaks white-space README.md 'a\t\n'
breaks last-line docs/more.md 'a\nb'
breaks last-line docs/more.md 'a\nb\n\n'
breaks spdx CSources/base/more.c 'int a;\n'
breaks codes Sources/TenonTPM/More.swift "${swift}let a = Self(0x0240_0001, \"TENON_ERROR_MORE\")\n"
breaks codes Sources/TenonTPM/More.swift "${swift}let a = Self(\n    0x0240_0fff, \"TENON_ERROR_LENGTH\")\n"
breaks spdx Sources/Tenon/More.swift 'import Tenon\n'
breaks spdx Tests/Scripts/more.sh '#!/bin/sh\n'
breaks spdx packaging/more.mk 'a:\n'
breaks spdx packaging/systemd/more.timer '[Timer]\n'
breaks "" packaging/systemd/more.timer '# SPDX-License-Identifier: Apache-2.0\n[Timer]\n'
sed -i '/^  "version"/s/[0-9][0-9.]*/9.9.9/' docs/openapi.json
breaks version docs/openapi.json ''
sed -i '/^\.TH/s/tenon-authority [0-9.]*/tenon-authority 9.9.9/' docs/tenon-authority.8
breaks version docs/tenon-authority.8 ''
breaks machine docs/more.md "see /wor""k/main\n"
breaks machine Tests/Scripts/more.sh "# SPDX-License-Identifier: Apache-2.0\nlog=/tm""p/log\n"
breaks "" Tests/Scripts/more.sh "# SPDX-License-Identifier: Apache-2.0\nlog=\$(mktemp /tm""p/log.XXXX""XX)\n"
for word in TO""DO FIX""ME X""XX; do
    breaks unfinished docs/more.md "a $word: b\n"
done
sed -i 's/^| W7 |/| W70 |/' docs/weaknesses.md
breaks decisions Sources/Tenon/More.swift "${swift}// Decision: no-such-name. A\n"
breaks decisions Tests/C/more.c "$c/* A (decision: gone, no-such-name). */\n"
breaks "" CSources/base/more.c "$c/* A (decision: gone, attic). */\n"
breaks papers Sources/Tenon/More.swift "${swift}// A (secu""rity.md D2).\n"
breaks papers Sources/Tenon/More.swift "${swift}// A (secu""rity.md,\n// D2).\n"
breaks sleeps Sources/Tenon/More.swift "${swift}func a() async throws { try await Task.sleep(for: .seconds(1)) }\n"
breaks weaknesses docs/weaknesses.md '| W1 | a | `RotationTests.noSuchTest` |\n' W1:RotationTests.noSuchTest
breaks weaknesses docs/weaknesses.md '| W30 | a | `NoSuchTests.w30_a` |\n' W30:NoSuchTests.w30_a
breaks weaknesses docs/weaknesses.md '' W7
breaks "" Tests/Fuzz/corpus/hex/more 'a b \n X\0XX'

# "PLACE RULE" of each place that is reported, without the line; a rule shows its first twenty.
bash Tests/Scripts/layout.sh | awk '{
    rule = $1
    sub(/.*: /, "")
    for (i = split($0, places, " "); i > 0; i--) {
        if (places[i] ~ /:[0-9]+$/) sub(/:[0-9]+$/, "", places[i])
        print places[i], substr(rule, 1, length(rule) - 1)
    }
}' | sort -u > "$copy/.git/reported"

passed=0 failed=0
for one in "${wanted[@]}"; do
    IFS='|' read -r place rules what <<< "$one"
    found=$(awk -v place="$place" '$1 == place { print $2 }' "$copy/.git/reported" | paste -sd ' ')
    if [ "$rules" = "$found" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'wanted "%s", found "%s": %s\n' "$rules" "$found" "$what"
    fi
    awk -v place="$place" '$1 != place' "$copy/.git/reported" > "$copy/.git/left"
    mv "$copy/.git/left" "$copy/.git/reported"
done
sed 's/^/reported, and nobody broke it: /' "$copy/.git/reported"
[ ! -s "$copy/.git/reported" ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
