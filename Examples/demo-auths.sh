#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo-auths.sh BINARIES TPM_STATE: shows the life of a KERI identifier, step by step: `make demo KIND=auths`. It starts
# a software TPM and an authority on loopback, and stops them at the end.
set -u

# shellcheck source=/dev/null
. "$(dirname "$0")/steps.sh"

# presents STATUS HEADER: asks for the resource that only identifiers may use.
presents() {
    printf '  $ curl -X POST -H "$header" %s/auths/demo/api\n' "$url"
    answers "$1" "$(curl -s -o "$world/answer" -w '%{http_code}' -X POST -d '' -H "$2" "$url/auths/demo/api")"
}

say "Start a software TPM, and an authority with an app for KERI identifiers, in $world"
world_tpm device "$state/state"
export TENON_TPM="swtpm:path=$world/device.tpm"
port=$(world_port)
printf '{"origins": ["http://127.0.0.1:%s"], "public": {"address": "127.0.0.1", "port": %s}, "apps": [%s]}\n' \
    "$port" "$port" '{"id": "demo", "service": "auths", "require_attestation": false}' > "$world/auths.json"
world_serve --config "$world/auths.json"

say "Make the identifier: two keys in the TPM, and an inception that names one and commits to the other"
does 0 "tenon register --kind auths --service $url/auths/demo --app demo"
does 0 "tenon auths log --out kel"
does 0 "tenon auths verify kel"

say "Sign data; what could be taken for a message of the device is refused"
does 0 "printf hello | tenon auths sign"
does 1 "printf '{\"v\":\"KERI\"}' | tenon auths sign"

say "Log in with a presentation; the authority takes it once"
header=$(tenon auths present) || exit 1
presents 200 "$header"
presents 401 "$header"

say "Change the key: the committed key signs, and commits to the next one"
does 0 "tenon rotate"
does 0 "tenon auths log --out kel"
does 0 "tenon auths verify kel"

say "Somebody changes an event of the log: it proves nothing any more"
cp -r kel forged
sed -i 's/"s":"1"/"s":"2"/' forged/1.json
does 3 "tenon auths verify forged"

say "A backup of the state is restored: the service holds later events, and nothing is signed"
cp -r state backup
does 0 "tenon rotate"
mv state newer
cp -r backup state
does 8 "tenon rotate"
rm -r state
mv newer state
does 0 "tenon rotate"

say "Somebody clears the TPM: both keys are gone, and the old identifier stays readable"
[ "$(world_command device "$world_clear")" = 00000000 ] || exit 1
does 8 "printf hello | tenon auths sign"
does 0 "tenon auths log"
does 0 "tenon register"
does 0 "tenon auths log"

succeeded
