#!/bin/sh
# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
#
# Brings Debian packages that tests talk to, where apt and root are there: the Prometheus server and
# promtool, and iproute2, which gives tests/integration/hosts its machines. Never fails: the tests say
# what is missing (a skip; for Prometheus with CI=true a failure).

packages=
command -v prometheus >/dev/null && command -v promtool >/dev/null || packages="prometheus"
command -v ip >/dev/null || packages="$packages iproute2"
[ -n "$packages" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "not installed, and only root with apt can do it here:" $packages
    echo "the tests that need them will be skipped (apt-get install brings them)"
    exit 0
fi
echo "Installing Debian's" $packages
if ! { apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages \
        >/dev/null; }; then
    echo "apt could not install $packages; the tests that need them will say so" >&2
fi
