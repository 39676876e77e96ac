#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo-it-wallet.sh BINARIES TPM_STATE: shows the life of an IT-Wallet instance, step by step: `make demo
# KIND=it-wallet`. It starts a software TPM and a provider on loopback, and stops them at the end.
set -u

[ $# -ge 2 ] || { echo "usage: $0 BINARIES TPM_STATE" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
binaries=$(cd "$1" && pwd) || exit 1
state=$(cd "$2" && pwd) || exit 1
# shellcheck disable=SC2034
tenon_authority=$binaries/tenon-authority
PATH=$binaries:$PATH
# shellcheck source=/dev/null
. "$root/Tests/Scripts/world.sh"
unset TENON_SERVICE TENON_APP TENON_CA_FILE TENON_ATTESTATION_CA TENON_ATTESTATION_ROOTS
steps=0

say() { printf '\n%s\n' "$*"; }

# does CODE COMMAND: runs a command line, shows its output, and ends the demo if the exit code is another.
does() {
    printf '  $ %s\n' "$2"
    sh -c "$2" > "$world/output" 2>&1
    code=$?
    cut -c1-160 "$world/output" | sed 's/^/    /'
    [ "$code" = "$1" ] || { printf 'The command should have ended with %s, but ended with %s.\n' "$1" "$code"; exit 1; }
    steps=$((steps + 1))
}

world
cd "$world" || exit 1
export TENON_STATE_DIR="$world/state"

say "Start a software TPM, and a provider that trusts its maker, in $world"
world_tpm device "$state/state"
export TENON_TPM="swtpm:path=$world/device.tpm"
port=$(world_port)
printf '{"origins": ["http://127.0.0.1:%s"], "public": {"address": "127.0.0.1", "port": %s},\n "apps": [%s]}\n' \
    "$port" "$port" "{\"id\": \"demo\", \"service\": \"it-wallet\", \"ek_roots\": [{\"path\": \"$state/root.pem\"}]}" \
    > provider.json
tenon-authority ca init --state-dir authority > /dev/null || exit 1
world_serve --config "$world/provider.json"
tenon-authority ca show --state-dir authority > ca.pem
export TENON_ATTESTATION_CA="$url/ca/demo" TENON_ATTESTATION_ROOTS="$world/ca.pem"
register="tenon register --kind it-wallet --dialect 1.4 --service $url/it-wallet/demo --app turnstile --disclose-ek"
register="$register --ek-chain $state/issuer.pem"

say "Initialize: the TPM makes the key and attests it over the provider's nonce"
does 0 "$register"
does 0 "tenon status"

say "Use the hardware key: it vouches for a fresh key, for which the provider issues an attestation"
does 0 "tenon it-wallet attest --call instance"
does 0 "tenon it-wallet attest --call key"
does 0 "tenon it-wallet status"

say "The provider revokes the instance; the device asks twice, and ends all use"
tag=$(tenon status --json | sed -n 's/.*"device_id":"\([^"]*\)".*/\1/p')
does 0 "tenon-authority revoke --state-dir authority --app demo $tag"
does 10 "tenon it-wallet status"
does 10 "tenon it-wallet attest --call instance"

say "Reset: every copy of the key is removed"
does 0 "tenon reset --yes"
does 1 "grep -rl 'TSS2 PRIVATE KEY' state"

say "Initialize another instance"
does 0 "$register"
does 0 "tenon it-wallet attest --call unit"

say "Somebody clears the TPM: the key can never sign again, and tenon detects it"
[ "$(world_command device "$world_clear")" = 00000000 ] || exit 1
does 8 "tenon it-wallet attest --call instance"

say "The device becomes another instance, with another key and tag"
does 0 "$register"
does 0 "tenon it-wallet attest --call instance"

say "All $steps steps succeeded. All processes have ended, and the folder is removed."
