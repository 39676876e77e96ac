# SPDX-License-Identifier: Apache-2.0
# For scripts: a software TPM and an authority on loopback, in a folder of their own that goes with them. Whoever reads
# this first says `tenon_authority=PROGRAM`, `root=` the repository, and then calls world.
# shellcheck shell=sh disable=SC2034

# world: makes $world, and has everything ended and removed when the script ends, however that comes.
world() {
    world=$(mktemp -d "${TMPDIR:-/tmp}/tenon.XXXXXX") || exit 1
    world_processes=
    trap world_end EXIT
    trap 'exit 1' HUP INT TERM
}

world_end() {
    # shellcheck disable=SC2086
    [ -z "$world_processes" ] || { kill $world_processes; wait $world_processes; } 2> /dev/null
    rm -rf "$world"
}

# world_tpm NAME STATE: a software TPM at $world/NAME.tpm, which begins with the state in the folder STATE. It listens
# when it has written its process id, and it dies with this script.
world_tpm() {
    mkdir "$world/$1" && cp "$2"/* "$world/$1" && mkfifo "$world/$1.ready" || exit 1
    setpriv --pdeathsig TERM swtpm socket --tpm2 --tpmstate dir="$world/$1" --flags not-need-init,startup-clear \
        --server type=unixio,path="$world/$1.tpm" --ctrl type=unixio,path="$world/$1.tpm.ctrl" \
        --pid file="$world/$1.ready" > "$world/$1.log" 2>&1 9> "$world/$1.ready" &
    world_processes="$world_processes $!"
    [ -n "$(head -c 1 "$world/$1.ready")" ] || { cat "$world/$1.log" >&2; exit 1; }
}

# world_send NAME HEX...: sends a TPM commands as they are, and prints each answer; world_command NAME HEX: its code.
world_send() {
    python3 - "$world/$1.tpm" "$@" << 'EOF'
import socket
import sys

tpm = socket.socket(socket.AF_UNIX)
tpm.connect(sys.argv[1])
for command in sys.argv[3:]:
    tpm.sendall(bytes.fromhex(command))
    print(tpm.recv(4096).hex())
EOF
}
world_command() { world_send "$@" | cut -c 13-20; }

# TPM2_Clear and TPM2_DictionaryAttackParameters by the lockout auth, which is empty; tries at which the TPM locks: 0.
world_clear=80020000001b000001264000000a00000009400000090000000000
world_lock=8002000000270000013a4000000a0000000940000009000000000000000000000003e8000003e8

# TPM2_CreatePrimary of a key below the null hierarchy, and TPM2_HierarchyChangeAuth of the owner's, empty so far, to "o".
world_primary=80020000004100000131400000070000000940000009000000000000040000000000180023000b00040072000000100018000b00030010000000000000
world_primary=${world_primary}00000000
world_owner_auth=80020000001e00000129400000010000000940000009000000000000016f

# world_authority ROOTS: an authority, at $url, that trusts the TPM makers whose roots are in the file.
world_authority() {
    world_serve --port "$(world_port)" --ek-roots "$1"
}

# A port that is free now.
world_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# world_demo SETTINGS: an authority, at $url, with an app demo of these settings. It has two names, and takes signature
# version 2 at the second one, localhost.
world_demo() {
    port=$(world_port)
    cat > "$world/demo.json" << EOF
{"origins": ["http://127.0.0.1:$port", "http://localhost:$port"], "public": {"address": "127.0.0.1", "port": $port},
 "backends": [{"name": "echo", "token_sha256": "$(printf token | sha256sum | cut -d' ' -f1)", "apps": ["demo"],
   "hosts": ["localhost:$port"]}],
 "apps": [{"id": "demo", $1}]}
EOF
    world_serve --config "$world/demo.json"
}

# world_stop: ends the authority, which has to end well; world_again: the same authority, after it ended.
world_stop() { kill "$world_authority" && wait "$world_authority"; }
world_again() { world_serve; }

world_serve() { # world_serve OPTION...
    world_listen authority "$tenon_authority" serve --state-dir "$world/authority" "$@"
    world_authority=$listener url=$where
    [ -n "$url" ] || { cat "$world/authority.log" >&2; exit 1; }
}

# world_listen NAME COMMAND...: starts an authority, which is the process $listener, and waits until it says that it
# listens: at $where, which is empty if it ends before. What it says later is read, too, so that it can say that it ends.
world_listen() {
    says=$world/$1.says log=$world/$1.log
    shift
    rm -f "$says"
    mkfifo "$says" || exit 1
    setpriv --pdeathsig TERM "$@" > "$says" 2> "$log" &
    listener=$!
    world_processes="$world_processes $listener"
    where=
    {
        while read -r word _ where _ <&7 && [ "$word" != tenon-authority ]; do :; done
        cat <&7 > /dev/null &
    } 7< "$says"
    where=${where%,}
}

# world_left NAME: the keys, their persistent copies and the sessions that somebody left in a TPM: TPM2_GetCapability of
# its handles.
world_left() {
    # shellcheck disable=SC2046
    world_send "$1" $(printf '8001000000160000017a00000001%s000000fe ' 80000000 81080000 02000000 03000000) |
        cut -c 39- | fold -w 8 | sed '/^$/d'
}

# world_flush NAME: takes out of a TPM what processes that were killed left there.
world_flush() {
    for left in $(world_left "$1"); do world_command "$1" "80010000000e00000165$left" > /dev/null; done
}
