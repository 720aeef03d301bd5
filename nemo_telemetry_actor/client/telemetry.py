# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The handle that user code holds: records, declares, flushes; never gets in the way."""

import atexit
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from time import time_ns
from typing import Any, Final

from nemo_telemetry_actor.catalogue.vocabulary import Vocabulary, default_vocabulary
from nemo_telemetry_actor.client.buffer import MeasurementBuffer
from nemo_telemetry_actor.client.fold import Fold
from nemo_telemetry_actor.client.groups import BoundGroup, GroupRegistry
from nemo_telemetry_actor.client.guard import Guard
from nemo_telemetry_actor.client.intake import Intake
from nemo_telemetry_actor.client.membership import Membership
from nemo_telemetry_actor.client.placements import Placements
from nemo_telemetry_actor.client.sender import Closing, Sender
from nemo_telemetry_actor.client.teeing import Teeing
from nemo_telemetry_actor.client.transport import Transport
from nemo_telemetry_actor.model.instrument import MetricSpec, Scope
from nemo_telemetry_actor.model.scalar import to_float
from nemo_telemetry_actor.version import __version__

_log = logging.getLogger("nemo_telemetry_actor")

_FIRST_BUFFER_POINTS: Final = 65_536
_FIRST_SERIES_PER_METRIC: Final = 2000
_EXIT_TIMEOUT_S: Final = 5.0
_EXIT_TIMEOUT_NEVER_JOINED_S: Final = 0.5


class Telemetry:
    """One process's way to report to one run. Made by `start()` or `connect()`.

    Safe to call from any thread. No method raises or waits for anything outside the process,
    except: `register_metric_group` and `unregister_metric_group` raise ValueError on a wrong
    declaration, and `flush` and `shutdown` wait as long as they are told to at most. What cannot
    be recorded is counted by reason and logged once.

    Args:
        membership: Who this process is.
        transport: The way to the actor.
        vocabulary: What `tee` looks for; the catalogue's own when left out.
        strict: Whether bugs raise, for tests. Wrong use is counted and logged all the same.
    """

    def __init__(
        self,
        membership: Membership,
        transport: Transport,
        *,
        vocabulary: Vocabulary | None = None,
        strict: bool = False,
    ) -> None:
        self._membership = membership
        self._guard = Guard(_log, time.monotonic, strict=strict)
        self._groups = GroupRegistry(Scope(version=__version__))
        self._vocabulary = vocabulary or default_vocabulary()
        self._shut = False
        self._begin(transport)
        self._sender.ensure_running()
        atexit.register(self._at_exit)

    def __repr__(self) -> str:
        """Name the run and the role."""
        me = self._membership
        return (
            f"Telemetry(run_id={self.run_id!r}, worker_group={me.worker_group!r}, rank={me.rank!r})"
        )

    @property
    def run_id(self) -> str:
        """The run joined; empty until the actor has answered, unless it was stated."""
        return self._membership.run_id

    # ---- declare

    def register_metric_group(
        self, group: str, specs: Iterable[MetricSpec], *, allow_override: bool = False
    ) -> None:
        """Declare the metrics of a group, so that `record` knows them.

        Raises:
            ValueError: See `MetricSpec`; or the group's name is empty, reserved or taken (unless
                `allow_override`), it has no specs, two specs share a key, or two metrics of this
                process would share a name in OpenTelemetry or Prometheus.
        """
        self._groups.register(group, specs, allow_override=allow_override)
        for kind in ("group", "key", "value", "attributes"):
            self._guard.rearm(f"{kind}:{group}")

    def unregister_metric_group(self, group: str) -> None:
        """Forget a group; its observables stop being read.

        Raises:
            ValueError: There is no such group.
        """
        self._groups.unregister(group)

    def registered_metric_groups(self) -> dict[str, tuple[MetricSpec, ...]]:
        """Return a copy: group name to its specs."""
        return self._groups.registered()

    # ---- record

    def record(
        self,
        group: str,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        attributes: Mapping[str, Any] | None = None,
        **keyed: Any,
    ) -> None:
        """Record one value a key: set a gauge, add to a counter, record into a histogram.

        Args:
            group: A registered group.
            values: Value by key. None values are skipped; numpy and torch scalars are read now
                (a tensor on a device is waited for); what is no number is dropped and counted.
            attributes: For all of these values.
            keyed: Further values by key; they win over `values`.
        """
        try:
            time_unix_nano = time_ns()
            groups = self._groups
            bound = groups.groups.get(group)
            if bound is None or bound is groups.own:
                self._refuse_group(group, values, keyed)
                return
            if keyed:
                numbers = {**values, **keyed} if values else keyed
            else:  # a copy either way: the caller may go on using its dict
                numbers = values.copy() if type(values) is dict else dict((values or {}).items())
            for value in numbers.values():
                if type(value) is not float:
                    numbers = self._converted(bound, numbers)
                    break
            if numbers:
                self._keep(bound, numbers, attributes, time_unix_nano)
        except Exception as error:
            if self._guard.strict:
                raise
            self._guard.drop("bad_value")
            self._guard.failed("record", error)

    def tee(self, metrics: Mapping[str, Any], prefix: str = "") -> None:
        """Record what a logger dict holds of the declared series, by the rules of its prefix.

        Args:
            metrics: What NeMo-RL's `Logger.log_metrics` is given: value by logger key.
            prefix: The logger prefix: `train`, an empty string and `timing/setup` hold series,
                any other holds none.
        """
        try:
            time_unix_nano = time_ns()
            for bound, numbers, attributes in self._teeing.rows(metrics, prefix):
                self._keep(bound, numbers, attributes, time_unix_nano)
        except Exception as error:
            if self._guard.strict:
                raise
            self._guard.failed("tee", error)

    # ---- vouch for worker groups

    def register_worker_group_placement(
        self, name_prefix: str, bundles: Iterable[tuple[Any, int]]
    ) -> None:
        """Say where a worker group sits, by bundles; registering again replaces.

        It names its hosts in `rl.worker_groups` until it is forgotten, this process's lease ends
        or the run does. A group that cannot be taken is refused whole and logged once.

        Args:
            name_prefix: The group's name; no comma.
            bundles: Pairs of a placement group and the index of one of its bundles.
        """
        self._vouch(name_prefix, self._placements.register_bundles, bundles)

    def register_worker_group_nodes(self, name_prefix: str, node_ids: Iterable[str]) -> None:
        """Say where a worker group sits, by Ray node ids; else as with bundles."""
        self._vouch(name_prefix, self._placements.register_nodes, node_ids)

    def forget_worker_group_nodes(self, name_prefix: str) -> None:
        """Say that a worker group is gone; one that was never registered is fine."""
        self._placements.forget(name_prefix)

    # ---- deliver

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Deliver what was recorded so far.

        Returns:
            True when all of it is committed by the actor; False when time ran out (it stays
            buffered and is sent later) or the handle is shut down.
        """
        try:
            self._sender.ensure_running()
            return self._sender.flush(timeout_s)
        except Exception as error:
            if self._guard.strict:
                raise
            self._guard.failed("flush", error)
            return False

    def shutdown(self, timeout_s: float = 5.0) -> bool:
        """Deliver what was recorded so far and say goodbye; from the driver, the run ends.

        Further values are dropped and counted. A second call does nothing.

        Returns:
            Whether all was delivered within the time.
        """
        try:
            if self._shut:
                return True
            self._shut = True
            atexit.unregister(self._at_exit)
            closing: Closing = "run" if self._membership.opens_run else "client"
            delivered = self._sender.close(closing, timeout_s)
            if not delivered and self.undelivered:
                _log.warning(
                    "%d measurements were not delivered to the telemetry actor within %.1f s and "
                    "are lost",
                    self.undelivered,
                    timeout_s,
                )
        except Exception as error:
            if self._guard.strict:
                raise
            self._guard.failed("shutdown", error)
            return False
        return delivered

    @property
    def is_shut_down(self) -> bool:
        """Whether `shutdown` was called."""
        return self._shut

    @property
    def undelivered(self) -> int:
        """Measurements and folded points that are not committed yet."""
        return self._sender.undelivered

    def wait_joined(self, timeout_s: float) -> bool:
        """Wait until the actor has welcomed this process; False when it has not in time."""
        return self._sender.wait_joined(timeout_s) is not None

    def open_run(
        self, run_attributes: Mapping[str, Any], own_attributes: Mapping[str, Any]
    ) -> None:
        """Become the driver of the run: `start()` was called where `connect()` had been."""
        self._membership.open_run(run_attributes, own_attributes)
        self._sender.request_join()

    def describe(self, worker_group: str | None, rank: int | None) -> None:
        """Say who this process is, when it was not said before."""
        me = self._membership
        for name, new in (("worker_group", worker_group), ("rank", rank)):
            old = getattr(me, name)
            if new is None or new == old:
                continue
            if old is not None:
                self._guard.warn_once(
                    f"describe:{name}",
                    "this process reports as %s %r already; %r is not used (one process has one "
                    "identity in a run)",
                    name,
                    old,
                    new,
                )
                continue
            setattr(me, name, new)
            self._sender.request_join()

    def after_fork(self, transport: Transport) -> None:
        """Start anew in a forked child: nothing of the parent's is sent twice, no lock is kept."""
        self._guard = Guard(_log, time.monotonic, strict=self._guard.strict)
        self._groups.renew_lock()
        self._membership = self._membership.forked()
        self._begin(transport)

    # ---- inside

    def _begin(self, transport: Transport) -> None:
        self._buffer = MeasurementBuffer(_FIRST_BUFFER_POINTS)
        fold = Fold(
            self._groups.own,
            self._guard,
            capacity=_FIRST_BUFFER_POINTS,
            series_per_metric=_FIRST_SERIES_PER_METRIC,
        )
        self._placements = Placements()
        self._teeing = Teeing(self._groups, self._vocabulary, self._guard)
        self._intake = Intake(self._buffer, fold, self._groups, self._placements, self._guard)
        self._sender = Sender(
            transport=transport,
            intake=self._intake,
            guard=self._guard,
            membership=self._membership,
        )

    def _keep(
        self,
        bound: BoundGroup,
        numbers: dict[str, float],
        attributes: Mapping[str, Any] | None,
        time_unix_nano: int,
    ) -> None:
        if self._shut:
            self._guard.drop("shutdown", len(numbers))
            self._guard.warn_once("shutdown", "values recorded after shutdown() are dropped")
            return
        kept: Mapping[str, Any] | None = None
        if attributes is not None:
            try:
                # A copy, as of the values; a dict's own method is the quickest.
                kept = attributes.copy() if type(attributes) is dict else dict(attributes)
            except Exception as error:  # noqa: BLE001 — foreign code; the values themselves are good
                self._guard.warn_once(
                    f"attributes:{bound.name}",
                    "attributes given for group %r cannot be read, so its values are recorded "
                    "without them: %r",
                    bound.name,
                    error,
                )
        if self._buffer.append((bound, numbers, kept, time_unix_nano)):
            self._attend()

    def _vouch(
        self, name_prefix: str, register: Callable[[str, Any], None], places: Iterable[Any]
    ) -> None:
        try:
            self._sender.ensure_running()
            register(name_prefix, places)
        except Exception as error:
            if self._guard.strict:
                raise
            self._guard.warn_once(
                f"placement:{name_prefix}:{error}",
                "worker group %r is left out of rl.worker_groups: %s",
                name_prefix,
                error,
            )

    def _attend(self) -> None:
        """See to a buffer that fills faster than the flush thread comes by."""
        self._sender.ensure_running()
        if len(self._buffer) < self._buffer.capacity:
            self._buffer.expect(self._buffer.capacity)
            self._sender.wake()
        else:
            self._intake.relieve()

    def _converted(self, bound: BoundGroup, values: Mapping[str, Any]) -> dict[str, float]:
        numbers: dict[str, float] = {}
        for key, value in values.items():
            number = to_float(value)
            if number is not None:
                numbers[key] = number
            elif value is not None:
                self._guard.drop("bad_value")
                self._guard.warn_once(
                    f"value:{bound.name}:{key}",
                    "key %r of group %r was given a %s, which is no number; it is dropped",
                    key,
                    bound.name,
                    type(value).__name__,
                )
        return numbers

    def _refuse_group(
        self, group: object, values: Mapping[str, Any] | None, keyed: Mapping[str, Any]
    ) -> None:
        self._guard.drop("undeclared", max(1, len(values or ()) + len(keyed)))
        self._guard.warn_once(
            f"group:{group}",
            "metric group %r is not registered; its values are dropped (declare it with "
            "register_metric_group)",
            group,
        )

    def _at_exit(self) -> None:
        joined = self._sender.welcome is not None
        self.shutdown(_EXIT_TIMEOUT_S if joined else _EXIT_TIMEOUT_NEVER_JOINED_S)
