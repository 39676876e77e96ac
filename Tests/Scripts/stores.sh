#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# stores.sh COMMAND...: runs a command while a Redis and a PostgreSQL of its own are there, on sockets in a folder that
# TENON_TEST_STORES names and that is gone afterwards. Nothing listens on a port and no service is touched.
#
#   redis.sock, .s.PGSQL.5432    of servers that stay
#   fragile/...                  the same of two more, which `fragile/server` commands: see below
set -eu

[ $# != 0 ] || { echo "usage: $0 COMMAND..." >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)

# What is installed, or what is unpacked beside it. A folder may be a pattern: PostgreSQL's has its version in its name.
find_folder() { # find_folder PROGRAM FOLDER...
    program=$1
    shift
    for folder; do
        [ ! -x "$folder/$program" ] || { echo "$folder"; return 0; }
    done
    return 1
}
find_program() { # find_program PACKAGE PROGRAM FOLDER
    # shellcheck disable=SC2086
    find_folder "$2" $3 "$root/.build/deps/$1"$3 ||
        { "$root/Tests/Scripts/unpack.sh" "$1" >&2 && find_folder "$2" "$root/.build/deps/$1"$3; }
}
# redis-server is this program under another name.
redis=$(find_program redis-tools redis-check-rdb /usr/bin)
postgres=$(find_program postgresql initdb '/usr/lib/postgresql/*/bin')
libraries=
for package in redis-tools postgresql; do
    place=$root/.build/deps/$package/usr/lib/$(uname -m)-linux-gnu
    [ ! -d "$place" ] || libraries=$libraries:$place
done

folder=$(mktemp -d "${TMPDIR:-/tmp}/tenon-stores.XXXXXX")
stop() {
    for place in "$folder" "$folder/fragile"; do
        [ ! -x "$place/server" ] || { "$place/server" redis kill; "$place/server" postgres kill; } || :
    done
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM

# PostgreSQL does not run as root; whoever it runs as has to reach its files.
as=
if [ "$(id -u)" = 0 ]; then
    as="runuser -u nobody --"
    chmod 755 "$folder"
    if ! $as test -x "$postgres/initdb"; then
        cp -a "$root/.build/deps/postgresql" "$folder/deps"
        postgres=$folder/deps${postgres#"$root/.build/deps/postgresql"}
        libraries=$libraries:$folder/deps/usr/lib/$(uname -m)-linux-gnu
    fi
fi

prepare() { # prepare FOLDER
    mkdir -p "$1"
    ln -s "$redis/redis-check-rdb" "$1/redis-server"
    cat > "$1/server" << SCRIPT
#!/bin/sh
# server redis|postgres start|stop|kill; server redis set NAME VALUE; server redis do WORD...; server postgres sql TEXT;
# server postgres pause|resume: it answers nobody, and does not end
set -e
export LD_LIBRARY_PATH='${libraries#:}'
wait_until() { # wait_until CONDITION...: at most ten seconds
    for _ in \$(seq 1000); do
        if test "\$@"; then return; fi
        sleep 0.01
    done
    exit 1
}
# Its pid file goes first; the socket is its own until its end.
end_redis() { # end_redis SIGNAL
    process=\$(cat redis.pid)
    kill -\$1 \$process
    wait_until ! -e /proc/\$process/exe
}
cd '$1'
case "\$1 \$2" in
"redis start")
    ./redis-server --port 0 --unixsocket '$1/redis.sock' --unixsocketperm 777 --save '' --appendonly no \\
        --dir '$1' --pidfile '$1/redis.pid' --daemonize yes --logfile '$1/redis.log' > /dev/null
    # Who kills it finds it by the second, which comes later.
    wait_until -S redis.sock -a -s redis.pid ;;
"redis stop") end_redis TERM; wait_until ! -e redis.pid ;;
"redis kill") [ ! -e redis.pid ] || end_redis KILL; rm -f redis.pid redis.sock ;;
"redis set") '$redis/redis-cli' -s redis.sock config set "\$3" "\$4" > /dev/null ;;
"redis do") shift 2; '$redis/redis-cli' -s redis.sock "\$@" ;;
"postgres sql") '$postgres/psql' -q -h '$1' -U tenon -d postgres -c "\$3" > /dev/null ;;
"postgres start")
    rm -f data/postmaster.pid
    $as '$postgres/pg_ctl' -w -s -D '$1/data' -l '$1/postgres.log' \\
        -o "-c listen_addresses= -c dynamic_shared_memory_type=mmap -c max_connections=400 -c unix_socket_directories='$1'" start ;;
"postgres stop") $as '$postgres/pg_ctl' -w -s -m fast -D '$1/data' stop ;;
"postgres pause"|"postgres resume")
    signal=\$([ "\$2" = pause ] && echo STOP || echo CONT)
    server=\$(head -n 1 data/postmaster.pid)
    # First the one that makes others; last it, so that those it starts are there.
    kill -\$signal \$server
    for process in \$(cat /proc/\$server/task/\$server/children); do kill -\$signal \$process || :; done ;;
"postgres kill")
    # One that is paused would not notice.
    "\$0" postgres resume 2> /dev/null || :
    [ ! -e data/postmaster.pid ] || $as '$postgres/pg_ctl' -w -s -m immediate -D '$1/data' stop ;;
*) exit 2 ;;
esac
SCRIPT
    chmod 755 "$1/server"
    [ -z "$as" ] || chown nobody "$1"
}
prepare "$folder"
prepare "$folder/fragile"
(cd "$folder" && LD_LIBRARY_PATH=${libraries#:} $as "$postgres/initdb" \
    -D "$folder/data" -A trust -U tenon --no-sync -E UTF8 --locale=C > /dev/null)
cp -a "$folder/data" "$folder/fragile/data"
for place in "$folder" "$folder/fragile"; do
    "$place/server" redis start
    "$place/server" postgres start
done

TENON_TEST_STORES=$folder "$@"
