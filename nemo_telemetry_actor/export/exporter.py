# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The one interface of every push exporter."""

from typing import Final, Protocol

import msgspec

from nemo_telemetry_actor.model.points import Snapshot

DEFAULT_MAX_POINTS: Final = 8192
"""Data points in one call, unless configured: about half a megabyte of OTLP."""


class ExportResult(msgspec.Struct, frozen=True):
    """What a backend did with a snapshot that it took.

    Args:
        rejected: Data points that it refused although it took the message
            (OTLP's `partial_success`).
        message: What it said about them; may be set without any rejected point, as a warning.
    """

    rejected: int = 0
    message: str = ""


class PushExporter(Protocol):
    """Sends snapshots to one backend. Called by one task at a time.

    Retries, order and what to do about a failure belong to `export.delivery`; an exporter tries
    once and says what happened.
    """

    @property
    def name(self) -> str:
        """What people call it: kind and target, without any secret. Unique in one actor."""
        ...

    @property
    def max_points(self) -> int:
        """Data points that one call should hold at most."""
        ...

    async def export(self, snapshot: Snapshot) -> ExportResult:
        """Send one snapshot, within the exporter's own timeout; never blocks the event loop.

        Raises:
            RetryableExportError: The backend could not take it now.
            MessageTooLargeError: It would take a smaller one.
            ExportError: It refused for good.
        """
        ...

    async def shutdown(self) -> None:
        """Release sockets and files. Does not raise; a second call does nothing."""
        ...
