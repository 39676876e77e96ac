#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# swtpm_state.sh DIR: makes DIR once, with the state of a software TPM that has EK certificates of a CA of its own.
#
#   DIR/state/      what support_swtpm_start copies: EK certificates at 01C00002 (RSA-2048) and 01C00016 (P-384)
#   DIR/root.pem    the CA's root, DIR/issuer.pem what it signed and what signed the EK certificates (key: DIR/issuer.key)
#   DIR/ek-*.crt    the EK certificates, DER
#
# All copies share one EK: for two devices make two folders.
set -eu

[ $# = 1 ] || { echo "usage: swtpm_state.sh DIR" >&2; exit 2; }
dir=${1%/}
[ ! -e "$dir/state/tpm2-00.permall" ] || exit 0

mkdir -p "$(dirname "$dir")"
work=$(mktemp -d "${TMPDIR:-/tmp}/swtpm-state.XXXXXX")
new=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$work" "$new"' EXIT
trap 'exit 1' HUP INT TERM

# Without --runas a swtpm_setup of root gives its rights up for a user who may not see $work.
runas=
[ "$(id -u)" != 0 ] || runas="--runas root"
mkdir "$work/ca" "$work/state" "$work/certificates"
cat > "$work/ca.conf" << EOF
statedir=$work/ca
signingkey=$work/ca/signkey.pem
issuercert=$work/ca/issuercert.pem
certserial=$work/ca/certserial
EOF
printf -- '--platform-manufacturer Tenon\n--platform-version 1.0\n--platform-model Test\n' > "$work/ca.options"
cat > "$work/setup.conf" << EOF
create_certs_tool=$(command -v swtpm_localca)
create_certs_tool_config=$work/ca.conf
create_certs_tool_options=$work/ca.options
active_pcr_banks=sha256
EOF
# shellcheck disable=SC2086
if ! TMPDIR=$work swtpm_setup --tpm2 $runas --tpmstate "$work/state" --config "$work/setup.conf" --create-ek-cert --create-platform-cert \
    --ecc --lock-nvram --not-overwrite --write-ek-cert-files "$work/certificates" > "$work/log" 2>&1; then
    cat "$work/log" >&2
    exit 1
fi

mkdir "$new/state"
cp "$work/state/tpm2-00.permall" "$new/state"
cp "$work/certificates"/ek-*.crt "$new"
cp "$work/ca/swtpm-localca-rootca-cert.pem" "$new/root.pem"
cp "$work/ca/issuercert.pem" "$new/issuer.pem"
cp "$work/ca/signkey.pem" "$new/issuer.key"
chmod -R u=rwX,go= "$new"
# Of two that run at once the first wins: a folder is not renamed over one with files in it.
mv -T "$new" "$dir" 2> "$work/log" || [ -e "$dir/state/tpm2-00.permall" ] || { cat "$work/log" >&2; exit 1; }
