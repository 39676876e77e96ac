#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# command.sh BINARIES TPM_STATE: types `tenon` as a person does, each verb with what goes well and what does not, on
# software TPMs and at an authority on loopback, and compares what it prints with command.txt beside this script and
# with docs/doctor.md. What differs from run to run has a name in capitals there. `command.sh BINARIES TPM_STATE write`
# writes both anew.
# Verbs with their options are split into words.
# shellcheck disable=SC2086
set -u -o pipefail
export LC_ALL=C

[ $# -ge 2 ] || { echo "usage: $0 BINARIES TPM_STATE [write]" >&2; exit 2; }
scripts=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$scripts/../.." && pwd)
binaries=$(cd "$1" && pwd) || exit 1
state=$(cd "$2" && pwd) || exit 1
mode=${3:-check}
# shellcheck disable=SC2034
tenon_authority=$binaries/tenon-authority
PATH=$binaries:$PATH
. "$scripts/world.sh"
world
chmod 711 "$world"
transcript=$world/transcript
output=$world/expect
. "$scripts/expect.sh"
unset TENON_SERVICE TENON_APP TENON_CA_FILE TENON_ATTESTATION_CA TENON_ATTESTATION_ROOTS NO_COLOR XDG_STATE_HOME
export TENON_STATE_DIR=$world/state TENON_TPM=device:$world/no-node

masked() {
    sed -E -e 's/^(tenon[a-z-]*) [0-9.]+ with (mbedtls|openssl)$/\1 VERSION with BACKEND/' -e "s|$world|WORLD|g" -e "s|$state|STATE|g" -e 's|127\.0\.0\.1:[0-9]+|127.0.0.1:PORT|g' \
        -e 's/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/UUID/g' -e 's/\b000b[0-9a-f]{64}/NAME/g' \
        -e 's/\b[0-9a-f]{32}\b/ID/g' -e 's/\b[0-9a-f]{64}\b/HEX/g' -e 's/\b[12][0-9]{9}\b/SECONDS/g' \
        -e 's/keyid=(\\?")[A-Za-z0-9_-]{43}/keyid=\1THUMBPRINT/g' -e 's/20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC/DATE/g' -e 's|[A-Za-z0-9+/_-]{72,}=*|BASE64|g' \
        -e 's/(generation"?[ :])[0-9]+/\1N/g' -e 's/ID\.g[0-9]+/ID.gN/g' -e 's/\t[A-Za-z0-9_-]{43}$/\tTHUMBPRINT/' -e 's/("Date","value":")[^"]*/\1DATE/' -e 's/purged [0-9]+ files/purged N files/' -e 's/firmware [0-9.]+, specification [0-9.]+/firmware FIRMWARE, specification REVISION/' | uniq
}

note() { printf '\n# %s\n' "$*" >> "$transcript"; }

is_json() { python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"; }

# typed WORD...: types a command line. $world/block is what it printed, where what went to stderr is marked, and so is an
# exit code that is not 0. Whatever is asked as JSON has to be JSON, on one line, with nothing beside it.
typed() {
    "$@" > "$world/out" 2> "$world/err" < "${stdin:-/dev/null}"
    local code=$?
    {
        cat "$world/out"
        sed 's/^/! /' "$world/err"
        [ "$code" = 0 ] || printf '= %d\n' "$code"
    } | masked > "$world/block"
    case " $* " in
        *" --json "*)
            [ ! -s "$world/err" ] && [ "$(wc -l < "$world/out")" = 1 ] && is_json "$world/out" ||
                wrong "$*: one line of JSON" "$world/out" ;;
    esac
}

# written WORD...: writes the command line down, and behind it what comes in.
written() {
    { printf '\n$ %s\n' "$*" | masked; cat; } >> "$transcript"
}

# say WORD...: types a command line, and writes down what it printed. Five lines or more that an earlier one printed in
# the same words are not written again: what stands there is the earlier command line.
declare -A said
say() {
    typed "$@"
    local printed
    printed=":$(cat "$world/block")"
    if [ "$(wc -l < "$world/block")" -ge 5 ] && [ -n "${said[$printed]:-}" ]; then
        echo "as $ ${said[$printed]}" | written "$@"
    else
        said[$printed]=$(masked <<< "$*")
        written "$@" < "$world/block"
    fi
}

# kept NAME: keeps what was printed last; differs NAME WORD...: types a command line, and writes down in what its output
# differs from what was kept.
kept() { cp "$world/block" "$world/kept.$1"; }
differs() {
    typed "${@:2}"
    diff "$world/kept.$1" "$world/block" | grep '^[<>]' | written "${@:2}"
}

# mistake VERB WORD...: types a command line that is a mistake. It prints what is written down, marked by ?, then where
# the help of the verb is, and its exit code is 1.
mistake() {
    typed tenon $1 "${@:2}"
    [ "$(sed 1d "$world/block")" = "!        See: tenon $1 --help"$'\n= 1' ] || wrong "tenon $*: a mistake" "$world/block"
    head -n 1 "$world/block" | sed 's/^! /? /' | written tenon $1 "${@:2}"
}

# doctor HEADING WORD...: types a command line. What it prints is the block below this heading of docs/doctor.md.
doctor() {
    typed "${@:2}"
    kept doctor
    { echo '$ tenon doctor' && cat "$world/block"; } > "$world/shown"
    if [ "$mode" = write ]; then
        awk -v heading="## $1" -v block="$world/shown" '
            $0 == heading { found = 1 }
            found && /^```/ { inside = !inside; print; if (inside) while ((getline line < block) > 0) print line; else found = 0; next }
            !(found && inside)' "$root/docs/doctor.md" > "$world/doctor.md" && cp "$world/doctor.md" "$root/docs/doctor.md"
    fi
    awk -v heading="## $1" '$0 == heading { found = 1; next } found && /^```/ { if (inside) exit; inside = 1; next } inside' \
        "$root/docs/doctor.md" | diff -u - "$world/shown" > "$world/difference" || wrong "docs/doctor.md shows $1" "$world/difference"
    echo "as docs/doctor.md: $1" | written "${@:2}"
}

value() { # value KEY: a text out of the JSON that was printed last
    sed -E 's/.*"'"$1"'":"([^"]*)".*/\1/' "$world/out"
}

# sent: sends what `sign --format curl` printed last, and prints the status of the answer.
sent() { sh -c "$(cat "$world/out") -s -o /dev/null -w '%{http_code}'"; }

# accepted: whether the authority takes what the device signs now.
accepted() {
    tenon sign POST "$url/v1/echo" --data text --format curl > "$world/out" 2> "$world/err" || return 1
    echo "the authority answers $(sent)" > "$world/err"
    grep -q ' 200$' "$world/err"
}

# began_again: an authority that was stopped takes requests again. What was signed in the second in which it began may
# have been seen by the one before (decision: forgetful-stores).
began_again() {
    world_again
    for _ in $(seq 100); do accepted && break; sleep 0.1; done
}

# configured SED...: the authority begins again, with its settings changed so.
configured() {
    world_stop
    sed -i "$@" "$world/authority/authority.json"
    world_again
}

expect "a library to load before others" cc -shared -fPIC -o "$world/preload.so" "$scripts/preload.c"
export LD_PRELOAD=$world/preload.so

# at CALL N SIGNAL WORD...: types a command line, as JSON, that gets a signal at its Nth call of that name; false when
# it makes fewer.
at() {
    rm -f "$world/mark"
    { INTERRUPT_CALL=$1 INTERRUPT_AT=$2 INTERRUPT_WITH=$3 INTERRUPT_MARK=$world/mark \
        "${@:4}" --json > "$world/out" 2> "$world/err" < /dev/null; } 2> /dev/null
    code=$?
    [ -e "$world/mark" ]
}

# ended WHAT: with one line of JSON, whose exit code is the right one, or with nothing and the code of the signal.
ended() {
    case $code:$(wc -l < "$world/out"):$(wc -c < "$world/err") in
        129:0:0 | 130:0:0 | 143:0:0) ;;
        137:0:0) world_flush device ;;
        *:1:0)
            python3 -c '
import json, sys
exit = json.load(open(sys.argv[1])).get("error", {}).get("exit")
sys.exit(exit is not None and str(exit) != sys.argv[2])' "$world/out" "$code" || wrong "$1: JSON (exit $code)" "$world/out" ;;
        *) cat "$world/err" >> "$world/out"; wrong "$1: JSON, or nothing (exit $code)" "$world/out" ;;
    esac
    interruptions=$((interruptions + 1))
}
interruptions=0

# understood WHAT: the next call understands what is there, and nothing else is.
understood() {
    [ -z "$(world_left device)" ] || wrong "$1: nothing is left in the TPM"
    tenon maintain > "$world/err" 2>&1 || wrong "$1: the next call understands" "$world/err"
    accepted || wrong "$1: the device signs with the key that the service holds" "$world/err"
    ! ls "$TENON_STATE_DIR" | grep -q tmp || wrong "$1: nothing half-written is left"
}

cat > "$transcript" << 'EOF'
# !  standard error            =  an exit code that is not 0
# ?  a mistake: standard error, then "See: tenon VERB --help", and the exit code 1
# as: the same stands there    <, >  in what it differs from the last one of its kind that stands here as a whole
EOF
note "what there is"
say tenon --version
say tenon --help
say tenon
say tenon sign --help
tenon --help | sed -n '/^  help /d; s/^  \([a-z][a-z -]*[a-z]\) .*/\1/p' | while read -r line; do
    verb=$(printf %s "$line" | sed 's/ [A-Z].*//')
    tenon $verb --help > "$world/out" 2>&1 || echo "$verb"
    grep -q "^  .*tenon $verb" "$world/out" || echo "$verb has no example"
done > "$world/helpless"
expect "each verb has help, with an example" test ! -s "$world/helpless"
tenon --man > "$world/man"
expect "the manual has each verb" test "$(grep -c '^\.SS ' "$world/man")" = "$(tenon --help | grep '^  [a-z]' | grep -vc '^  help ')"
! command -v groff > /dev/null || expect "the manual is one" test -z "$(groff -man -ww -T utf8 "$world/man" 2>&1 > /dev/null)"
completes() { # completes WORD... : what bash offers for the last word
    bash -c 'source <(tenon --completion); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tenon; echo "${COMPREPLY[*]}"' bash "$@" 2> /dev/null
}
expect "bash completes verbs" test "$(completes tenon re)" = "register reset"
expect "bash completes flags" test "$(completes tenon sign --dat)" = "--data"
expect "bash completes folders" test "$(completes tenon sign --state-dir "$world/expec")" = ""

note "mistakes in what is typed"
say tenon regster
say tenon --json
say tenon sgin GET / --json
mistake sign
mistake sign GET / too much
say tenon sign GET / --dta x
mistake sign GET / --data
mistake sign GET / --json=1
mistake sign GET / --format xml
mistake sign GET / --form both
mistake sign GET / --lines
mistake sign --lines --send
mistake verify-request request.json
say tenon keys
say tenon keys lst
mistake status --app a --app b
mistake register
mistake register --service https://api.example.org/auth
say tenon register --service ftp://api.example.org --app demo
mistake register --service https://api.example.org/auth --app demo --dialect dosc
say tenon attest 00 --json
say tenon verify "$world/absent" --nonce "$(printf %064d 0)" --ak AAAA
say tenon --frobnicate

note "nobody is registered"
say tenon status
say tenon status --check
say tenon status --json
say tenon sign GET /v1/echo
for verb in rotate maintain "reset --yes" "attest $(printf %064d 0)" "rotate --if-due"; do
    say tenon $verb --json
done
say tenon reset
say tenon keys list
say tenon keys purge --yes
expect "nothing was made" test ! -e "$TENON_STATE_DIR"

note "doctor: no TPM"
doctor "no TPM" tenon doctor
say tenon doctor --json
say tenon doctor --tpm "cmd:touch $world/ran"
say tenon doctor --tpm device:/dev/null
expect "no name of a TPM is run" test ! -e "$world/ran"

note "doctor: a node without permission"
mkdir -m 755 "$world/open" && cp "$binaries/tenon" "$world/open"
if [ "$(id -u)" = 0 ]; then
    mknod -m 660 "$world/node" c 10 224
    user="setpriv --reuid 65534 --regid 65534 --clear-groups"
else
    ln -s "$(find /dev -maxdepth 1 -type c ! -readable | head -n 1)" "$world/node"
    user=
fi
doctor "a node without permission" $user "$world/open/tenon" doctor --tpm "device:$world/node" --state-dir "$world/open/none"

note "doctor: a software TPM"
world_tpm device "$state/state"
device_tpm=${world_processes##* }
export TENON_TPM=swtpm:path=$world/device.tpm
doctor "a software TPM" tenon doctor
say tenon doctor --json
expect "the TPM's certificate is shown to whoever asks" sh -c "tenon doctor --disclose-ek | grep -q 'BEGIN CERTIFICATE'"
expect "and to nobody else" sh -c "! tenon doctor | grep -q 'BEGIN CERTIFICATE'"

note "register"
world_authority "$state/root.pem"
service=$url/auth
# An app of the dialect docs, whose rotations carry no proof, so that none may be demanded of it.
documented="{\"id\": \"documented\", \"dialects\": [\"docs\"], \"require_attestation\": false, \"unproven_rotation\": \"mark_unattested\", \"ek_roots\": [{\"path\": \"$state/root.pem\"}]}"
# And one whose requests are signed by version 2.
shared="{\"id\": \"shared\", \"dialects\": [\"tenon\"], \"ek_roots\": [{\"path\": \"$state/root.pem\"}]}"
backend="{\"name\": \"echo\", \"token_sha256\": \"$(printf token | sha256sum | cut -d' ' -f1)\", \"apps\": [\"shared\"], \"hosts\": [\"${url#http://}\"]}"
configured "s|\"apps\": \\[|&$shared,$documented,|; 1s|{|&\"backends\": [$backend],|"
say tenon register --service http://127.0.0.1:1/auth --app demo --dialect tenon --disclose-ek
say tenon register --dialect tenon
say tenon reset --yes
rm -rf "$TENON_STATE_DIR"
say tenon register --service "$service" --app demo --disclose-ek
say tenon register --dialect tenon
say tenon register --dialect tenon --json
say tenon register --dialect tenon --disclose-ek
mistake register --dialect tenon --ek-chain "$state/issuer.pem"
say tenon register --dialect tenon --disclose-ek --ek-chain "$state/state/tpm2-00.permall"
say tenon status
say tenon status --check
say tenon register --dialect tenon --disclose-ek --ek-chain "$state/issuer.pem"
say tenon register
say tenon register --json
say tenon register --dialect docs
say tenon status
kept status
say tenon status --json
say tenon status --check
say tenon status --check --json

note "the dialect docs, with an attestation CA"
export TENON_STATE_DIR=$world/docs
tenon-authority ca show --state-dir "$world/authority" > "$world/ca.pem"
by_ca=(register --service "$service" --app documented --disclose-ek --ek-chain "$state/issuer.pem")
mistake "${by_ca[@]}" --attestation-ca "$url/ca/documented"
export TENON_ATTESTATION_CA=$url/ca/documented TENON_ATTESTATION_ROOTS=$world/ca.pem
say tenon "${by_ca[@]}"
unset TENON_ATTESTATION_CA TENON_ATTESTATION_ROOTS
expect "what it signs is accepted" accepted
say tenon register
say tenon rotate
expect "the new key is accepted" accepted
mv "$world/ca.pem" "$world/gone.pem"
say tenon reset --yes
say tenon register
say tenon register --disclose-ek
expect "what was told once need not be told again" accepted
mv "$world/gone.pem" "$world/ca.pem"
export TENON_STATE_DIR=$world/state

note "sign"
printf '{"a":1}' > "$world/body"
say tenon sign POST /v1/echo --data "@$world/body"
say tenon sign POST /v1/echo --data "@$world/body" --format json
say tenon sign POST /v1/echo --data "it's" --json
say tenon sign GET "$url/v1/echo?page=2" --format curl
say tenon sign POST "$url/v1/echo" --data "@$world/body" --format curl
expect "what curl is told is accepted" test "$(sent)" = 200
expect "and only once" test "$(sent)" = 409
say tenon sign POST "$url/v1/echo" --data "it's" --format curl
sed -i "s/it'/at'/" "$world/out"
expect "another body is refused" test "$(sent)" = 401
stdin=$world/body say tenon sign POST /v1/echo --data @-
say tenon sign POST /v1/echo --data "@$world/body" --send
say tenon sign POST "$url/v1/echo" --data "@$world/body" --send --header 'Content-Type: application/json' --json
say tenon sign GET /v1/absent --send
say tenon sign GET http://127.0.0.1:1/v1/echo --send
mistake sign GET /v1/echo --send --header text/plain
mistake sign GET /v1/echo --send --format curl
say tenon sign POST /v1/echo --data "@$world/absent"
say tenon sign POST /v1/echo --data "@$world" --json
say tenon sign post /v1/echo
say tenon sign POST "/v1/echo?page=2"
say tenon sign POST "/a/../b"
say tenon sign POST "$url/a/../b"
TENON_APP=absent say tenon sign GET /v1/echo
say tenon sign GET /v1/echo --header 'Accept: text/plain'
say tenon sign GET /v1/echo --form plain
printf '{"method":"POST","url":"/v1/echo","body":"%s"}\n' one two > "$world/lines"
stdin=$world/lines say tenon sign --lines
printf '{"method":"GET","url":"/v1/echo"}\n\n{"method":"GET"}\n{"method":"GET","url":"/","more":1}' > "$world/lines"
stdin=$world/lines say tenon sign --lines
TENON_SERVICE=$service TENON_APP=demo expect "the environment says which" tenon sign GET /v1/echo
# 256 MiB through a program that may have 64: it keeps no body.
head -c 268435456 /dev/zero | python3 -c '
import resource, subprocess, sys
subprocess.run(["tenon", "sign", "PUT", "/v1/echo", "--data", "@-"], check=True, stdout=subprocess.DEVNULL)
sys.exit(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 65536)' || wrong "a body is not kept"
# At a TPM without a resource manager, which has places for three keys.
expect "eight processes sign at one TPM" sh -c "seq 8 | xargs -P 8 -I NUMBER tenon sign POST /v1/echo --data NUMBER"
expect "and leave nothing there" test -z "$(world_left device)"
loaded() { # loaded COMMAND...: the libraries that a command loads
    LD_DEBUG=files LD_DEBUG_OUTPUT=$world/ld "$@" > /dev/null 2>&1
    cat "$world"/ld.*
    rm -f "$world"/ld.*
}
# What its P-256 is may be libcrypto's: CRYPTO=openssl.
backend='crypto|'
ldd "$binaries/tenon" | grep libcrypto > /dev/null && backend= # not -q, which ends before ldd does
heavy="calling init: .*/lib(${backend}ssl|curl|Foundation[A-Za-z]*|_FoundationICU)\.so"
expect "signing loads neither libcrypto nor Foundation" test -z "$(loaded tenon sign GET /v1/echo | grep -E "$heavy")"
expect "nor does help" test -z "$(loaded tenon --help | grep -E "$heavy")"
expect "and that would be seen" test -n "$(loaded tenon maintain; loaded tenon rotate | grep -E "$heavy")"
mkdir "$world/libraries" && : > "$world/libraries/libcurl.so.4"
LD_LIBRARY_PATH=$world/libraries say tenon rotate
expect "signing needs no libcurl" env LD_LIBRARY_PATH="$world/libraries" tenon sign GET /v1/echo

note "signature version 2"
export TENON_STATE_DIR=$world/sharing
expect "a device of version 2" tenon register --service "$service" --app shared --dialect tenon --disclose-ek --ek-chain "$state/issuer.pem"
say tenon sign POST "$url/v1/echo" --data "@$world/body" --header 'Content-Type: application/json'
say tenon sign POST "$url/v1/echo?page=2" --data "@$world/body" --format curl
expect "what curl is told is accepted" test "$(sent)" = 200
expect "and only once" test "$(sent)" = 409
say tenon sign GET "$url/v1/echo" --form batch
say tenon sign GET http://127.0.0.1:1/v1/echo
tenon attest "$(printf %064d 0)" --json > "$world/out"
printf -- '-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n' "$(value public_key)" > "$world/key.pem"
# Of forty lines that are there at once, each is a member of one batch. The authority takes each, once.
for number in $(seq 40); do printf '{"method":"POST","url":"%s/v1/echo","body":"%s"}\n' "$url" "$number"; done > "$world/lines"
shared() {
    tenon sign --lines < "$world/lines" > "$world/signed" && python3 - "$world/signed" "$world/lines" << 'EOF'
import base64
import http.client
import json
import sys
import urllib.parse

signed, asked = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
values = [base64.b64decode(one["headers"]["Signature"][7:-1]) for one in signed]
assert len(values) == 40 and len({value[:66] for value in values}) == 1, "one signature for all"
assert [(value[64:66], value[66:68]) for value in values] == [(b"\0\x28", bytes([0, n])) for n in range(40)]
address = urllib.parse.urlsplit(signed[0]["url"])
connection = http.client.HTTPConnection(address.hostname, address.port)
for want in 200, 409:
    for one, line in zip(signed, asked):
        connection.request(one["method"], address.path, line["body"], one["headers"])
        answer = connection.getresponse()
        answer.read()
        assert answer.status == want, (answer.status, want)
EOF
}
expect "forty lines are one batch, and the authority takes each of them once" shared
head -n 7 "$world/signed" | tail -n 1 > "$world/member"
tenon sign GET "$url/v1/echo" --json > "$world/plain"
say tenon verify-request "$world/plain" --key "$world/key.pem"
checked=(tenon verify-request "$world/member" --key "$world/key.pem")
say "${checked[@]}" --data 7 --host "${url#http://}"
say "${checked[@]}" --data 7 --json
say "${checked[@]}" --data 8
say "${checked[@]}" --data 7 --host api.example.org --json
say "${checked[@]}" --data 7 --at 1790000000
openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout > "$world/other.pem" 2> /dev/null
say tenon verify-request "$world/member" --key "$world/other.pem" --data 7
sed 's/"X-App-ID":"shared",//' "$world/member" > "$world/changed"
say tenon verify-request "$world/changed" --key "$world/key.pem" --data 7
sed 's/"method":"POST"/"method":"PUT"/' "$world/member" > "$world/changed"
say tenon verify-request "$world/changed" --key "$world/key.pem" --data 7
# A process that dies while it signs for all of them loses these requests, and nothing else.
number=1
while at write "$number" 9 sh -c "tenon sign --lines < '$world/lines'"; do
    world_flush device
    understood "sign --lines at write $number (9)"
    number=$((number + 3))
done
expect "the lines were interrupted" test "$number" -gt 10
export TENON_STATE_DIR=$world/state

note "rotate and maintain"
say tenon rotate
expect "the new key is accepted" accepted
say tenon rotate --if-due
say tenon rotate --json
say tenon rotate --if-due --json
say tenon maintain
say tenon maintain --json
say tenon keys list
say tenon keys list --json
kill -STOP "$world_authority"
at send 1 2 tenon rotate
expect "an interrupted rotation says so" grep -q '"category":"unknown"' "$world/out"
differs status tenon status
say tenon status --check
kill -CONT "$world_authority"
say tenon rotate
expect "what was interrupted is settled" accepted

note "attest and verify"
nonce=$(printf %064d 7)
say tenon attest "$nonce"
say tenon attest "$nonce" --json
cp "$world/out" "$world/proof.json"
ak=$(value ak)
say tenon verify "$world/proof.json" --nonce "$nonce" --ak "$ak"
kept verify
differs verify tenon verify "$world/proof.json" --nonce "$nonce" --roots "$state/root.pem"
say tenon verify "$world/proof.json" --nonce "$nonce" --ak "$ak" --json
stdin=$world/proof.json say tenon verify - --nonce "$(printf %064d 8)" --ak "$ak" --json
mistake verify "$world/proof.json" --nonce "$nonce"
say tenon verify "$world/body" --nonce "$nonce" --ak "$ak"

note "more than one identity"
say tenon register --service "$service" --app other --dialect tenon --disclose-ek
say tenon sign GET /v1/echo
say tenon sign GET /v1/echo --app demo
say tenon reset --app other --yes --json

note "state that cannot be used"
say tenon status --state-dir "$world/body"
mkdir -m 777 "$world/shared" && chmod 777 "$world/shared"
say tenon sign GET / --state-dir "$world/shared" --json
cp -r "$TENON_STATE_DIR" "$world/damaged"
record=$(ls "$world/damaged"/*.record | while read -r file; do ! grep -q '"app_id":"demo"' "$file" || echo "$file"; done)
printf x >> "$record"
say tenon sign GET / --state-dir "$world/damaged" --app demo
say tenon status --state-dir "$world/damaged" --app demo --json
rm "$record.prev"
say tenon doctor --state-dir "$world/damaged" --json
say tenon reset --state-dir "$world/damaged" --service "$service" --app demo --yes
expect "a damaged record is set aside" sh -c "ls '$world/damaged/attic' | grep -q record"

note "the clock"
CLOCK_AT=1000 differs doctor tenon doctor
kept doctor
CLOCK_LOST=1 differs doctor tenon doctor

# A terminal sees colours and steps, and a pipe does not.
export TERM=xterm
terminal() { script -qec "$*" /dev/null < /dev/null; }
escape=$(printf '\033')
expect "colours" grep -q "$escape" <<< "$(terminal tenon doctor)"
expect "NO_COLOR" sh -c "! grep -q '$escape' << EOF
$(NO_COLOR=1 terminal tenon doctor)
EOF"
expect "no colours in a pipe" sh -c "! tenon doctor | grep -q '$escape'"
expect "steps" grep -q "maintain began" <<< "$(terminal tenon maintain --app demo)"
expect "no steps in a pipe" test "$(tenon maintain --app demo 2>&1 | wc -l)" = 1

# Interrupted anywhere.
export TENON_APP=demo
mkfifo "$world/slow"
tenon sign POST /v1/echo --data "@$world/slow" --json > "$world/out" 2> "$world/err" &
exec 8> "$world/slow"
signer=$!
kill -INT "$signer"
wait "$signer"
code=$?
expect "waiting for a body it ends at once, with JSON" grep -q TENON_ERROR_CANCELLED "$world/out"
exec 8>&-
ended "waiting for a body"
# Where the authority is asked more than a device would.
world_stop
sed -i 's/"max_devices_per_ek": 8/"max_devices_per_ek": 1000/; s/^{/{"limits": {"per_address_per_minute": 100000},/' \
    "$world/authority/authority.json"
began_again
# interrupted STEP CALLS SIGNALS BEFORE AFTER WORD...: types a command line again and again, and interrupts it at each
# STEPth of its calls of those names (a command to the TPM, a request, a thing that is stored), with each of the signals
# in turn. Before each, BEFORE is called; after it, AFTER with words that say which it was.
interrupted() {
    local step=$1 calls=$2 signals number signal
    read -ra signals <<< "$3"
    for call in $calls; do
        number=1
        while signal=${signals[number % ${#signals[@]}]} && "$4" && at "$call" "$number" "$signal" tenon "${@:6}" && [ "$number" -lt 200 ]; do
            ended "$6 at $call $number ($signal)"
            "$5" "$6 at $call $number ($signal)"
            number=$((number + step))
        done
    done
}
everywhere="write send fsync"
for verb in doctor status "keys list" "keys purge --old" "sign POST /v1/echo --data text" maintain "attest $nonce" \
    "verify $world/proof.json --nonce $nonce --ak $ak"; do
    interrupted 3 "$everywhere" "2 15" true understood $verb
done
interrupted 1 "$everywhere" "2 15 1" true understood rotate
interrupted 3 "$everywhere" 9 true understood rotate
# With a state folder of its own, which is empty before a registration, and before a reset is a copy of the other one.
own=$TENON_STATE_DIR
export TENON_STATE_DIR=$world/fresh
register=(register --service "$service" --dialect tenon --disclose-ek --ek-chain "$state/issuer.pem")
empty() { rm -rf "$TENON_STATE_DIR"; }
copy() { empty && cp -r "$own" "$TENON_STATE_DIR"; }
registers() { expect "$1: it goes on" tenon "${register[@]}" && understood "$1"; }
resets() { expect "$1: it goes on" tenon reset --yes; }
interrupted 3 "$everywhere" 15 empty registers "${register[@]}"
interrupted 3 "$everywhere" 9 empty registers "${register[@]}"
interrupted 1 fsync 9 copy resets reset --yes
export TENON_STATE_DIR=$own
for _ in $(seq 20); do
    python3 -c '
import subprocess, sys
with subprocess.Popen(["tenon", "rotate", "--json"]) as tenon:
    tenon.terminate()
sys.exit(tenon.returncode if tenon.returncode >= 0 else 128 - tenon.returncode)' > "$world/out" 2> "$world/err"
    code=$?
    ended "at the start"
done
understood "at the start"
# Somebody else has the lock.
lock=${TENON_STATE_DIR}/$(tenon status --json | sed -E 's/.*"id":"([^"]*)".*/\1/').lock
mkfifo "$world/let-go" "$world/has-it"
python3 - "$lock" > "$world/has-it" << 'EOF' &
import fcntl
import struct
import sys

with open(sys.argv[1], "r+") as lock:
    fcntl.fcntl(lock, 37, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))
    print("it has it", flush=True)
    open(sys.argv[1].rsplit("/", 2)[0] + "/let-go").read()
EOF
holder=$!
read -r _ < "$world/has-it"
for verb in rotate maintain "register --dialect tenon" "keys purge --yes" "reset --yes"; do
    at fcntl 2 2 tenon $verb || wrong "$verb asks for the lock"
    ended "$verb, waiting for the lock"
    expect "$verb, waiting for the lock: ends at once" grep -q TENON_ERROR_CANCELLED "$world/out"
done
expect "nor does it wait longer than --timeout says" sh -c "timeout 30 tenon rotate --timeout 1 --json | grep -q TENON_ERROR_STATE_BUSY"
: > "$world/let-go"
wait "$holder"
understood "after the lock"
# The TPM answers nothing.
for verb in doctor "sign GET /v1/echo" rotate "attest $nonce"; do
    kill -STOP "$device_tpm"
    at write 1 2 tenon $verb || wrong "$verb asks the TPM"
    ended "$verb, waiting for the TPM"
    kill -CONT "$device_tpm"
    understood "$verb, waiting for the TPM"
done
expect "interruptions were many" test "$interruptions" -gt 100
tenon keys purge --yes > "$world/err" || wrong "the attic is emptied" "$world/err"

note "the service is not there"
world_stop
say tenon rotate
say tenon register
say tenon sign GET /v1/echo --send
say tenon sign GET /v1/echo
say tenon maintain --json
began_again
say tenon rotate
expect "it signs on" accepted

note "a service that knows nothing of the device"
world_stop
mv "$world/authority" "$world/kept"
lost=$world/lost && cp -r "$TENON_STATE_DIR" "$lost"
port=${service#http://127.0.0.1:}
port=${port%/auth}
world_serve --port "$port" --ek-roots "$state/root.pem"
for verb in register rotate maintain "sign GET /v1/echo --send" "status --check"; do
    say tenon $verb --state-dir "$lost"
done
expect "the way out works" sh -c "tenon reset --yes --state-dir '$lost' && tenon register --disclose-ek --state-dir '$lost'"
world_stop
rm -rf "$world/authority" && mv "$world/kept" "$world/authority"
began_again

note "another TPM, and the own one again"
own_tpm=$TENON_TPM
mkdir "$world/blank" && : > "$world/blank/new"
world_tpm foreign "$world/blank"
export TENON_TPM=swtpm:path=$world/foreign.tpm
say tenon sign GET /v1/echo
say tenon status --check
say tenon register
say tenon status --check
export TENON_TPM=$own_tpm
say tenon sign GET /v1/echo
expect "the identity goes on" accepted
say tenon status --check

note "revoked"
device=$(tenon status --json | sed -E 's/.*"device_id":"([^"]*)".*/\1/')
tenon-authority revoke --state-dir "$world/authority" --app demo --compromised --dry-run "$device" > "$world/out"
expect "what undoes a revocation of a TPM is named" grep -q "tenon-authority allow --ek EK_ID (tenon doctor --disclose-ek prints" "$world/out"
expect "and the doctor prints it" sh -c "tenon doctor --disclose-ek | grep -q 'ek_id: '"
say tenon-authority revoke --state-dir "$world/authority" --app demo "$device"
say tenon rotate
differs status tenon status
say tenon status --check
say tenon sign GET /v1/echo --json
say tenon doctor --json
say tenon register
say tenon reset --yes
for file in "$state"/ek-*.crt; do openssl x509 -inform DER -in "$file"; done > "$world/others.pem"
openssl x509 -inform DER -in "$(ls "$state"/ek-*.crt | grep -v rsa)" | cat - "$state/issuer.pem" > "$world/ek.pem"
mistake register --ek-certificate "$world/ek.pem"
say tenon register --disclose-ek --ek-certificate "$world/others.pem"
say tenon register --disclose-ek --ek-certificate "$world/ek.pem"

note "doctor: in lockout"
world_command device "$world_lock" > /dev/null
doctor "in lockout" tenon doctor
say tenon sign GET /v1/echo

note "doctor: cleared after the registration"
world_command device "$world_clear" > /dev/null
doctor "cleared after the registration" tenon doctor
say tenon sign GET /v1/echo
differs status tenon status
differs doctor tenon doctor
say tenon register --disclose-ek --ek-chain "$state/issuer.pem"
expect "registered anew it signs" accepted

note "the attic"
say tenon keys list
say tenon keys purge
say tenon keys purge --old
say tenon keys purge --yes
say tenon keys list

note "bench"
world_tpm bench "$state/state"
export TENON_TPM=swtpm:path=$world/bench.tpm
say tenon bench --smoke
say tenon bench --smoke --persist --json
expect "nothing of it is left" test -z "$(world_left bench)"
say tenon bench --smoke --out "$world/smoke.json"
expect "each line is JSON" python3 -c 'import json, sys; [json.loads(line)["kind"] for line in open(sys.argv[1])]' "$world/smoke.json"
say tenon bench --smoke --out "$world/smoke.json"
say tenon bench --smoke --out "$world/absent/smoke.json" --json
env --ignore-signal=XFSZ prlimit --fsize=512 tenon bench --smoke --out "$world/smoke-cut.json" > "$world/out" 2>&1
expect "a file is written whole, or it is said" grep -q "cannot be written: File too large" "$world/out"
expect "no other file is left" test "$(ls "$world" | grep -c smoke)" = 1
mistake bench --rounds 0
mistake bench --smoke --html "$world/smoke.html"
expect "no page of nothing" test ! -e "$world/smoke.html"
say tenon bench --smoke --tpm "device:$world/no-node"
expect "a debug build measures nothing, any other does" sh -c "tenon bench --rounds 1 2>&1 | grep -Eq 'debug build|^P1 .*reached'"
expect "steps" grep -q "keeping a copy" <<< "$(terminal tenon bench --smoke --persist)"
expect "no steps in a pipe" sh -c "! tenon bench --smoke --persist 2>&1 | grep -q 'keeping a copy'"
for moment in 02 03 04 05 06 07 08 10 12 15 20; do
    timeout --foreground -s INT "0.$moment" tenon bench --smoke --persist --json > "$world/out" 2> "$world/err"
    [ ! -s "$world/out" ] || expect "JSON after an interrupt" is_json "$world/out"
    expect "nothing is left after an interrupt ($moment)" test -z "$(world_left bench)"
done
for _ in 1 2 3; do world_command bench "$world_primary" > /dev/null; done
say tenon bench --smoke
note "doctor: full of what others left"
doctor "full of what others left" tenon doctor --state-dir "$world/none"
note "bench, with room again"
world_flush bench
world_command bench "$world_owner_auth" > /dev/null
say tenon bench --smoke --persist
printf 'o\n' > "$world/owner"
say tenon bench --smoke --persist --owner-auth "$world/owner" --json

note "bench compare"
measured() { # measured FILE NANOSECONDS COMMANDS
    {
        echo '{"kind":"machine","cpu":"a CPU","compiler":"c","glibc":"2","governor":"none"}'
        for by in tenon raw; do
            printf '{"kind":"line","backend":"mbedtls","line":"tpm-sign","by":"%s","rounds_ns":[%s],"commands":%s}\n' \
                "$by" "$([ $by = raw ] && echo 1000,1001,1002 || echo "$2,$(($2 + 1)),$(($2 + 2))")" "$3"
        done
    } > "$world/$1"
}
measured a.json 1010 1 && measured b.json 1300 1 && measured c.json 900 1 && measured d.json 1010 2
sed 's/a CPU/another/' "$world/b.json" > "$world/e.json"
sed 's/tpm-sign/other/' "$world/a.json" > "$world/f.json"
say tenon bench compare "$world/a.json" "$world/a.json"
kept compare
for other in b c d e; do differs compare tenon bench compare "$world/a.json" "$world/$other.json"; done
say tenon bench compare "$world/a.json" "$world/b.json" --json
say tenon bench compare "$world/a.json" "$world/f.json"
say tenon bench compare "$world/a.json" "$world/smoke.json"
say tenon bench compare "$world/a.json" "$world/body" --json
say tenon bench compare "$world/a.json" "$world/absent.json"
mistake "bench compare" "$world/a.json"
head -c 150 "$world/a.json" > "$world/cut.json"
say tenon bench compare "$world/a.json" "$world/cut.json"
sed 's/1002/NaN/' "$world/a.json" > "$world/nan.json"
say tenon bench compare "$world/nan.json" "$world/a.json"
truncate -s 65M "$world/huge.json"
say tenon bench compare "$world/a.json" "$world/huge.json"

# What follows has no lines in the transcript: each holds on any machine.
export TENON_TPM=swtpm:path=$world/device.tpm
authority_folder=$world/authority
verbs=(doctor register status "sign GET /v1/echo" "rotate --if-due" maintain "attest $nonce" "verify $world/proof.json --nonce $nonce --ak $ak"
    "keys list" "keys purge --old" "bench --smoke" "bench compare $world/a.json $world/a.json" --version --help --man --completion "help sign")
authority_verbs=("serve --state-dir $world/mute" "devices --state-dir $authority_folder" "ca show --state-dir $authority_folder"
    "revoke --state-dir $authority_folder --ek $nonce" "allow --state-dir $authority_folder --ek $nonce" "health --state-dir $authority_folder"
    "metrics --state-dir $authority_folder" --version --help)
unsaid() { # unsaid CODE SENTENCE WHERE COMMAND...: fails with this exit code, and says this sentence to stderr, once
    timeout --foreground 60 "${@:4}" 2> "$world/err" < /dev/null
    local code=$?
    [ "$code $(grep -c "$2" "$world/err")" = "$1 1" ] || wrong "${*:4} $3 (exit $code)" "$world/err" >&2
}
unsaid 5 "cannot be written" "whose first lines nobody sees" tenon-authority serve --state-dir "$world/mute" --port "$(world_port)" > /dev/full
each_verb() { # each_verb FUNCTION: calls it with each command line
    local verb
    for verb in "${verbs[@]}"; do "$1" tenon $verb; done
    for verb in "${authority_verbs[@]}"; do "$1" tenon-authority $verb; done
}

# Too few descriptors.
few() {
    local limit code
    for limit in 5 6 12 24; do
        (ulimit -n "$limit"; exec "$@") > "$world/out" 2> "$world/err" < /dev/null
        code=$?
        [ "$code" = 5 ] && grep -q "may open .* more files, but needs" "$world/err" || wrong "$*: a sentence with $limit descriptors (exit $code)" "$world/err"
    done
}
each_verb few
few tenon reset
few tenon-authority ca init --state-dir "$world/mute-ca"
few tenon-authority audit verify --state-dir "$authority_folder"
(ulimit -n 12; exec tenon status --json) > "$world/out" 2> "$world/err"
expect "and JSON, where that is asked for" python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["error"]["code"] != "TENON_ERROR_FILE_LIMIT")' "$world/out"
# A limit that comes later ends nothing, at whatever moment it comes.
for turn in 1 2 3 4 5 6 7 8; do
    tenon sign POST /v1/echo --data "@$world/slow" > "$world/out" 2> "$world/err" &
    signer=$!
    exec 8> "$world/slow"
    prlimit --pid "$signer" --nofile=3
    exec 8>&-
    wait "$signer"
    code=$?
    expect "a limit that comes later is an error, too (exit $code, $turn)" test "$code" -lt 128
done
world_flush device

# Nor does an authority end whose clients have all descriptors, and go on asking.
expect "an authority whose descriptors are all taken goes on" python3 - "${url##*:}" "$world_authority" << 'EOF'
import socket
import subprocess
import sys
import time

body = b'{"app_id":"demo"}'
request = b"POST /auth/v1/device/challenge HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
peers = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(48)]


def ask():
    for peer in peers:
        peer.sendall(request % (len(body), body))
    gone = [peer.recv(4096) for peer in peers].count(b"")
    assert gone == 0, f"{gone} of 48 are gone"


def limit(files):
    subprocess.run(["prlimit", "--pid", sys.argv[2], f"--nofile={files}:"], check=True)


ask()
limit(3)
end = time.monotonic() + 4
try:
    while time.monotonic() < end:
        ask()
finally:
    limit(1024)
EOF

# An output that takes nothing.
mute() {
    unsaid 5 "cannot be written to the standard output: No space" "to a full disk" "$@" > /dev/full
    unsaid 5 "cannot be written to the standard output: Bad file" "without an output" "$@" >&-
    unsaid 5 "cannot be written to the standard output: Broken pipe" "to a pipe that ended" python3 -c '
import os, subprocess, sys
read, write = os.pipe()
os.close(read)
sys.exit(subprocess.run(sys.argv[1:], stdout=write).returncode)' "$@"
}
each_verb mute
# What fails before it answers says that instead, also if it was to be JSON; and nobody makes a CA twice.
unsaid 5 "cannot be written" "which is said to be made" tenon-authority ca init --state-dir "$world/mute-ca" > /dev/full
unsaid 1 "cannot be undone" "beside the output" tenon reset > /dev/full
unsaid 1 "cannot be undone" "beside the output" tenon reset --json > /dev/full
# What is opened next is never the standard output.
tenon status --json >&- 2> /dev/null
expect "a closed output takes nobody's place" tenon status

# A terminal that is gone, and nohup.
env --default-signal=HUP tenon sign POST /v1/echo --data "@$world/slow" --json > "$world/out" 2> "$world/err" &
signer=$!
exec 8> "$world/slow"
kill -HUP "$signer"
wait "$signer"
expect "SIGHUP ends it as SIGTERM does (exit $?)" grep -q TENON_ERROR_CANCELLED "$world/out"
exec 8>&-
(trap '' HUP; exec tenon sign POST /v1/echo --data "@$world/slow") > "$world/out" 2> "$world/err" &
signer=$!
exec 8> "$world/slow"
kill -HUP "$signer"
exec 8>&-
wait "$signer"
expect "who began it by nohup has it go on" grep -q "^X-Synheart-Signature:\|ignature" "$world/out"

# Without /proc, where this machine lets it be taken away.
bare() { unshare -m sh -c 'mount --make-rprivate / && umount -l /proc && exec "$@"' sh "$@"; }
if bare true 2> /dev/null; then
    expect "without /proc it does what was typed" test "$(bare tenon keys list --json 2>&1)" = "$(tenon keys list --json)"
    expect "and signs" sh -c "$(declare -f bare); bare tenon sign GET /v1/echo | grep -q ignature"
    expect "the authority, too" test "$(bare tenon-authority --version)" = "$(tenon-authority --version)"
    expect "and it serves nobody who asked for something else" test "$(bare tenon-authority devices --nope 2>&1 | head -n 1)" = "tenon-authority: --nope is not an option of devices."
fi

# The environment: what libcurl, OpenSSL and GnuTLS would read of it by themselves.
mkdir "$world/tls"
"$scripts/tls_server.sh" "$world/tls" localhost 20200101000000Z 20400101000000Z
printf '%s\n' 'openssl_conf = all' '[all]' 'ssl_conf = ssl' '[ssl]' 'system_default = default' '[default]' 'CipherString = DEFAULT:@SECLEVEL=5' > "$world/tls/openssl.cnf"
tls_port=$(world_port)
SSLKEYLOGFILE=$world/tls/of-authority world_listen tls tenon-authority serve --state-dir "$world/tls/state" --port "$tls_port" \
    --tls-cert "$world/tls/server.pem" --tls-key "$world/tls/server.key"
tls_authority=$listener
expect "it listens with TLS" test "${where%%:*}" = https
asked="tenon register --service https://localhost:$tls_port/auth --app absent --dialect tenon --disclose-ek --state-dir $world/tls/device"
env SSLKEYLOGFILE="$world/tls/of-curl" curl -s --cacert "$world/tls/ca.pem" "https://localhost:$tls_port/health" > /dev/null
expect "a key log would be written" test -s "$world/tls/of-curl"
expect "a configuration of OpenSSL would be read" sh -c "! OPENSSL_CONF=$world/tls/openssl.cnf curl -s --cacert $world/tls/ca.pem https://localhost:$tls_port/health"
$asked --ca-file "$world/tls/ca.pem" > "$world/plain" 2>&1
expect "the service is asked, and does not know the app" grep -q "HTTP 4" "$world/plain"
for variable in SSLKEYLOGFILE="$world/tls/of-tenon" OPENSSL_CONF="$world/tls/openssl.cnf" OPENSSL_MODULES="$world" OPENSSL_ENGINES="$world" \
    SSL_CERT_FILE=/dev/null SSL_CERT_DIR=/dev/null CURL_CA_BUNDLE=/dev/null CURL_SSL_BACKEND=gnutls CURL_HOME="$world/tls" \
    http_proxy=http://127.0.0.1:1 https_proxy=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1 HOSTALIASES="$world/tls/openssl.cnf" RES_OPTIONS=ndots:15; do
    env "$variable" $asked --ca-file "$world/tls/ca.pem" > "$world/out" 2>&1
    expect "$variable does not reach it" diff "$world/plain" "$world/out"
    env "$variable" tenon-authority health --state-dir "$authority_folder" > "$world/out" 2>&1
    expect "$variable does not reach the authority's client" grep -q ok "$world/out"
done
expect "no TLS key was written down by the device" test ! -e "$world/tls/of-tenon"
expect "nor by the authority" test ! -e "$world/tls/of-authority"
env SSL_CERT_FILE="$world/tls/ca.pem" SSL_CERT_DIR="$world/tls" CURL_CA_BUNDLE="$world/tls/ca.pem" $asked > "$world/out" 2>&1
expect "nobody is trusted because the environment says so" grep -q "No trusted CA" "$world/out"
kill "$tls_authority" && wait "$tls_authority"

# Each cause, its sentence, its mend; and the mend is tried.
mends() { # mends CODE SENTENCE MEND COMMAND...: fails with this exit code, this sentence and this mend
    "${@:4}" > "$world/out" 2>&1 < /dev/null
    local code=$?
    [ "$code" = "$1" ] && grep -qF -- "$2" "$world/out" && grep -qF -- "$3" "$world/out" || wrong "${*:4}: $2 (exit $code)" "$world/out"
}
mkdir "$world/try"
{ echo 'cd "$1"' && tenon --help | sed -n '/^A first try/,/^$/ s/^    //p' | sed 's|--daemon|& --pid file="$PWD/pid"|'; } > "$world/try.sh"
expect "what the help shows for a first try" env TENON_STATE_DIR="$world/none" sh -e "$world/try.sh" "$world/try"
kill "$(cat "$world/try/pid")"
first=$world/first
mkdir "$first"
mends 5 "$first/socket: No such file or directory" "Start it: swtpm socket" tenon bench --smoke --tpm "swtpm:path=$first/socket"
mends 5 "$first/socket: No such file or directory" "Start it: swtpm socket" tenon doctor --tpm "swtpm:path=$first/socket"
start=$(sed -n 's/^ *Start it: //p' "$world/out")
sh -c "${start/dir=\$PWD\/DIR/dir=$first} --pid file=$first/pid" > "$world/err" 2>&1
expect "what it says starts one" tenon doctor --tpm "swtpm:path=$first/socket" --state-dir "$world/none"
mv "$first/socket.ctrl" "$first/away"
mends 5 "$first/socket.ctrl: No such file or directory" "--ctrl type=unixio,path=$first/socket.ctrl" tenon doctor --tpm "swtpm:path=$first/socket"
mv "$first/away" "$first/socket.ctrl"
if [ "$(id -u)" = 0 ]; then
    chmod 700 "$first"
    mends 6 "$first/socket: this user may not connect" "Run as the user" $user "$world/open/tenon" doctor --tpm "swtpm:path=$first/socket" --state-dir "$world/open/none"
    mends 6 "$first/socket: this user may not connect" "Run as the user" $user "$world/open/tenon" bench --smoke --tpm "swtpm:path=$first/socket"
    mends 6 "this user may not open it" "Join the group" $user "$world/open/tenon" bench --smoke --tpm "device:$world/node"
    chmod 600 "$world/node"
    mends 6 "mode 600: this user may not open it" "Give it to a group" $user "$world/open/tenon" bench --smoke --tpm "device:$world/node"
    cp "$binaries/tenon-authority" "$world/open"
    mends 6 "this user may not connect" "as the authority's user" $user "$world/open/tenon-authority" health --admin "$authority_folder/admin.sock"
fi
kill -KILL "$(cat "$first/pid")"
mends 5 "Nobody answers at $first/socket" "Start it: swtpm socket" tenon bench --smoke --tpm "swtpm:path=$first/socket"
mends 5 "$world/body is not a device" "--tpm" tenon doctor --tpm "device:$world/body"
mends 5 "$world/body is not a device" "--tpm" tenon bench --smoke --tpm "device:$world/body"
mends 5 "$world/body is not a socket" "Give the socket" tenon bench --smoke --tpm "swtpm:path=$world/body"
DBUS_SYSTEM_BUS_ADDRESS=unix:path=$world/bus mends 5 "$world/bus, the system's bus: No such file" "Start it: sudo systemctl start" tenon bench --smoke --tpm tabrmd:
mends 4 "$world/nobody/admin.sock: No such file" "name its folder: --state-dir" tenon-authority health --state-dir "$world/nobody"
expect "named, it answers" tenon-authority health --state-dir "$authority_folder"

# relay ANSWER...: stands at $relay before the authority. To the first request for a path it gives this answer:
# busy:PATH:SECONDS and given:PATH:STATUS:BODY do not pass it on, garbled:PATH passes it on and answers what nobody
# understands, cut:PATH passes it on and answers nothing, slow:PATH waits.
relay() {
    python3 - "${url##*:}" "$relay_port" "$@" << 'EOF' > /dev/null 2>&1 &
import http.client, http.server, sys, time

target, port, answers = int(sys.argv[1]), int(sys.argv[2]), [text.split(":", 3) for text in sys.argv[3:]]


class Relay(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = next((answer for answer in answers if self.path.endswith(answer[1])), [""])
        if answer[0]:
            answers.remove(answer)
        if answer[0] == "busy":
            return self.give(503, b"{}", {"Retry-After": answer[2]})
        if answer[0] == "given":
            return self.give(int(answer[2]), answer[3].encode(), {"Content-Type": "application/json"})
        if answer[0] == "slow":
            time.sleep(2)
        way = http.client.HTTPConnection("127.0.0.1", target)
        way.request(self.command, self.path, body, dict(self.headers))
        got = way.getresponse()
        read = got.read()
        if answer[0] == "cut":
            self.close_connection = True
            return
        self.give(got.status, b"?" if answer[0] == "garbled" else read, {"Content-Type": got.headers.get("Content-Type", "")})

    do_GET = do_POST

    def give(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("127.0.0.1", port), Relay).serve_forever()
EOF
    relay=$!
    world_processes="$world_processes $relay"
    until curl -s -o /dev/null "http://127.0.0.1:$relay_port/health"; do kill -0 "$relay" || exit 1; done
}
relayed() { # relayed ANSWER...
    kill "$relay" && wait "$relay"
    relay "$@"
}
relay_port=$(world_port)
configured "s|\"origins\": \[|\"origins\": [\"http://127.0.0.1:$relay_port\", |"
export TENON_STATE_DIR=$world/relayed
register=(tenon register --service "http://127.0.0.1:$relay_port/auth" --app demo --dialect tenon --disclose-ek --ek-chain "$state/issuer.pem")
mends 4 "Nobody answers there" "that the service is running" "${register[@]}" --timeout 9
relay busy:/challenge:61 busy:/challenge:99999999999999999999
mends 4 "asks for a pause of 61 s, but this call may take 60 s at most" "--timeout 121" "${register[@]}"
mends 4 "asks for a pause of 1000000000 s, but this call may take 60 s at most" "Try again in 1000000000 s." "${register[@]}"
relayed busy:/challenge:4
mends 4 "asks for a pause of 4 s, but this call may take 3 s at most" "--timeout 64" "${register[@]}" --timeout 3
relayed busy:/challenge:2 garbled:/register
before=$SECONDS
mends 11 "The service's answer" "Run the same command again: it continues where this one stopped." "${register[@]}" --timeout 64
expect "the pause that the service asked for was made" test "$((SECONDS - before))" -ge 2
expect "the same again registers" "${register[@]}"
relayed garbled:/rotate-key
mends 11 "The service's answer" "Run the same command again: it continues where this one stopped." tenon rotate
expect "the same again rotates" tenon rotate
# What stays open is said, and is not the worst where a person has to act for another identity.
relayed 'given:/rotate-key:409:{"error_code":"ROTATION_FAILED"}'
mends 3 "The service refused the new key; both keys are kept." "Ask the service's operator why; then: tenon rotate" tenon rotate
mends 11 "open: the service did not accept the new key, and the old one signs; both are kept" "tenon rotate" tenon maintain
mends 11 "A new key was offered, but the service has not confirmed it." "Settle it: tenon maintain" tenon status --check
cp -r "$TENON_STATE_DIR" "$world/both"
printf x > "$world/both/$(printf %032d 0).record"
mends 10 "A new key was offered" "tenon maintain" env -u TENON_APP tenon status --check --state-dir "$world/both"
expect "the same again rotates" tenon rotate
# The server of a request need not be the auth service.
relayed cut:/v1/echo given:/v1/echo:429:later
sends=(tenon sign GET "http://127.0.0.1:$relay_port/v1/echo" --send)
mends 11 "" "Check at http://127.0.0.1:$relay_port whether the request was done before you send it again." "${sends[@]}"
mends 4 "HTTP 429" later "${sends[@]}"
relayed "given:/v1/echo:200:[31m $escape[31m $(printf '\302\233')31m"
terminal "${sends[@]}" > "$world/out"
expect "an answer does not command the terminal" grep -aqF '[31m ?[31m ?31m' "$world/out"
relayed busy:/rotate-key:2 slow:/rotate-key
terminal tenon rotate > "$world/out"
expect "a pause is shown, with its cause and the number of the try" grep -q "waits 2000 ms for try 2 of 5, after TENON_ERROR_SERVICE_BUSY" "$world/out"
expect "and so is a service that takes its time" grep -q "waiting for the service's answer, [0-9]* s at most" "$world/out"
for wrong in 0 x 86401; do mends 1 "--timeout must be a number of seconds" "tenon rotate --help" tenon rotate --timeout "$wrong"; done
mends 1 "--timeout must be a number of seconds" "tenon-authority health --help" tenon-authority health --timeout 0 --state-dir "$authority_folder"
expect "the authority's client takes it, too" tenon-authority health --timeout 5 --state-dir "$authority_folder"
kill "$relay" && wait "$relay"
before=$SECONDS
mends 4 "Nobody answers there" "that the service is running" tenon rotate
expect "a refused connection is no 17 seconds" test "$((SECONDS - before))" -lt 9
relay 'given:/v1/echo:401:{"error_code":"NONCE_REPLAY"}'
tenon-authority revoke --state-dir "$authority_folder" --app demo "$(tenon status --json | sed -E 's/.*"device_id":"([^"]*)".*/\1/')" > "$world/out"
mends 10 "HTTP 403, after it was signed again" "The service revoked this device" "${sends[@]}"
kill "$relay" && wait "$relay"
# The attestation CA.
export TENON_STATE_DIR=$world/by-ca TENON_APP=documented
register=(tenon register --service "$url/auth" --app documented --disclose-ek --ek-chain "$state/issuer.pem")
mends 4 "The attestation CA at http://127.0.0.1:1/ca/documented: Nobody answers" "Check --attestation-ca" "${register[@]}" --attestation-ca http://127.0.0.1:1/ca/documented --attestation-roots "$world/ca.pem"
mends 3 "The attestation CA at $url/nowhere: " "Check --attestation-ca" "${register[@]}" --attestation-ca "$url/nowhere" --attestation-roots "$world/ca.pem"
mends 3 "The attestation CA at $url/ca/documented: " "--attestation-roots FILE" "${register[@]}" --attestation-ca "$url/ca/documented" --attestation-roots "$state/root.pem"
mends 3 "The attestation CA at $url/ca/documented: It refused this device." "--ek-chain FILE" tenon register --service "$url/auth" --app documented --disclose-ek --attestation-ca "$url/ca/documented" --attestation-roots "$world/ca.pem"
mends 1 "The attestation CA at ftp://x: " "Give it as --attestation-ca https://" "${register[@]}" --attestation-ca ftp://x --attestation-roots "$world/ca.pem"
relay garbled:/attest
mends 2 "The attestation CA at http://127.0.0.1:$relay_port/ca/documented: " "Check --attestation-ca" "${register[@]}" --attestation-ca "http://127.0.0.1:$relay_port/ca/documented" --attestation-roots "$world/ca.pem"
kill "$relay" && wait "$relay"
expect "named as it is, with its roots, it certifies" "${register[@]}" --attestation-ca "$url/ca/documented" --attestation-roots "$world/ca.pem"
# What may stand in a path.
mends 1 "that a URL must escape" "tenon sign" tenon sign GET "/v1/{a}"
mends 1 "neither a path" "tenon sign" tenon sign GET v1/x
expect "a path may have a query, which is not signed" sh -c "tenon sign GET '/v1/echo?x=[1-2]' --json | grep -q '\"path\":\"/v1/echo\"'"
tenon sign GET "/v1/echo?x=[1-2]" --format curl > "$world/out"
expect "curl is told to send brackets and dots as they are" grep -q "^curl --globoff --path-as-is " "$world/out"
expect "and does so, once" test "$(sent)" = 200
export TENON_STATE_DIR=$world/state TENON_APP=demo

[ "$mode" != write ] || cp "$transcript" "$scripts/command.txt"
diff -u "$scripts/command.txt" "$transcript" > "$world/difference" || wrong "what is printed is in command.txt" "$world/difference"
# The demo, twice in a row, and what it leaves: no file, and no process that knows of its folder.
mkdir "$world/demo"
for _ in 1 2; do expect "the demo" env TMPDIR="$world/demo" "$root/Examples/demo.sh" "$binaries" "$state"; done
expect "the demo of a KERI identifier" env TMPDIR="$world/demo" "$root/Examples/demo-auths.sh" "$binaries" "$state"
world_tpm own "$state/state"
given() { env TMPDIR="$world/demo" "$root/Examples/demo.sh" "$binaries" "$state" "swtpm:path=$world/own.tpm" | tee "$world/given"; }
expect "the demo on a given TPM" given
expect "and nothing is cleared there" refuse grep clears "$world/given"
expect "the demo leaves no file" test -z "$(ls "$world/demo")"
expect "the demo leaves no process" sh -c "! pgrep -f '$world/[d]emo/' > /dev/null"
expect "the demo leaves nothing in the TPM" test -z "$(world_left own)"

[ "$failed" = 0 ] && echo "tenon: $(grep -c '^\$ ' "$transcript") command lines, each as it is written down; $interruptions interruptions"
[ "$failed" = 0 ]
