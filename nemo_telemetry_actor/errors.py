# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The exception tree, and the closed set of reasons for which a value may be dropped.

::

    TelemetryError
    ├── ConfigError            a configuration file, variable or argument is wrong (also a ValueError)
    ├── ActorUnavailableError  no telemetry actor answers, and the caller asked for one
    ├── StateError             the state file cannot be opened, read or written
    ├── WireError              bytes that are no batch of a version this build can read
    └── ExportError            a backend refused a snapshot; the same bytes cannot succeed
        ├── MessageTooLargeError   it would take a smaller one
        └── RetryableExportError   it could not take it now; the same bytes may be sent again

No call that a training process makes raises any of these: the client's guard turns them into one
log line and a count. They reach people who can act: at `start()`, on the command line, in tests.
"""

from typing import Final, Literal, TypeAlias, get_args

DropReason: TypeAlias = Literal[
    "buffer_full",
    "undeclared",
    "too_old",
    "bad_value",
    "cardinality_limit",
    "decode_error",
    "actor_unreachable",
    "queue_full",
    "refused",
    "shutdown",
]
DROP_REASONS: Final[tuple[DropReason, ...]] = get_args(DropReason)


class TelemetryError(Exception):
    """Root of every error this package raises on purpose."""


class ConfigError(TelemetryError, ValueError):
    """A configuration value is wrong; the message has path, value, limit and remedy."""


class ActorUnavailableError(TelemetryError):
    """No telemetry actor answers within the time the caller gave."""


class WireError(TelemetryError):
    """Bytes that cannot be read as a message of this or an older version."""


class StateError(TelemetryError):
    """The state file cannot be opened, read or written; the message names it and says why."""


class ExportError(TelemetryError):
    """A backend refused a snapshot; sending the same again cannot help."""


class MessageTooLargeError(ExportError):
    """A backend refused a message for its size; halves of it may pass."""


class RetryableExportError(ExportError):
    """A backend could not take a snapshot now; the same bytes may be sent again.

    Args:
        message: What the backend said.
        retry_after_s: Seconds the backend asked to be left alone, when it said so.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
