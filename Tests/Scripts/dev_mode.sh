#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dev_mode.sh FOLDER: builds the library of the service for release, without and with the trait DevMode: only the latter
# holds the name of the header by which a service lets an unproven device in.
set -euo pipefail

header=X-Synheart-Dev-Mode

holders() { # holders FOLDER [OPTION...]: how many of the objects hold the name
    local folder=$1
    shift
    swift build -c release --target TenonSynheart --scratch-path "$folder" "$@" > "$folder.log" 2>&1 || {
        cat "$folder.log" >&2
        exit 1
    }
    # 1 is none; anything above is that it could not look.
    { grep -rl --include='*.o' "$header" "$folder/release/TenonSynheart.build/" || [ $? = 1 ]; } | wc -l
}

mkdir -p "$1"
released=$(holders "$1/released")
developed=$(holders "$1/developed" --traits DevMode)
echo "$header: $released objects of a release, $developed of a build for development"
[ "$released" = 0 ] && [ "$developed" != 0 ]
