#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# interop.sh BUILD_DIR TPM_STATE: what BUILD_DIR/interop does with TPM keys, against tpm2-openssl and tpm2-tools on one
# software TPM, which begins with what swtpm_state.sh made: keys, signatures and credentials of each side, used by the
# other.
set -u

[ $# = 2 ] || { echo "usage: $0 BUILD_DIR TPM_STATE" >&2; exit 2; }
interop=$(cd "$1" && pwd)/interop || exit 1
tpm=$(cd "$2" && pwd) || exit 1
root=$(cd "$(dirname "$0")/../.." && pwd)
deps=$root/.build/deps
"$root/Tests/Scripts/unpack.sh" openssl tpm2-openssl tpm2-tools || exit 1
. "$root/Tests/Scripts/world.sh"
world
output=$world/output
. "$root/Tests/Scripts/expect.sh"
world_tpm device "$tpm/state"
mkdir "$world/here" && cd "$world/here" || exit 1

tcti=swtpm:path=$world/device.tpm
export TPM2TOOLS_TCTI="$tcti" TPM2OPENSSL_TCTI="$tcti" OPENSSL_CONF=/dev/null
PATH=$deps/tpm2-tools/usr/bin:$deps/openssl/usr/bin:$PATH
OPENSSL_MODULES=$(echo "$deps"/tpm2-openssl/usr/lib/*/ossl-modules)
export PATH OPENSSL_MODULES
libraries=$(printf ':%s' "$deps"/tpm2-*/usr/lib/*-linux-gnu "$deps"/openssl/usr/lib/*-linux-gnu)
libraries=${libraries#:}

theirs() { LD_LIBRARY_PATH=$libraries "$@"; } # theirs COMMAND...: a tool of the others

peer() { # peer COMMAND...: a tool of the others, and what it leaves in the TPM is taken away
    theirs "$@"
    local code=$?
    theirs tpm2_flushcontext -t -l && return "$code"
}

ssl() { # ssl COMMAND ARGUMENT...: with the keys of the TPM
    peer openssl "$1" -provider tpm2 -provider default "${@:2}"
}

ours() { # ours CODE OUTPUT MODE ARGUMENT...: how our program ends, and that it leaves nothing
    local found left words=("${@:4}")
    [ "$3" = verify ] || [ "$3" = make ] || words=("$tcti" "${words[@]}")
    found=$(timeout 30 "$interop" "$3" "${words[@]}" 2> errors)
    found=$?:$found
    cat errors
    [ "$found" = "$1:$2" ] || { echo "$found"; return 1; }
    # Persistent copies are there to stay.
    [ ! -s errors ] && left=$(world_left device) && [ -z "$(grep -v ^81 <<< "$left")" ]
}

printf 'a message' > message
printf 'A message' > other
printf 'secret' > auth
: > no-auth

public_pem() { # public_pem NAME: NAME.public of NAME.spki
    [ -e "$1.public" ] || peer openssl pkey -pubin -inform DER -in "$1.spki" -out "$1.public"
}

tpm_verifies() { # tpm_verifies NAME SIGNATURE
    theirs tpm2_loadexternal -C n -G ecc -u "$1.public" -c external &&
        peer tpm2_verifysignature -c external -g sha256 -f ecdsa -m message -s "$2"
}

good() { # good WHAT NAME SIGNATURE: a signature of NAME.spki's key over the message, as three see it
    expect "$1: Tenon verifies it" ours 0 "" verify "$2.spki" message "$3"
    expect "$1: Tenon sees another message" ours 3 TENON_ERROR_SIGNATURE_INVALID verify "$2.spki" other "$3"
    expect "$1: the public key can be read" public_pem "$2"
    expect "$1: openssl dgst verifies it" peer openssl dgst -sha256 -verify "$2.public" -signature "$3" message
    expect "$1: tpm2_verifysignature verifies it" tpm_verifies "$2" "$3"
}

openssl_uses() { # openssl_uses WHAT NAME KEY [AUTH]: KEY is a file, or handle:
    local auth=()
    [ $# = 3 ] || auth=(-passin "pass:$(cat "$4")")
    rm -f theirs.spki theirs.der
    expect "openssl pkey reads $1" ssl pkey -in "$3" "${auth[@]}" -pubout -outform DER -out theirs.spki
    expect "openssl pkey has the public half of $1" cmp "$2.spki" theirs.spki
    expect "openssl pkeyutl signs with $1" \
        ssl pkeyutl -sign -rawin -digest sha256 -inkey "$3" "${auth[@]}" -in message -out theirs.der
    good "openssl's signature with $1" "$2" theirs.der
}

our_key() { # our_key WHAT NAME [AUTH]: makes a key, that both sides use
    expect "Tenon makes $1" ours 0 "" create "$2.pem" "$2.spki" "${@:3}"
    both_use "$@"
}

we_use() { # we_use WHAT NAME [AUTH]
    rm -f ours.spki ours.der
    expect "Tenon signs with $1" ours 0 own load "$2.pem" ours.spki message ours.der "${@:3}"
    expect "Tenon has the public half of $1" cmp "$2.spki" ours.spki
    good "our signature with $1" "$2" ours.der
}

both_use() { # both_use WHAT NAME [AUTH]
    we_use "$@"
    openssl_uses "$1" "$2" "$2.pem" "${@:3}"
}

their_key() { # their_key WHAT NAME [AUTH]: NAME.pem, that another tool made
    rm -f ours.der
    expect "Tenon imports and signs with $1" ours 0 foreign import "$2.pem" "$2.spki" message ours.der "${@:3}"
    good "our signature with $1" "$2" ours.der
    openssl_uses "$1" "$2" "$2.pem" "${@:3}"
}

their_p256() { # their_p256 WHAT NAME PKEYOPT...: a key that openssl makes, and both sides use
    local option options=() auth=()
    for option in "${@:3}"; do
        options+=(-pkeyopt "$option")
        [ "$option" != user-auth:secret ] || auth=(auth)
    done
    expect "openssl genpkey makes $1" \
        ssl genpkey -algorithm EC -pkeyopt group:P-256 "${options[@]}" -out "$2.pem"
    their_key "$1, by openssl" "$2" "${auth[@]}"
}

not_imported() { # not_imported CODE STATUS WHAT NAME
    expect "Tenon refuses $3 with $2" ours "$1" "$2" import "$4.pem" refused.spki message refused.der
    expect "nothing is signed with $3" test ! -e refused.der
}

storage="fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|decrypt"
signing="fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|sign"
srk=0x81000001

make_srk() { # make_srk ALGORITHM ARGUMENT...: the parent at 0x81000001, and its Name
    theirs tpm2_createprimary -C o -g sha256 -G "$@" -a "$storage" -c srk &&
        peer tpm2_evictcontrol -C o -c srk "$srk" &&
        peer tpm2_readpublic -c "$srk" -n srk.name
}

parent_is() { # parent_is NAME HANDLE: in the five fields, and by its Name, in srk.name
    openssl asn1parse -in "$1.pem" > fields && cat fields && grep -q "INTEGER *:$2\$" fields &&
        grep -qx "tenon-parent: $(od -An -v -tx1 srk.name | tr -d ' \n')" "$1.pem"
}

tool_key() { # tool_key NAME ALGORITHM ATTRIBUTES [ARGUMENT...]: by tpm2_create, as a PEM file
    peer tpm2_create -C "$srk" -G "$2" -a "$3" -u area -r private "${@:4}" &&
        peer tpm2_encodeobject -C "$srk" -u area -r private -o "$1.pem"
}

attributes_are() { # attributes_are HANDLE VALUE RAW: and no policy
    peer tpm2_readpublic -c "$1" > area.yaml && cat area.yaml &&
        [ "$(sed -n '/^attributes:/{n;s/^ *//p;n;s/^ *//p;}' area.yaml)" = "value: $2
raw: $3" ] && ! grep -i policy area.yaml
}

persistent_copy() { # persistent_copy WHAT NAME
    expect "Tenon persists $1" ours 0 81080000 persist "$2.pem"
    expect "the file of $1 names the handle" grep -qx 'tenon-handle: 81080000' "$2.pem"
    expect "tpm2_readpublic shows the attributes of $1" attributes_are 0x81080000 "$signing" 0x40472
    both_use "$1 with its handle in the file" "$2"
    openssl_uses "the persistent copy of $1" "$2" handle:0x81080000
    expect "Tenon takes the copy of $1 away" ours 0 "" evict "$2.pem"
    expect "no copy of $1 is left" refuse peer tpm2_readpublic -c 0x81080000
    both_use "$1 with a stale handle in the file" "$2"
}

# A TPM without a storage key: the parent is the transient H-2 primary, for both sides.
our_key "a key" plain
our_key "a key with an auth value" secret auth
persistent_copy "the key" plain
their_p256 "a key" theirs
expect "Tenon loads no key of openssl as its own" \
    ours 3 TENON_ERROR_KEY_ATTRIBUTES load theirs.pem refused.spki message refused.der
their_p256 "a key with an auth value" theirs-secret user-auth:secret
not_imported 7 TENON_TPM_AUTH "a key of openssl without its auth value" theirs-secret
expect "openssl genpkey makes a P-384 key" ssl genpkey -algorithm EC -pkeyopt group:P-384 -out p384.pem
not_imported 2 TENON_ERROR_KEY_PUBLIC "a P-384 key" p384
expect "openssl genpkey makes an RSA key" ssl genpkey -algorithm RSA -pkeyopt bits:2048 -out rsa.pem
not_imported 2 TENON_ERROR_KEY_PUBLIC "an RSA key" rsa

under_srk() { # under_srk WHICH PREFIX: with a P-256 storage key at 0x81000001
    our_key "a key under $1" "$2-plain"
    expect "the file of a key under $1 names its parent" parent_is "$2-plain" 81000001
    our_key "a key with an auth value under $1" "$2-secret" auth
    persistent_copy "the key under $1" "$2-plain"
    both_use "the key of before, beside $1" plain
    their_p256 "a key under $1" "$2-theirs" "parent:$srk"
    their_p256 "a key with an auth value under $1" "$2-theirs-secret" "parent:$srk" user-auth:secret
    their_key "the key of openssl of before, beside $1" theirs
}

expect "an SRK of template H-2 is made" make_srk ecc256:aes128cfb
under_srk "the SRK of template H-2" h2

# tpm2_encodeobject says of every key that it has an auth value.
expect "tpm2_create makes a key" tool_key tool ecc256 "$signing"
their_key "a key of tpm2_create" tool no-auth
expect "tpm2_create makes a key with ECDSA and an auth value" tool_key tool-secret ecc256:ecdsa-sha256 "$signing" -p secret
their_key "a key of tpm2_create with ECDSA and an auth value" tool-secret auth
expect "tpm2_create makes a restricted key" tool_key restricted ecc256:ecdsa-sha256:null "$signing|restricted"
not_imported 3 TENON_ERROR_KEY_ATTRIBUTES "a restricted key" restricted
expect "tpm2_create makes a key for decryption" tool_key decrypt ecc256 "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|decrypt"
not_imported 3 TENON_ERROR_KEY_ATTRIBUTES "a key for decryption" decrypt
expect "tpm2_create makes a key with ECDSA and SHA-384" tool_key sha384 ecc256:ecdsa-sha384 "$signing"
not_imported 3 TENON_ERROR_KEY_ATTRIBUTES "a key with ECDSA and SHA-384" sha384

# The other template has unique: two sizes in the order of this machine's bytes, each before 32 zeros.
expect "the SRK is taken away" peer tpm2_evictcontrol -C o -c "$srk"
for coordinate in x y; do
    printf '\040\000'
    head -c 32 /dev/zero
done > unique
cp srk.name h2.name
expect "an SRK of the provisioning template is made" make_srk ecc256:aes128cfb -u unique
expect "which is another" refuse cmp srk.name h2.name
under_srk "the SRK of the provisioning template" provisioned
we_use "a key under the SRK that was taken away, which openssl does not find" h2-plain

# Tenon makes nothing under another kind of parent, and uses what is there.
expect "the other SRK is taken away" peer tpm2_evictcontrol -C o -c "$srk"
expect "an RSA SRK is made" make_srk rsa2048:aes128cfb
cp h2.name srk.name
our_key "a key beside an RSA SRK" beside-rsa
expect "its parent is the transient primary" parent_is beside-rsa 40000001
their_p256 "a key under an RSA SRK" rsa-theirs "parent:$srk"
their_p256 "a key with an auth value under an RSA SRK" rsa-theirs-secret "parent:$srk" user-auth:secret

# Credentials: an AK of Tenon under the SRK, and an EK of each kind.
hex() { od -An -v -tx1 "$1" | tr -d ' \n'; }

tool_load() { # tool_load NAME: NAME.context of a key in Tenon's file, by its two areas
    openssl asn1parse -in "$1.pem" -out der |
        sed -n 's/^ *\([0-9]*\):d=1 *hl= *\([0-9]*\) *l= *\([0-9]*\) .*OCTET STRING.*/\1 \2 \3/p' > octets
    for area in public private; do
        read -r offset head size || return 1
        tail -c +$((offset + head + 1)) der | head -c "$size" > "$area"
    done < octets
    theirs tpm2_load -C "$srk" -u public -r private -c "$1.context" -n loaded.name
}

# Of the EK profile, with SHA-384, for PolicyOR.
policy_digests() {
    echo i78iZlN8Fxy1bkA8TcHUtk9DJhHcOG5vUyBQwyeMkw4UPouxEzgkzLQxBThxxttT | peer openssl base64 -d -A > policy-a &&
        echo 1gMs5h8vs8JA6zz2ozI37ytqFvQpPCK0VeJhz/0hetW0lHwtc+YwBe7S3Cs1k9Fl | peer openssl base64 -d -A > policy-c
}

policy_session() { # policy_session HASH [POLICY_OR]: PolicySecret of the endorsement hierarchy, for one use
    theirs tpm2_startauthsession --policy-session -g "$1" -S session &&
        theirs tpm2_policysecret -S session -c e || return 1
    [ $# = 1 ] || theirs tpm2_policyor -S session -l "$1:policy-a,policy-c"
}

tool_opens() { # tool_opens EK CREDENTIAL SECRET HASH [POLICY_OR]: by tpm2_activatecredential
    tool_load ak && policy_session "${@:4}" || return 1
    theirs tpm2_activatecredential -c ak.context -C "$1" -P session:session -i "$2" -o "$3"
    local opened=$?
    theirs tpm2_flushcontext session
    peer true && return "$opened"
}

credentials() { # credentials WHAT EK CERTIFICATE HASH [POLICY_OR]
    rm -f theirs.credential ours.credential opened
    expect "the public area of $1 is read" peer tpm2_readpublic -c "$2" -o ek.area
    expect "tpm2_makecredential makes one for $1" \
        peer tpm2_makecredential -u ek.area -s secret.32 -n "$(hex ak.name)" -o theirs.credential
    expect "Tenon opens it" ours 0 "" open ak.pem "$3" theirs.credential opened
    expect "Tenon has its secret, made for $1" cmp secret.32 opened
    rm -f opened
    expect "Tenon makes one for $1" ours 0 "" make "$3" ak.name secret.32 ours.credential
    expect "tpm2_activatecredential opens it" tool_opens "$2" ours.credential opened "${@:4}"
    expect "tpm2_activatecredential has its secret, made for $1" cmp secret.32 opened
    rm -f opened
    expect "Tenon makes one for another AK" ours 0 "" make "$3" other.name secret.32 ours.credential
    expect "tpm2_activatecredential refuses it" refuse tool_opens "$2" ours.credential opened "${@:4}"
    expect "and Tenon does" ours 3 TENON_TPM_REJECTED open ak.pem "$3" ours.credential opened
    expect "nobody has its secret" test ! -e opened
}

own_certificate() { # own_certificate PUBLIC CERTIFICATE: by a CA of this script
    printf 'keyUsage=critical,keyAgreement\nextendedKeyUsage=2.23.133.8.1\nbasicConstraints=critical,CA:false\n' > extensions
    peer openssl ecparam -name prime256v1 -genkey -noout -out ca.key &&
        peer openssl req -x509 -new -key ca.key -subj /CN=interop -days 2 -config "$world/here/req.conf" -out ca.pem &&
        peer openssl req -new -key ca.key -subj /CN=ek -config "$world/here/req.conf" -out ek.request &&
        peer openssl x509 -req -in ek.request -force_pubkey "$1" -CA ca.pem -CAkey ca.key -set_serial 7 -days 2 \
            -extfile extensions -outform DER -out "$2"
}

p256_ek() { # a P-256 EK of template L-2 at a persistent handle, and its public key
    theirs tpm2_createek -G ecc -c ek.context -u ek.area &&
        peer tpm2_evictcontrol -C o -c ek.context 0x81010002 &&
        peer tpm2_readpublic -c 0x81010002 -f pem -o ek.pem
}

head -c 32 /dev/urandom > secret.32
head -c 32 /dev/urandom > nonce
printf '[req]\ndistinguished_name=dn\n[dn]\n' > req.conf
expect "the SRK for the AK is made" peer tpm2_evictcontrol -C o -c "$srk"
expect "of template H-2" make_srk ecc256:aes128cfb
expect "Tenon makes a key for attestation" ours 0 "" create attested.pem attested.spki
expect "Tenon makes an AK" ours 0 "" ak attested.pem ak.pem ak.name
expect "Tenon makes another" ours 0 "" ak attested.pem other.pem other.name
expect "the digests of the policies are written" policy_digests
credentials "the RSA-2048 EK, L-1" 0x81010001 "$tpm/ek-rsa2048.crt" sha256
credentials "the P-384 EK, H-3" 0x81010016 "$tpm/ek-secp384r1.crt" sha384 or
expect "tpm2_createek makes a P-256 EK" p256_ek
expect "openssl certifies it" own_certificate ek.pem ek.der
credentials "the P-256 EK, L-2" 0x81010002 ek.der sha256

# What the TPM says of a key: magic, type and signer, then what was asked; at the end the Name and the qualified Name.
# tpm2_certify asks for something else.
tool_certifies() {
    tool_load ak && cmp loaded.name ak.name && peer true && tool_load attested && peer true &&
        peer tpm2_certify -C ak.context -c attested.context -g sha256 -o theirs.statement -s theirs.signature
}

same_parts() {
    cmp -n $((6 + 36)) statement theirs.statement && refuse cmp -s statement theirs.statement || return 1
    for name_part in statement theirs.statement; do
        tail -c 72 "$name_part" > "$name_part.end"
    done
    cmp statement.end theirs.statement.end &&
        [ "$(hex statement | cut -c 1-12)" = ff5443478017 ] && hex statement | grep -q "0020$(hex nonce)" &&
        hex statement.end | grep -q "^0022$(hex loaded.name)0022"
}

expect "Tenon attests the key" ours 0 "" attest attested.pem ak.pem nonce statement
expect "tpm2_certify does" tool_certifies
expect "the TPM says the same of the key and the AK" same_parts

verdict
