#!/bin/sh
# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: venv.sh DIRECTORY [REQUIREMENT [PIP-OPTION…]]
#
# Makes a virtual environment in DIRECTORY unless a working one is there, and installs REQUIREMENT
# (of this checkout, editable). PYTHON names the interpreter; without it the newest suitable one is
# taken. Where Debian left out venv support, root gets it by apt.

set -eu

venv=$1
shift

SUITABLE='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'

# A pyenv shim exists for versions that are not active, and fails: only running it tells.
is_suitable() {
    "$1" -c "$SUITABLE" >/dev/null 2>&1
}

has_venv() {
    "$1" -c 'import ensurepip, ssl, venv' >/dev/null 2>&1
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        is_suitable "$PYTHON" && echo "$PYTHON" && return
        echo "PYTHON=$PYTHON does not run, or is not Python 3.11, 3.12 or 3.13" >&2
        return 1
    fi
    bare=
    for candidate in python3.13 python3.12 python3.11 python3 /usr/bin/python3; do
        is_suitable "$candidate" || continue
        has_venv "$candidate" && echo "$candidate" && return
        bare=${bare:-$candidate}
    done
    [ -n "$bare" ] && echo "$bare" && return
    echo "no Python 3.11, 3.12 or 3.13 was found (tried python3.13, python3.12, python3.11," \
        "python3); install one, or name it: make PYTHON=/path/to/python3.12 …" >&2
    return 1
}

# Debian ships Python without venv; everywhere else it is a part of it.
install_venv_support() {
    package=$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "$1 has no venv support; install it (on Debian or Ubuntu: apt-get install $package)" >&2
        return 1
    fi
    echo "Installing $package"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package" >/dev/null
}

if ! is_suitable "$venv/bin/python" || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    has_venv "$python" || install_venv_support "$python"
    echo "Making $venv with $("$python" --version) ($python)"
    "$python" -m venv --clear "$venv"
fi

if [ $# -gt 0 ]; then
    requirement=$1
    shift
    echo "Installing $requirement into $venv (the first time takes a minute or two)"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
        --editable "$requirement" "$@"
fi
