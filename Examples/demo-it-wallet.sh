#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo-it-wallet.sh BINARIES TPM_STATE: shows the life of an IT-Wallet instance, step by step: `make demo
# KIND=it-wallet`. It starts a software TPM and a provider on loopback, and stops them at the end.
set -u

# shellcheck source=/dev/null
. "$(dirname "$0")/steps.sh"

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

succeeded
