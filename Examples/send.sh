#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# send.sh METHOD URL [FILE]: sends a signed request from this registered device (`tenon register`) with curl, and prints
# the answer. FILE is the body. The exit code is 22 if the service refuses, and that of tenon if tenon cannot sign.
set -eu

case $# in
2) command=$(tenon sign "$1" "$2" --format curl) ;;
3) command=$(tenon sign "$1" "$2" --data "@$3" --header 'Content-Type: application/json' --format curl) ;;
*) echo "usage: $0 METHOD URL [FILE]" >&2; exit 1 ;;
esac
# Each word is quoted for a shell. A signature is valid for one request: sign again before another try.
eval "$command --silent --show-error --fail-with-body"
