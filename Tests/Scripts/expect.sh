# SPDX-License-Identifier: Apache-2.0
# For scripts that check: counts what holds. Whoever reads this first says `output=FILE`, a file to write to.
# shellcheck shell=sh disable=SC3043

passed=0 failed=0

wrong() { # wrong WHAT [FILE]: it does not hold, as what stands in the file shows
    failed=$((failed + 1))
    echo "does not hold: $1"
    [ -z "${2:-}" ] || sed 's/^/    /' "$2"
}

expect() { # expect WHAT COMMAND...: the command ends well; what it printed is in $output
    local what=$1
    shift
    # shellcheck disable=SC2154
    if "$@" > "$output" 2>&1; then passed=$((passed + 1)); else wrong "$what" "$output"; fi
}

refuse() { ! "$@"; }

verdict() { # prints how many held; the last line of a script
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ] && [ "$passed" != 0 ]
}
