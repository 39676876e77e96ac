#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dev_mode.sh FOLDER: links a program with the library of the service for release, without and with the trait DevMode:
# only the latter holds the name of the header by which a service lets an unproven device in.
set -euo pipefail

header=X-Synheart-Dev-Mode
program=SwiftBench

holds() { # holds FOLDER [OPTION...]: how many lines of the program hold the name
    local folder=$1
    shift
    "${SWIFT:-swift}" build -c release --product "$program" --scratch-path "$folder" "$@" > "$folder.log" 2>&1 || {
        cat "$folder.log" >&2
        exit 1
    }
    # That the service is in it at all, a name says that each registration sends.
    grep -qa X-Synheart-Signature "$folder/release/$program" || {
        echo "$folder/release/$program is linked without the service" >&2
        exit 1
    }
    # 1 is none; anything above is that it could not look.
    grep -ca "$header" "$folder/release/$program" || [ $? = 1 ]
}

mkdir -p "$1"
released=$(holds "$1/released")
developed=$(holds "$1/developed" --traits DevMode)
echo "$header: in $released lines of a released program, in $developed of one for development"
[ "$released" = 0 ] && [ "$developed" != 0 ]
