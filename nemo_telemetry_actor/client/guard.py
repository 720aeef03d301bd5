# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The one guard that keeps failures of telemetry out of the process that trains."""

import logging
import threading
from collections import Counter
from collections.abc import Callable

from nemo_telemetry_actor.errors import DropReason

_LOG_EVERY_S = 60.0
_MAX_WARNED = 1000  # keys can come from user data; memory and log stay bounded


class Guard:
    """Counts and logs what went wrong; never raises, unless `strict`.

    Safe to call from any thread. Under `strict` (tests) the caller re-raises what it caught.

    Args:
        logger: Where warnings go.
        monotonic: Clock in seconds.
        strict: Whether bugs raise.
    """

    def __init__(
        self, logger: logging.Logger, monotonic: Callable[[], float], *, strict: bool = False
    ) -> None:
        self.strict = strict
        self._logger = logger
        self._monotonic = monotonic
        # Reentrant: a signal handler may record while its thread is in here.
        self._lock = threading.RLock()
        # Guarded by _lock:
        self._dropped: Counter[DropReason] = Counter()
        self._failures: Counter[str] = Counter()
        self._last_logged: dict[str, float] = {}
        self._warned: set[str] = set()

    def failed(self, where: str, error: BaseException) -> None:
        """Note an unexpected failure: counted always, logged at most once a minute a place."""
        with self._lock:
            self._failures[where] += 1
            count = self._failures[where]
            now = self._monotonic()
            quiet = now - self._last_logged.get(where, -_LOG_EVERY_S) < _LOG_EVERY_S
            if not quiet:
                self._last_logged[where] = now
        if not quiet:
            message = "%s failed (%d so far), training goes on: %r"
            self._say(logging.WARNING, message, (where, count, error), error)

    def warn_once(self, key: str, message: str, *args: object) -> None:
        """Log a warning the first time a key is seen, at debug level from then on."""
        with self._lock:
            first = key not in self._warned and len(self._warned) < _MAX_WARNED
            if first:
                self._warned.add(key)
        self._say(logging.WARNING if first else logging.DEBUG, message, args)

    def rearm(self, prefix: str) -> None:
        """Forget which keys that start with `prefix` have been warned of."""
        with self._lock:
            self._warned = {key for key in self._warned if not key.startswith(prefix)}

    def drop(self, reason: DropReason, count: int = 1) -> None:
        """Count measurements that are lost."""
        with self._lock:
            self._dropped[reason] += count

    def take_drops(self) -> dict[DropReason, int]:
        """Return the drops counted since the last call, by reason, and start from zero."""
        with self._lock:
            taken, self._dropped = dict(self._dropped), Counter()
        return taken

    def _say(
        self, level: int, message: str, args: tuple[object, ...], error: BaseException | None = None
    ) -> None:
        if not self._logger.isEnabledFor(level):
            return
        try:
            text = message % args if args else message
        except Exception:  # noqa: BLE001 — foreign code ran; what cannot be shown is left out
            text = message
        self._logger.log(level, "%s", text, exc_info=error)
