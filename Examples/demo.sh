#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh BINARIES TPM_STATE [TPM]: shows the life of a device's identity, step by step: `make demo`. It starts a
# software TPM and an authority on loopback, and stops them at the end. With TPM, for example device:/dev/tpmrm0, the
# device's key is created there, and nothing is cleared.
set -u

# shellcheck source=/dev/null
. "$(dirname "$0")/steps.sh"

# sends STATUS CURL: sends the signed request with curl.
sends() {
    printf '  $ %s\n' "$(printf %s "$2" | sed -E "s/ -H '[^']*'//g; s/^curl/curl (six headers)/")"
    answers "$1" "$(sh -c "$2 -s -o '$world/answer' -w '%{http_code}'")"
}

# sends_lines ANSWERS: sends the requests of signed.jsonl, which are for localhost.
sends_lines() {
    echo "  each of signed.jsonl is sent:"
    found=$(python3 - "${url##*:}" << 'EOF'
import collections
import http.client
import json
import sys

answers = collections.Counter()
authority = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
for asked, signed in zip(open("requests.jsonl"), map(json.loads, open("signed.jsonl"))):
    headers = signed["headers"] | {"Host": "localhost:" + sys.argv[1]}
    authority.request(signed["method"], signed["path"], json.loads(asked)["body"], headers)
    answer = authority.getresponse()
    answer.read()
    answers[answer.status] += 1
print(", ".join(f"{count} answers: {status}" for status, count in answers.items()))
EOF
    )
    echo "    $found"
    holds "$found" "$1" "It should have been $1."
}

if [ $# -ge 3 ] && [ -n "$3" ]; then
    own=$3 chain=
    export TENON_TPM="$own"
    say "The TPM is $own; the authority on loopback has it in its inventory"
    id=$(tenon doctor --disclose-ek --json | sed -n 's/.*"ek_id":"\([^"]*\)".*/\1/p')
    [ -n "$id" ] || { tenon doctor; exit 1; }
    world_demo "\"ek_admission\": \"inventory\", \"ek_allow_list\": [\"$id\"]"
else
    own= chain=" --ek-chain $state/issuer.pem"
    say "Start a software TPM, and an authority that trusts its maker, in $world"
    world_tpm device "$state/state"
    export TENON_TPM="swtpm:path=$world/device.tpm"
    # A runtime registers as the service's documents say, and so in the other dialect.
    if [ -n "${RUNTIME:-}" ]; then dialects=; else dialects='"dialects": ["tenon"], "require_attestation": true,'; fi
    world_demo "$dialects \"ek_roots\": [{\"path\": \"$state/root.pem\"}]"
fi
echo "  export TENON_TPM=$TENON_TPM"

say "Check that the TPM can hold an identity"
does 0 "tenon doctor"

say "Register: the TPM creates the key and proves it; the service accepts no software key"
does 0 "tenon register --service $url/auth --app demo --dialect tenon --disclose-ek$chain"
does 0 "tenon status"

say "Sign a request; the authority accepts it"
printf '{"heart_rate":62}' > body.json
signed=$(tenon sign POST "$url/v1/echo" --data @body.json --format curl) || exit 1
sends 200 "$signed"

say "Send the same request again: the authority refuses the replay"
sends 409 "$signed"

say "Send another body with the same signature"
printf '{"heart_rate":99}' > body.json
signed=$(printf '{"heart_rate":62}' | tenon sign POST "$url/v1/echo" --data @- --format curl | sed 's/@-/@body.json/')
sends 401 "$signed"

say "Change the key: the old key signs until the service has accepted the new one"
does 0 "tenon rotate"
does 0 "tenon keys list"
signed=$(tenon sign POST "$url/v1/echo" --data @body.json --format curl) || exit 1
sends 200 "$signed"

say "Sign a hundred requests at once: the TPM signs once, and the authority accepts each of them, once"
seq 100 | sed "s|.*|{\"method\":\"POST\",\"url\":\"http://localhost:${url##*:}/v1/echo\",\"body\":\"&\"}|" > requests.jsonl
does 0 "tenon sign --lines --trace < requests.jsonl > signed.jsonl 2> trace"
does 0 "grep -c ' Sign ' trace"
sends_lines "100 answers: 200"
sends_lines "100 answers: 409"

if [ -n "${RUNTIME:-}" ]; then
    say "The core runtime asks for a key, signatures, a proof and its storage through the native callbacks"
    runtime="python3 '$root/Examples/runtime.py' '$RUNTIME' '$TENON_STATE_DIR' '$TENON_TPM' $url demo"
    does 0 "$runtime"
    does 0 "$runtime"
    does 0 "tenon native status"
    does 0 "tenon native list"
fi

if [ -z "$own" ]; then
    say "Somebody clears the TPM: the key can never sign again, and tenon detects it"
    [ "$(world_command device "$world_clear")" = 00000000 ] || exit 1
    does 8 "tenon sign POST /v1/echo --data @body.json"
    does 8 "tenon status"

    say "The device registers again, with a new key"
    does 0 "tenon register --disclose-ek$chain"
    signed=$(tenon sign POST "$url/v1/echo" --data @body.json --format curl) || exit 1
    sends 200 "$signed"
fi

succeeded
