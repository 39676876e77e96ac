#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dev_mode.sh PROGRAM FOLDER: only a build with the trait DevMode holds the name of the header by which a service lets an
# unproven device in. PROGRAM is a `tenon` that is built as it is shipped.
set -euo pipefail

header=X-Synheart-Dev-Mode
program=$1 folder=$2

# That the service is in it at all, a name says that each registration sends.
grep -qa X-Synheart-Signature "$program" || { echo "$program is linked without the service" >&2; exit 1; }

mkdir -p "$folder"
compile() { # compile MODULE SOURCES...
    "${SWIFTC:-swiftc}" -D DevMode -parse-as-library -package-name tenon -I include -I "$folder" -module-name "$1" \
        -enable-experimental-feature SafeInteropWrappers -enable-upcoming-feature InternalImportsByDefault \
        -emit-module -emit-module-path "$folder/$1.swiftmodule" -wmo -c -o "$folder/$1.o" "${@:2}"
}
mapfile -t core < <(find Sources/Tenon -name '*.swift')
compile Tenon "${core[@]}"
compile TenonSynheart Sources/TenonServices/Synheart/*.swift

# 1 is none; anything above is that it could not look.
released=$(grep -ca "$header" "$program" || [ $? = 1 ])
developed=$(grep -ca "$header" "$folder/TenonSynheart.o" || [ $? = 1 ])
echo "$header: in $released lines of $program, in $developed of the module that is built for development"
[ "$released" = 0 ] && [ "$developed" != 0 ]
