# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The version of this package, as installed."""

from importlib.metadata import PackageNotFoundError, version
from typing import Final


def _installed() -> str:
    try:
        return version("nemo_telemetry_actor")
    except PackageNotFoundError:
        return "0+unknown"  # imported from a directory, as Ray's py_modules are


__version__: Final = _installed()
