#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# layout.sh: the rules of the tree, from the root of the repository. A rule that is broken prints one line: its name,
# what it says, and where. layout_test.sh breaks each of them.
set -u -o pipefail
export LC_ALL=C

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
broken=0

rule() { # rule NAME TEXT: every line that comes in is a place that breaks it
    local places
    places=$(sort -u | head -n 20 | paste -sd ' ')
    [ -n "$places" ] || return 0
    printf '%s: %s: %s\n' "$1" "$2" "$places"
    broken=1
}

# Names of files, one a line, and those that a pattern selects.
files=$scratch/files
git ls-files -co --exclude-standard | sort > "$scratch/all"
git ls-files -d | sort | comm -23 "$scratch/all" - > "$files"
[ -s "$files" ] || { echo "no file was found; run this from the root of the repository"; exit 1; }

named() { # named PATTERN
    grep -E "$1" "$files"
}

search() { # search PATTERN: file:line of the lines of the files that come in
    tr '\n' '\0' | xargs -0 -r grep -InE "$1" /dev/null | cut -d: -f1,2
}

# The C code without comments and without what strings hold, as file:line:code.
code=$scratch/code
named '^(CSources|include|Sources)/.*\.[ch]$' | tr '\n' '\0' | xargs -0 -r awk '
    FNR == 1 { comment = 0 }
    {
        out = ""
        line = $0
        while (line != "") {
            if (comment) {
                end = index(line, "*/")
                line = end ? substr(line, end + 2) : ""
                comment = !end
            } else if (match(line, /^[ \t]*#[ \t]*include.*/)) {
                out = line
                line = ""
            } else if (match(line, /^[^"\047\/]+/)) {
                out = out substr(line, 1, RLENGTH)
                line = substr(line, RLENGTH + 1)
            } else if (match(line, /^"([^"\\]|\\.)*"/) || match(line, /^\047([^\047\\]|\\.)*\047/)) {
                out = out "\"\""
                line = substr(line, RLENGTH + 1)
            } else if (substr(line, 1, 2) == "/*") {
                comment = 1
                line = substr(line, 3)
            } else if (substr(line, 1, 2) == "//") {
                line = ""
            } else {
                out = out substr(line, 1, 1)
                line = substr(line, 2)
            }
        }
        if (out ~ /[^ \t]/)
            print FILENAME ":" FNR ":" out
    }' > "$code"

in_code() { # in_code FILES PATTERN: file:line of code that matches, in files that match
    grep -E "^$1[^:]*:[0-9]+:.*$2" "$code" | cut -d: -f1,2
}

includes() { # includes PREFIX: the file:line that include one of its headers
    in_code '' "#[ \\t]*include[ \\t]*[<\"]$1"
}

imports() { # imports MODULE: file:line of Swift that imports it
    named '\.swift$' |
        search "^[[:space:]]*((@[A-Za-z_()]+|public|package|internal|fileprivate|private)[[:space:]]+)*import[[:space:]]+([a-z]+[[:space:]]+)?$1([.;[:space:]]|\$)"
}

top='Package\.swift|Makefile|README\.md|LICENSE|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|\.[^/]+'
folders='packaging|Sources|CSources|Tests|Bench|include|Examples|docs|\.ci'
rule top "only known names lie at the top" < <(named . | grep -vE "^(($top)\$|($folders)/)" | cut -d/ -f1)
rule spaces "a file name has no space" < <(named '[[:space:]]' | tr ' \t' '__')
rule c-folders "only .c and .h lie in the folders of the core" < <(
    named '^CSources/(base|batch|crypto|keri|native|proof|tpm)/' | grep -vE '^CSources/[a-z]+/[A-Za-z0-9_]+\.[ch]$'
)

rule mbedtls "mbedTLS is called in CSources/crypto only, and its headers are included in mbedtls.h, which levels its versions" < <(
    includes 'mbedtls/' | grep -v '^CSources/crypto/mbedtls\.h:'
    includes 'crypto\/mbedtls\.h' | grep -v '^CSources/crypto/'
)
rule openssl "OpenSSL is called in CSources/crypto/*_openssl.c only" < <(
    includes 'openssl/' | grep -vE '^CSources/crypto/[a-z0-9_]+_openssl\.c:'
)
rule curl "libcurl is called in CSources/ports/curl only" < <(includes 'curl/' | grep -v '^CSources/ports/curl/')
rule httpd "libmicrohttpd is called in CSources/ports/httpd only" < <(
    includes 'microhttpd' | grep -v '^CSources/ports/httpd/'
)
rule tss2 "tss2 is called in CSources/tpm only" < <(includes 'tss2/' | grep -vE '^CSources/tpm/')

# A function belongs to the folder that defines it, a private header to the folder that it lies in.
rule layers "base <- crypto <- proof, crypto <- keri, crypto <- batch, and crypto <- tpm <- native, which of proof use what is public: nothing is used against the arrows" < <(awk '
    function layer_of(file) {
        return match(file, /^CSources\/(base|batch|crypto|keri|native|proof|tpm)\//) ? substr(file, 10, RLENGTH - 10) : ""
    }
    function forbidden(user, owner) {
        return owner != "" && owner != user && owner != "base" && !(owner == "crypto" && user != "base") &&
            !(owner == "tpm" && user == "native")
    }
    {
        split($0, parts, ":")
        file = files[NR] = parts[1]
        number = numbers[NR] = parts[2]
        text = texts[NR] = substr($0, length(file) + length(number) + 3)
        if (layer_of(file) != "" && text ~ /^[a-z]/ && text !~ /;[ \t]*$/ && match(text, /tenoni?_[a-z0-9_]+\(/))
            owner[substr(text, RSTART, RLENGTH - 1)] = layer_of(file)
    }
    END {
        for (i = 1; i <= NR; i++) {
            user = layer_of(files[i])
            if (user == "")
                continue
            text = texts[i]
            if (match(text, /#[ \t]*include[ \t]*"(base|batch|crypto|keri|native|proof|tpm)\//)) {
                header = substr(text, RSTART, RLENGTH - 1)
                sub(/.*"/, "", header)
                if (forbidden(user, header))
                    print files[i] ":" numbers[i]
            }
            if (match(text, /#[ \t]*include[ \t]*[<"]tenon\/tpm\//) && user != "tpm" && user != "native")
                print files[i] ":" numbers[i]
            while (match(text, /tenoni?_[a-z0-9_]+/)) {
                name = substr(text, RSTART, RLENGTH)
                if (forbidden(user, owner[name]) && !(user == "tpm" && owner[name] == "proof" && name ~ /^tenon_/))
                    print files[i] ":" numbers[i]
                text = substr(text, RSTART + RLENGTH)
            }
        }
    }' "$code")
rule c-names "no two files of the core have one name" < <(
    named '^CSources/(base|batch|crypto|keri|native|proof|tpm)/' | sed 's|.*/||' | sort | uniq -d
)

rule ctenon "CTenon is imported in Sources/Tenon/Values, Sources/Tenon/Proof and Sources/TenonTPM only, CTenonTPM in the latter only" < <(
    imports CTenon | grep -vE '^Sources/(Tenon/(Values|Proof)|TenonTPM)/'
    imports CTenonTPM | grep -v '^Sources/TenonTPM/'
)
rule c-imports "C is imported where the tree says so" < <(
    imports 'C[A-Z][A-Za-z0-9]*' | grep -vE "^(Tests/(TenonTPMTests|TestEvidence)|Bench/service)/" |
        grep -vE '^Sources/(Tenon/(Values|Proof)|TenonTPM|TenonHTTP|TenonAuthority/Stores|TenonAuthorityServer|TenonCommandLine|SynheartAuth|AuthsMobile)/'
)
rule foundation "no Foundation in Sources, but FoundationEssentials in SynheartAuth" < <(
    imports 'Foundation[A-Za-z]*' | grep '^Sources/' | grep -v '^Sources/SynheartAuth/'
    imports 'Foundation(Networking|XML|Internationalization)?' | grep '^Sources/SynheartAuth/'
)

rule services "what all services share names none: a service is named in its folders and in the programs' lists" < <(
    named '^Sources/(TenonAuthority|TenonAuthorityServer)/' | grep -v '/HostedServices\.swift$' | search '[Ss]ynheart|SYNHEART'
)

word='(^|[^A-Za-z0-9_])'
calls='memcmp|strn?cpy|strn?cat|v?sprintf|v?f?printf|f?put[cs]|putchar|perror|gets|abort|exit|assert'
rule calls "no memcmp, no unbounded copy, no output, no abort in the core" < <(
    grep -E "^CSources/" "$code" | sed -E 's/^([^:]*:[0-9]+:)/\1 /' |
        grep -E ":.*$word(($calls)[ \\t]*\\(|std(err|out)([^A-Za-z0-9_]|\$))" | cut -d: -f1,2
)
rule malloc-cast "what malloc gives is not cast" < <(in_code CSources/ '\([A-Za-z0-9_ ]+\*+ *\) *[mcr]e?alloc\(')

# A header's guard, the whole of a backend's file, and what levels the versions of mbedTLS are the only conditions.
rule conditionals "files are chosen, not conditions" < <(grep '^CSources/' "$code" | grep -v '^CSources/crypto/mbedtls\.h:' | awk '
    function report() { if (file != "" && (extra != "" || open && last !~ /^[ \t]*#[ \t]*endif/)) print file ":" (extra ? extra : line) }
    {
        name = $0; sub(/:.*/, "", name)
        text = $0; sub(/^[^:]*:[0-9]+:/, "", text)
        if (name != file) {
            report()
            file = name; extra = ""; ends = 0
            backend = name ~ /^CSources\/crypto\/[a-z0-9_]+_(openssl|mbedtls)\.c$/
            open = name ~ /\.h$/ && text ~ /^#ifndef TENONI?_[A-Z0-9_]+_H$/ || backend && text ~ /^#ifn?def TENON_OPENSSL$/
            if (!open && (name ~ /\.h$/ || backend)) extra = 1
            first = 1
        }
        line = $0; sub(/^[^:]*:/, "", line); sub(/:.*/, "", line)
        if (text ~ /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)([^a-z]|$)/ && !(first && open)) extra = line
        if (text ~ /^[ \t]*#[ \t]*endif/ && (++ends > 1 || !open)) extra = line
        first = 0
        last = text
    }
    END { report() }')

long_files() { # long_files LIMIT: of the files that come in; a table that is initialised counts as its two ends
    tr '\n' '\0' | xargs -0 -r awk -v limit="$1" '
        function report() { if (count > limit) print file ":" count }
        FNR == 1 { report(); file = FILENAME; count = 0; table = 0 }
        /^};/ { table = 0 }
        !table { count++ }
        /^[a-z].*= \{$/ { table = 1 }
        END { report() }'
}
rule c-files "a file of CSources has at most 400 lines" < <(named '^CSources/.*\.[ch]$' | long_files 400)
rule swift-files "a file of Sources has at most 300 lines" < <(named '^Sources/.*\.swift$' | long_files 300)

# Each module declares its codes; no two have one number, or one name.
rule codes "each code of a Swift module has a number and a name of its own" < <(
    named '^Sources/.*\.swift$' | tr '\n' '\0' |
        xargs -0 -r grep -HnoE '0x[0-9a-f_]+, "TENON_[A-Z0-9_]+"' |
        awk -F '[:,"]' '{ if (numbers[$3]++ + names[$5]++) print $1 ":" $2 }'
)

# The lines of a switch of names are a table.
rule functions "a C function has at most 80 lines" < <(named '\.[ch]$' | grep -v '^Tests/Vectors/' |
    tr '\n' '\0' | xargs -0 -r awk '
    /^\{$/ { start = FNR; names = 0 }
    /^ *(case |default:|[A-Z]+\(|return \(words\)|")/ { names++ }
    /^\}$/ { if (FNR - start + 1 - names > 80) print FILENAME ":" start }')

rule weaknesses "docs/weaknesses.md names tests that exist for each of W1 to W30" < <(
    for number in $(seq 30); do
        tests=$(grep "^| W$number |" docs/weaknesses.md | grep -oE '`[A-Za-z]+\.[A-Za-z0-9_]+`' | tr -d '`')
        [ -n "$tests" ] || echo "W$number"
        for test in $tests; do
            named "^Tests/.*/${test%.*}\.swift$" | search "func ${test#*.}\(" | grep -q . || echo "W$number:$test"
        done
    done
)

texts=$scratch/texts
named . | grep -vE '^Tests/(Vectors/|Fuzz/corpus/|Broken/.*\.patch)' | tr '\n' '\0' | xargs -0 grep -IlE '' > "$texts"
rule white-space "no line ends in white space" < <(search '[[:space:]]+$' < "$texts")
rule last-line "a text ends in one line feed" < <(
    tr '\n' '\0' < "$texts" | xargs -0 grep -lzP '[^\n]\z|\n\n\z' /dev/null
)
rule spdx "a source says its licence in its first lines" < <(
    named '(\.(c|h|cpp|rs|py|sh|awk|swift|mk|service|timer)|^Makefile|^\.ci/[a-z]+)$' | grep -v '^Tests/Fuzz/corpus/' |
        tr '\n' '\0' | xargs -0 -r awk '
        FNR == 1 { if (file != "" && !seen) print file; file = FILENAME; seen = 0 }
        FNR <= 3 && /SPDX-License-Identifier: Apache-2\.0/ { seen = 1 }
        END { if (file != "" && !seen) print file }'
)
version=$(sed -n 's/^#define VERSION_[A-Z]* //p' CSources/base/constants.c | paste -sd .)
rule version "documents say the version of CSources/base/constants.c" < <(
    grep -q "^  \"version\": \"$version\",\$" docs/openapi.json || echo docs/openapi.json
    grep -q "^\.TH .* \"tenon-authority $version\" " docs/tenon-authority.8 || echo docs/tenon-authority.8
)
rule machine "no path of one machine" < <(
    tr '\n' '\0' < "$texts" | xargs -0 grep -InE '(^|[^A-Za-z0-9_.)}*-])/(work|tmp)/' /dev/null | grep -vE "mktemp|X{6}" | cut -d: -f1,2
)
sources='^(CSources|include|Sources|Tests|Bench|Examples|\.ci)/|^(Makefile|Package\.swift)$'
rule decisions "docs/decisions.md has each decision that a source names" < <(
    named "$sources" | grep -vE '^Tests/(Vectors|Broken|Fuzz/corpus)/|layout_test' | tr '\n' '\0' | xargs -0 grep -IonE '(^|[(;,] ?|[/*#] )[Dd]ecision: [a-z-]+(, [a-z-]+)*' /dev/null |
        while IFS=: read -r file line _ names; do
            for name in ${names//,/ }; do
                grep -qx "### $name" docs/decisions.md || echo "$file:$line"
            done
        done
)
rule sleeps "a task waits by Sleep, which needs no descriptor" < <(
    named '^Sources/.*\.swift$' | grep -v '^Sources/Tenon/Work/Sleep\.swift$' | search 'Task\.sleep|DispatchQueue|DispatchSource'
)
rule papers "no source cites what is not in the repository" < <(
    named "$sources" | grep -vE '^Tests/(Vectors|Broken|Fuzz/corpus)/|layout_test|layout\.sh' |
        search '(^|[^/A-Za-z0-9_-])(security|build|synheart|auths|it-wallet|batch|tpm|DESIGN|PERF|STYLE|TOOLBOX)\.md|DESIGN §|contracts/'
)
rule unfinished "nothing is left to do" < <(search "$word(TOD[O]|FIXM[E]|XX[X])([^A-Za-z0-9_]|\$)" < "$texts")

exit "$broken"
