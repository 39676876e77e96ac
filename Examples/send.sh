#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# send.sh METHOD URL [FILE]: sends a signed request of this device, which is registered (`tenon register`), with curl, and
# prints the answer. FILE is the body. It ends with 22 when the service refuses, with the exit code of tenon when that
# cannot sign.
set -eu

case $# in
2) command=$(tenon sign "$1" "$2" --format curl) ;;
3) command=$(tenon sign "$1" "$2" --data "@$3" --format curl) ;;
*) echo "usage: $0 METHOD URL [FILE]" >&2; exit 1 ;;
esac
# One word each, quoted for a shell. A signature is good for one request: another try is signed anew.
eval "$command --silent --show-error --fail-with-body -H 'Content-Type: application/json'"
