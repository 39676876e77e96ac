# SPDX-License-Identifier: Apache-2.0
# For the demos, which read it first: `. steps.sh`, with the arguments BINARIES TPM_STATE. It makes $world, which goes
# with the demo, and enters it.
# shellcheck shell=sh

[ $# -ge 2 ] || { echo "usage: $0 BINARIES TPM_STATE" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
binaries=$(cd "$1" && pwd) || exit 1
# shellcheck disable=SC2034
state=$(cd "$2" && pwd) || exit 1
# shellcheck disable=SC2034
tenon_authority=$binaries/tenon-authority
PATH=$binaries:$PATH
# shellcheck source=/dev/null
. "$root/Tests/Scripts/world.sh"
unset TENON_SERVICE TENON_APP TENON_CA_FILE TENON_ATTESTATION_CA TENON_ATTESTATION_ROOTS

bold= plain= red= green=
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    escape=$(printf '\033')
    bold="$escape[1m" plain="$escape[0m" red="$escape[31m" green="$escape[32m"
fi
steps=0

say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }

# does CODE COMMAND: runs a command line, shows its output, and ends the demo if the exit code is another.
does() {
    printf '  $ %s\n' "$2"
    sh -c "$2" > "$world/output" 2>&1
    code=$?
    sed -E 's/^/    /; s/([A-Za-z0-9_.-]{100})[A-Za-z0-9_.-]+/\1.../g' "$world/output"
    holds "$code" "$1" "The command should have ended with $1, but ended with $code."
}

# answers STATUS FOUND: shows what a server answered to curl, and ends the demo if the status is another.
answers() {
    printf '    %s %s\n' "$2" "$(cat "$world/answer")"
    holds "$2" "$1" "The status should have been $1."
}

holds() { # holds FOUND WANTED SENTENCE
    [ "$1" = "$2" ] || { printf '%s%s%s\n' "$red" "$3" "$plain"; exit 1; }
    steps=$((steps + 1))
}

succeeded() { say "${green}All $steps steps succeeded.$plain All processes have ended, and the folder is removed."; }

world
cd "$world" || exit 1
export TENON_STATE_DIR="$world/state"
