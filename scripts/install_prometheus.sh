#!/bin/sh
# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
#
# Brings Debian's Prometheus server and promtool for tests/integration/prometheus, where apt and
# root are there. Never fails: the tests say what is missing (a skip; with CI=true a failure).

if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
    exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "prometheus and promtool are not installed, and only root with apt can do it here:"
    echo "the tests that need them will be skipped (apt-get install prometheus brings them)"
    exit 0
fi
echo "Installing Debian's prometheus"
if ! { apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends prometheus \
        >/dev/null; }; then
    echo "apt could not install prometheus; the tests that need it will say so" >&2
fi
