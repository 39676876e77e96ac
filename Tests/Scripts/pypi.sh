# SPDX-License-Identifier: Apache-2.0
# Sourced, with $root set. pypi NAME PACKAGES [PIP_ARGUMENT...]: the packages of Tests/Scripts/NAME.txt from PyPI, each
# pinned by its hash, in $venv. What NAME.build.txt lists is installed before, for packages that are built from source.

pypi() {
    wanted=$root/Tests/Scripts/$1.txt
    before=$root/Tests/Scripts/$1.build.txt
    venv=$root/.build/deps/$1
    packages=$2
    shift 2
    ! cmp -s "$wanted" "$venv/installed.txt" || return 0
    rm -rf "$venv"
    mkdir -p "$root/.build/deps"
    "${PYTHON:-python3}" -m venv "$venv"
    if { [ ! -e "$before" ] || pypi_install -r "$before"; } && pypi_install "$@" -r "$wanted"; then
        cp "$wanted" "$venv/installed.txt"
        return 0
    fi
    echo "$packages could not be had from PyPI, so nothing was judged: is there a network, or PIP_INDEX_URL?" >&2
    return 1
}

pypi_install() {
    "$venv/bin/pip" install -q --disable-pip-version-check --retries 2 --require-hashes --only-binary :all: "$@"
}
