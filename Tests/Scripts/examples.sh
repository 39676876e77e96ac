#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# examples.sh BUILD TPM-STATE SWIFT-BUILD: runs what lies in Examples as a person does, on a software TPM, and compares.
set -u -o pipefail

[ $# = 3 ] || { echo "usage: $0 BUILD TPM-STATE SWIFT-BUILD" >&2; exit 2; }
build=$(realpath "$1") || exit 1
swift=$(realpath "$3") || exit 1
state=$2
tenon_authority=$swift/tenon-authority
# shellcheck source=/dev/null
. "$(dirname "$0")/world.sh"
world
work=$world
output=$work/output
# shellcheck source=/dev/null
. "$(dirname "$0")/expect.sh"

says() { # says CODE PATTERN COMMAND...: the exit code, and a line of what it prints
    "${@:3}" > "$work/said" 2>&1
    local code=$?
    cat "$work/said"
    [ "$code" = "$1" ] && grep -qE -- "$2" "$work/said" || { echo "exit $code"; return 1; }
}

world_tpm device "$state/state"
tcti=swtpm:path=$work/device.tpm
export TSS2_LOG=all+NONE PYTHONDONTWRITEBYTECODE=1 LIBTENON=$build/libtenon.so.0 LD_LIBRARY_PATH=$build

# A device signs, in Rust; a server verifies, in Python, C++ and Swift.
sign() { # sign FILE BODY
    printf '%s' "$2" | "$build/sign" "$tcti" "$work/device.key" app_1 device_1 POST /v1/hsi > "$work/$1"
}
expect "sign.rs makes a key" sign first '{"a":1}'
expect "and finds it again" sign second '{"a":1}'
expect "its file is its owner's" says 0 '^600$' stat -c %a "$work/device.key"
expect "without a TPM" says 5 '^sign: TENON_' "$build/sign" "swtpm:path=$work/none" "$work/device.key" app_1 device_1 GET /
expect "with a name that may be code" says 1 'TENON_ERROR_TCTI' "$build/sign" cmd:id "$work/device.key" app_1 device_1 GET /
expect "a path that is none" says 1 'TENON_ERROR_PATH' "$build/sign" "$tcti" "$work/device.key" app_1 device_1 GET 'a?b'
key=$(cat "$work/device.key.pub")
sed 's/"a":1/"a":2/' "$work/first" > "$work/body"
sed 's,/v1/hsi,/v1/hsx,' "$work/first" > "$work/path"
sed 's/^\(X-Synheart-Timestamp: 1\).*/\1000000000\r/' "$work/first" > "$work/old"
sed '/^X-Synheart-Nonce/d' "$work/first" > "$work/without"
sed 's/^\(X-Synheart-Nonce: \).*/\1d8f6c9a2-4f1b-4c5e-9a3d-0b7e6f5a4c3d\r/' "$work/first" > "$work/again"
forged='(TENON_ERROR_SIGNATURE_INVALID|The signature was not made by this key .*)'
printf 'GET' > "$work/cut"
: > "$work/empty"
for verify in "$build/verify_request" "$swift/RequestVerifier" "python3 $PWD/Examples/verify_request.py"; do
    # shellcheck disable=SC2086
    judge() { (cd "$work" && $1 "${@:2}"); }
    expect "$verify: good" says 0 '^second: valid$' judge "$verify" "$key" first second
    expect "twice" says 3 '^first: refused: it was made before$' judge "$verify" "$key" first first
    expect "twice, with another nonce" says 3 '^again: refused: it was made before$' judge "$verify" "$key" first again
    expect "another body" says 3 "^body: refused: $forged\$" judge "$verify" "$key" body
    expect "another path" says 3 "^path: refused: $forged\$" judge "$verify" "$key" path
    expect "an old one" says 3 '^old: refused: the timestamp is too far from now$' judge "$verify" "$key" old
    expect "a header less" says 3 '^without: refused: not a signed request$' judge "$verify" "$key" without
    expect "cut" says 3 '^cut: refused: not a signed request$' judge "$verify" "$key" cut
    expect "nothing" says 3 '^empty: refused: not a signed request$' judge "$verify" "$key" empty
    expect "a usage" says 1 '^usage: (verify_request|RequestVerifier)' judge "$verify"
done

# A KERI log that is public.
python3 - "$PWD/Tests/Vectors/auths-kel-p256.json" "$work/kel" << 'END'
import json, os, sys
vector = json.load(open(sys.argv[1]))
os.mkdir(sys.argv[2])
for number, name in enumerate(("icp", "rot")):
    for end, member in ((".json", "body"), (".att", "attachment")):
        open(f"{sys.argv[2]}/{number}{end}", "w").write(vector[name][member])
END
verify_log() { python3 Examples/verify_log.py "$@"; }
expect "verify_log.py" says 0 '^did:keri:EKiCzlm2xHzI6WIBcGlo0zlyQ3cSxtmwpNGES_A0VxAD$' verify_log "$work/kel"
cp "$work/kel/0.att" "$work/kel/1.att"
expect "with the attachment of another event" says 3 '^refused: TENON_KERI_18_SIGNATURE' verify_log "$work/kel"
rm "$work/kel/0.json"
expect "without an event" says 3 '^refused: TENON_ERROR_EMPTY' verify_log "$work/kel"
expect "a usage of it" says 1 '^usage: verify_log' verify_log

# A device registers, in C, with libcurl as its own HTTP.
world_serve --port "$(world_port)" --ek-roots "$state/root.pem" --ek-roots "$state/issuer.pem"
url=$url/auth
grep -v -e ----- "$state/issuer.pem" | base64 -d > "$work/issuer.der"
register() { "$build/register" "$tcti" "$url" "$1" "$work/agent.key" "$work/issuer.der"; }
expect "register.c" says 0 '^[0-9a-f-]{36}$' register demo
first=$(cat "$work/output")
expect "again with the same key, the same device" says 0 "^$first\$" register demo
expect "an app that is not there" says 10 '^register: the challenge: 4' register other
expect "DeviceAgent" says 0 '^sent: 200$' "$swift/DeviceAgent" "$tcti" "$url" demo "$work/agent" 1
expect "which is registered then" says 0 '^alreadyRegistered: [0-9a-f-]{36}$' "$swift/DeviceAgent" "$tcti" "$url" demo "$work/agent" 1

# It sends from a shell, too.
send() { # send STATE-FOLDER WORD...
    PATH=$swift:$PATH TENON_TPM=$tcti TENON_STATE_DIR=$work/$1 Examples/send.sh "${@:2}"
}
expect "send.sh" says 0 '"attestation":"attested"' send agent POST "${url%/auth}/v1/echo" "$work/second"
expect "without a body" says 0 '"method":"GET"' send agent GET "${url%/auth}/v1/echo"
expect "to where nothing is" says 22 '404' send agent POST "${url%/auth}/v1/none" "$work/second"
expect "of a device that is not registered" says 10 '^tenon: There is no identity' send nothing GET "${url%/auth}/v1/echo"
expect "with a body that is not there" says 1 'cannot be read' send agent POST "${url%/auth}/v1/echo" "$work/none"
expect "a usage" says 1 '^usage: Examples/send.sh' send agent GET
url=http://127.0.0.1:1
expect "no service" says 11 '^register: the challenge: 0' register demo
expect "its key is in the file, and is one for other tools" says 0 'BEGIN TSS2 PRIVATE KEY' cat "$work/agent.key"
expect "nothing is left in the TPM" test -z "$(world_left device)"

verdict
