#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# documents.sh TPM-STATE SWIFT-BUILD: what README.md and the other documents show is done as it stands there: each
# command line is run, against a software TPM and an authority on loopback, and has to end well; each piece of code is
# compiled, and run where it is whole; and the demo prints what the README says. A block that is none of these is an
# error, so whatever is added here has to be, too.
set -u -o pipefail

[ $# = 2 ] || { echo "usage: $0 TPM-STATE SWIFT-BUILD" >&2; exit 2; }
scripts=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$scripts/../.." && pwd)
state=$(cd "$1" && pwd) || exit 1
swift=$(cd "$2" && pwd) || exit 1
# shellcheck disable=SC2034
tenon_authority=$swift/tenon-authority
# shellcheck source=/dev/null
. "$scripts/world.sh"
world
here=$world/here
mkdir "$here" "$world/blocks" "$world/roots"
unset TENON_SERVICE TENON_APP TENON_CA_FILE TENON_ATTESTATION_CA TENON_ATTESTATION_ROOTS
export TENON_TPM=swtpm:path=$world/device.tpm TENON_STATE_DIR=$world/state STATE_DIRECTORY=$world/authority \
    PATH=$swift:$PATH PKG_CONFIG_PATH=$world/prefix/lib/pkgconfig LIBRARY_PATH=$world/prefix/lib \
    LD_LIBRARY_PATH=$world/prefix/lib PYTHONPATH=$root/Examples PYTHONDONTWRITEBYTECODE=1 TSS2_LOG=all+NONE
output=$world/output
# shellcheck source=/dev/null
. "$scripts/expect.sh"

# --- what stands for the names in the documents

device=
port=$(world_port)
export NONCE EDITOR="$world/editor"
NONCE=$(printf %064d 7)
printf '{"a":1}' > "$here/body.json"
cat "$state/root.pem" "$state/issuer.pem" | tee "$here/maker.pem" > "$world/roots/maker.pem"
openssl x509 -in "$state/root.pem" -outform DER -out "$here/maker.crt" || exit 1
cp "$root"/Examples/*.* "$here"
ln -s "$root/Examples" "$here/Examples"
mkdir "$here/.build"
ln -s "$swift" "$here/.build/release"
cat > "$here/agent.c" << 'EOF'
#include <tenon/tenon.h>
#include <tenon/tpm/tpm.h>
int main(void)
{
    tenon_tpm *tpm = NULL;
    tenon_digest digest;
    return tenon_sha256(&digest, NULL, 0) != TENON_OK || tenon_tpm_open(&tpm, "none:", 5, NULL) != TENON_ERROR_TCTI;
}
EOF
cat > "$world/editor" << EOF
#!/bin/sh
cat > "\$1" << 'END'
{"origins": ["http://127.0.0.1:$port"], "public": {"address": "127.0.0.1", "port": $port},
 "apps": [{"id": "demo", "ek_roots": [{"path": "$here/maker.pem"}]}, {"id": "app_1", "ek_roots": [{"path": "$here/maker.pem"}]}]}
END
EOF
chmod 755 "$world/editor"

stands_for() { # stands_for LINE: the line without its comment, and with what there is here
    sed -E -e 's/ +# .*//' -e "s|https://api\.example\.org|http://127.0.0.1:$port|g" -e "s|/usr/local|$world/prefix|g" \
        -e "s|/etc/tenon/ek-roots|$world/roots|g" -e "s|/var/lib/tenon-authority|$world/authority|g" \
        -e "s|/var/lib/agent|$world/agent|g" -e "s|device:/dev/tpmrm0|$TENON_TPM|g" -e "s|\bDEVICE\b|$device|g" \
        -e "s|\bEK_ID\b|${ek_id:-}|g" -e "s|\bCOPY\b|$world/copy|g" -e "s|\bLINE:MAC\b|${head:-}|g" \
        -e "s|\bKEY\b|${key:-}|g" -e "s|\bREQUEST\.\.\.|request|g" <<< "$1"
}

# --- command lines

in_here() { (cd "$here" && timeout 100 sh -c "$1"); }

# Until it says that it serves, in a folder and at a port of its own.
serves() { # serves COMMAND
    rm -rf "$world/first"
    mkdir "$world/first"
    world_listen first sh -c "cd '$here' && STATE_DIRECTORY=$world/first exec $1 --port $(world_port)"
    kill "$listener" && wait "$listener" && [ "${where#http://127.0.0.1:}" != "$where" ]
}

# What the unit starts, and a device of the app demo for what an operator does afterwards.
starts_unit() {
    grep -qx 'ExecStart=/usr/bin/tenon-authority serve' "$root/packaging/systemd/tenon-authority.service" || return 1
    world_serve
    TENON_STATE_DIR=$world/demo tenon register --service "$url/auth" --app demo --dialect tenon --disclose-ek
}

# A copy, and the head that went to the journal when the authority ended.
copies_log() {
    world_stop
    cp -r "$world/authority" "$world/copy"
    head=$(sed -n 's/.*audit head [^ ]* \([^ ]*\) .*/\1/p' "$world/authority.log" | tail -n 1)
    world_again
}

# accepts_log LINE: with a log whose last line somebody cut off it does not start, until it is told to go on.
accepts_log() {
    world_stop
    sed -i '$d' "$world/authority/audit.log"
    timeout 20 tenon-authority serve
    [ $? = 3 ] || return 1
    # shellcheck disable=SC2086
    world_serve ${1#tenon-authority serve}
}

resets_clock() { # resets_clock LINE: of an authority that is stopped
    world_stop
    in_here "$1" && world_again
}

in_control() { # in_control LINE: the package that it installs is one of those that `make deb` makes
    local package=${1##*/}
    grep -qx "Package: ${package%%_*}" "$root/packaging/debian/control"
}

device_of() { TENON_STATE_DIR=$1 tenon status --json | sed -E 's/.*"device_id":"([^"]*)".*/\1/'; }

command_line() { # command_line DOCUMENT LINE
    local line=$2
    case $line in *audit\ verify*) copies_log ;; *revoke*--app\ demo* | *devices\ approve*) device=$(device_of "$world/demo") ;; esac
    line=$(stands_for "$line")
    case $line in
        # Their parts are what CI runs.
        make\ demo* | make\ test*) expect "$1: $line" grep -q "^$(cut -d ' ' -f 2 <<< "$line"):" "$root/Makefile" ;;
        # What takes long is what a release must pass; here the targets are those of make.
        make\ lib\ commands* | make\ install\ *) expect "$1: $line" make -C "$root" -n ${line#make } ;;
        apt-get\ install\ ./.build/packages/*) expect "$1: $line" in_control "$line" ;;
        make\ *) expect "$1: $line" sh -c "cd '$root' && $line" ;;
        tenon-authority*--ek-roots*) expect "$1: $line" serves "$line" ;;
        swtpm\ socket*--daemon*) expect "$1: $line" in_here "$line --pid file=$world/first.pid" && world_processes="$world_processes $(cat "$world/first.pid")" ;;
        tenon-authority\ serve\ --accept-audit-log) expect "$1: $line" accepts_log "$line" ;;
        tenon-authority\ clock\ reset) expect "$1: $line" resets_clock "$line" ;;
        systemctl\ enable\ --now\ tenon-authority) expect "$1: $line" starts_unit ;;
        swift\ run\ DeviceAgent*) expect "$1: $line" in_here "${line#swift run } 1" ;;
        swift\ run\ *) expect "$1: $line" in_here "${line#swift run }" ;;
        *) expect "$1: $line" in_here "$line" ;;
    esac
    case $line in
        rustc*) "$here/sign" "$TENON_TPM" "$world/key" app_1 device_1 POST /v1/hsi < "$here/body.json" > "$here/request" && key=$(cat "$world/key.pub") ;;
        tenon\ register*) device=$(device_of "$TENON_STATE_DIR") ;;
        tenon\ attest*) AK=$(sed -E 's/.*"ak":"([^"]*)".*/\1/' "$here/proof.json") && export AK ;;
    esac
}

# --- code

# RFC 6979, A.2.5: the key, and its signature over "sample".
spki=3059301306072a8648ce3d020106082a8648ce3d0301070342000460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6
spki=${spki}7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299
der=3046022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8
bytes() { sed 's/../0x&, /g' <<< "$1"; }

c_function() { # c_function BLOCK: is run with what is good and what is not
    cat "$1" - > "$here/snippet.c" << EOF
int main(void)
{
    static const uint8_t spki[] = { $(bytes $spki) }, der[] = { $(bytes $der) };
    return verify(spki, sizeof spki, der, sizeof der, (const uint8_t *)"sample", 6) != 0 ||
           verify(spki, sizeof spki, der, sizeof der, (const uint8_t *)"Sample", 6) != 1;
}
EOF
    # shellcheck disable=SC2046
    cc -Wall -Wextra -Werror "$here/snippet.c" $(pkg-config --cflags --libs tenon) -o "$here/snippet" && "$here/snippet"
}

c_statements() { # c_statements BLOCK: is compiled, with what it names
    cat - "$1" > "$here/statements.c" << 'EOF'
#include <tenon/tenon.h>
extern tenon_ek ek;
extern tenon_ek_policy ek_policy;
extern tenon_report report;
extern tenon_digest secret, nonce;
extern tenon_activation activation;
extern tenon_public_key key;
extern tenon_policy policy;
extern tenon_bytes chain[2];
extern char challenge[8];
extern uint8_t ak_area[8], k_act[8], ak_name[8], value[8], proof[8], credential[8], encrypted[8];
extern size_t count, ak_area_n, k_act_n, challenge_n, ak_name_n, value_n, proof_n, credential_n, encrypted_n;
void statements(void);
void statements(void)
{
EOF
    echo '}' >> "$here/statements.c"
    cc -fsyntax-only -Wall -Wextra -Werror -Wno-unused-result -I "$root/include" "$here/statements.c"
}

python() { # python BLOCK: prints nothing of a good signature, and the error of another
    for message in sample Sample; do
        { printf 'spki = bytes.fromhex("%s")\nder = bytes.fromhex("%s")\nmessage = b"%s"\n' "$spki" "$der" "$message" && cat "$1"; } > "$here/snippet.py"
        python3 "$here/snippet.py" || return 1
    done > "$here/snippet.says"
    grep -q '^TENON_ERROR_SIGNATURE_INVALID ' "$here/snippet.says" && [ "$(wc -l < "$here/snippet.says")" = 1 ]
}

swift_code() { # swift_code BLOCK NAMES: is compiled in a function, with the names that it leaves open
    {
        ! grep -q 'SynheartAuth\.' "$1" || echo 'import SynheartAuth'
        grep '^import' "$1"
        echo "$2"
        echo 'func shown() async throws {'
        grep -v '^import' "$1"
        echo '}'
    } > "$here/snippet.swift"
    TMPDIR=$world swiftc -typecheck -module-cache-path "$world/modules" -parse-as-library -swift-version 6 -I "$swift/Modules" -I "$root/include" \
        -I "$root/include/tenon/native" -I "$root/include/tenon/tpm" -I "$root/CSources/ports/curl" -I "$root/CSources/ports/process" "$here/snippet.swift"
}

# Loads the graph: an error where Tenon has no product of a name that the manifest gives.
package() { # package MANIFEST: of a package beside a clone of Tenon
    mkdir -p "$world/packages/agent/Sources/Agent" && ln -sfn "$root" "$world/packages/tenon" &&
        cp "$1" "$world/packages/agent/Package.swift" && touch "$world/packages/agent/Sources/Agent/main.swift" &&
        HOME=$world TMPDIR=$world swift package --disable-sandbox --package-path "$world/packages/agent" show-dependencies
}

demo() { # demo BLOCK: each of its lines is in what the demo prints, in this order; "..." is whatever stands there
    TMPDIR=$world "$root/Examples/demo.sh" "$swift" "$state" > "$world/demo.says" 2>&1 || { cat "$world/demo.says"; return 1; }
    sed 's/^    //' "$1" > "$world/demo.shown"
    python3 - "$world/demo.shown" "$world/demo.says" << 'EOF'
import re
import sys

def masked(path):
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", open(path).read())
    return re.sub(r"127\.0\.0\.1:[0-9]+", "127.0.0.1:PORT", text).splitlines()

printed = iter(masked(sys.argv[2]))
for line in masked(sys.argv[1]):
    wanted = re.compile(".*".join(map(re.escape, line.split("..."))))
    if not any(wanted.fullmatch(found) for found in printed):
        sys.exit("the demo does not print: " + line)
EOF
}

block() { # block DOCUMENT LANGUAGE FILE
    local what
    what="$1: $(head -n 1 "$3")"
    case $2:$(cat "$3") in
        c:*"int verify("*) expect "$what" c_function "$3" ;;
        c:*tenon_ek_verify*) expect "$what" c_statements "$3" ;;
        # `make check-rfc9421` runs it.
        python:*verify_member*) expect "$what" grep -q signing.md "$root/Tests/Scripts/rfc9421.py" ;;
        # What stands on the wire; the vectors compare it.
        http:*) ;;
        python:*) expect "$what" python "$3" ;;
        swift:*PackageDescription*) expect "$what" package "$3" ;;
        swift:*SynheartAuth.shared*) expect "$what" swift_code "$3" 'import FoundationEssentials; let baseUrl = "https://api.example.org/auth", bodyData = Data()' ;;
        swift:*DeviceIdentity*) expect "$what" swift_code "$3" 'let body: [UInt8] = []' ;;
        swift:*TPM.PrivateKey*) expect "$what" swift_code "$3" 'func save(_ pem: [UInt8]) throws {}; func saved() throws -> [UInt8] { [] }; let data: [UInt8] = []' ;;
        json:*) expect "$what" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$3" ;;
        # A picture; that of the states is compared by the Swift tests.
        mermaid:*) ;;
        # command.sh compares them.
        :'$ tenon doctor'*) expect "$what" test "$1" = docs/doctor.md ;;
        indented:*"Register: the TPM creates the key"*) expect "$what" demo "$3" ;;
        # What an authority says of a fault; `make check-stores` has it say so.
        indented:*" works again, after "*) expect "$what" grep -q ' works again, after ' "$root/Sources/TenonAuthority/Engine/StoreWatch.swift" ;;
        # What the folders are for.
        indented:*"    include/"*) ;;
        indented:*) while read -r line; do command_line "$1" "$line"; done < <(sed -e ':a' -e '/\\$/{N;s/ *\\\n */ /;ba' -e '}' "$3") ;;
        *) expect "$what: is neither run nor known here" false ;;
    esac
}

blocks() { # blocks DOCUMENT: writes each of its blocks to a file that is named by its line and its language
    rm -f "$world/blocks"/*
    awk -v folder="$world/blocks" '
        function open_block(language) { file = sprintf("%s/%05d.%s", folder, NR, language); printf "" > file }
        /^```/ { fenced = !fenced; if (fenced) open_block(substr($0, 4)); next }
        fenced { print > file; next }
        /^    [^ ]/ && !indented && before == "" { indented = 1; open_block("indented") }
        !/^    / { indented = 0 }
        indented { print > file }
        { before = $0 }' "$root/$1"
}

document() { # document PATH
    local file
    blocks "$1"
    for file in "$world/blocks"/*; do
        [ ! -e "$file" ] || block "$1" "${file##*.}" "$file"
    done
    # What is said in passing: each target that is named is one.
    grep -oE '`make( [A-Za-z_]+=[^ `]*)*( [a-z-]+)*' "$root/$1" | tr ' ' '\n' | grep -E '^[a-z-]+$' | while read -r target; do
        grep -q "^$target:" "$root/Makefile" "$root/packaging/packaging.mk" || echo "$target"
    done > "$world/targets"
    expect "$1: make has its targets" test ! -s "$world/targets"
}

world_tpm device "$state/state"
ek_id=$(tenon doctor --disclose-ek --json | sed -E 's/.*"ek_id":"([^"]*)".*/\1/')
# The first installs, the second starts the authority that the commands of the next ones speak to.
for path in docs/c-abi.md docs/authority.md Examples/README.md README.md $(cd "$root" && ls docs/*.md | grep -vE '/(c-abi|authority)\.md') CONTRIBUTING.md; do
    document "$path"
done
expect "nothing is left in the TPM" test -z "$(world_left device)"

verdict
