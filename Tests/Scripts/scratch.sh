#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scratch.sh: prints where the tests put their folders. That is TMPDIR if it is given; else memory, because the tests
# sync what they write, if 2 GiB are free there and programs may run from there; else /tmp.
set -u

memory=/dev/shm
free() { [ "$(df -k --output=avail "$memory" 2> /dev/null | tail -n 1)" -ge 2097152 ] 2> /dev/null; }
runs() {
    program=$(mktemp "$memory/tenon.XXXXXX" 2> /dev/null) || return 1
    printf '#!/bin/sh\n' > "$program" && chmod 700 "$program" && "$program" 2> /dev/null
    code=$?
    rm -f "$program"
    return $code
}

if [ -n "${TMPDIR-}" ]; then
    echo "$TMPDIR"
elif free && runs; then
    echo "$memory"
else
    echo /tmp
fi
