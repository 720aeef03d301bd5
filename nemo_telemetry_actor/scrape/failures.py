# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Why a host gave no sample: a closed set of kinds, and one failure with its words."""

from typing import Final, Literal, TypeAlias, get_args

import msgspec

FailureKind: TypeAlias = Literal[
    "bad_address",
    "no_endpoint",
    "refused",
    "unreachable",
    "timeout",
    "status",
    "unauthorized",
    "not_metrics",
    "cut_short",
    "too_large",
    "bad_encoding",
    "bad_json",
    "foreign",
    "stale",
    "internal",
]
FAILURE_KINDS: Final[tuple[FailureKind, ...]] = get_args(FailureKind)


class FetchFailure(msgspec.Struct, frozen=True):
    """A request that brought nothing to read.

    Args:
        kind: What went wrong, for counters and decisions.
        message: The same for people: address and reason, without any header.
    """

    kind: FailureKind
    message: str
