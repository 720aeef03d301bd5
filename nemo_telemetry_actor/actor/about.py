# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What the service measures of itself, as series: each stage's account, each exporter's state."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from nemo_telemetry_actor.model.attributes import AttributeValue
from nemo_telemetry_actor.model.instrument import Declaration, InstrumentKind, Scope
from nemo_telemetry_actor.model.points import MetricData, NumberPoint, ResourceData
from nemo_telemetry_actor.version import __version__

_SCOPE: Final = Scope(version=__version__)
_EXPORTER: Final = "exporter"
_REASON: Final = "reason"
_STATE: Final = "state"

Value = tuple[Mapping[str, str], float]


def _declared(name: str, kind: InstrumentKind, unit: str, description: str) -> Declaration:
    return Declaration(f"nemo_telemetry.{name}", kind, unit, description, (), _SCOPE)


ACCEPTED: Final = _declared(
    "ingest.accepted", "counter", "{measurement}", "Values that the actor has taken."
)
DROPPED: Final = _declared(
    "ingest.dropped", "counter", "{measurement}", "Values that the actor refused, by reason."
)
DUPLICATES: Final = _declared(
    "ingest.duplicates", "counter", "{batch}", "Batches that came again and changed nothing."
)
SERIES: Final = _declared("registry.series", "gauge", "{series}", "Series that the actor holds.")
RUNS: Final = _declared("runs", "gauge", "{run}", "Runs that the actor knows, by state.")
CLIENTS: Final = _declared("clients", "gauge", "{client}", "Processes that report, by state.")
SENT: Final = _declared("export.sent", "counter", "{point}", "Points that a backend has taken.")
REJECTED: Final = _declared(
    "export.rejected", "counter", "{point}", "Points that a backend refused in a message it took."
)
FAILED: Final = _declared("export.failed", "counter", "{attempt}", "Attempts that failed.")
RETRIED: Final = _declared(
    "export.retried", "counter", "{attempt}", "Attempts that followed a failed one."
)
EXPORT_DROPPED: Final = _declared(
    "export.dropped", "counter", "{point}", "Points given up for a backend, by reason."
)
BACKLOG: Final = _declared("export.backlog", "gauge", "{point}", "Points that wait for a backend.")
BACKLOG_SIZE: Final = _declared(
    "export.backlog.size", "gauge", "By", "What waits for a backend takes."
)
BACKLOG_AGE: Final = _declared(
    "export.backlog.age", "gauge", "s", "Age of the oldest value that waits for a backend."
)
UP: Final = _declared("export.up", "gauge", "", "Whether a backend takes data: 1 or 0.")
RESTARTS: Final = _declared(
    "restarts", "gauge", "{restart}", "Earlier lives of the actor on the same state file."
)
COMMITS: Final = _declared("commit.count", "counter", "{commit}", "Commits to the state file.")
COMMIT_DURATION: Final = _declared(
    "commit.duration", "gauge", "s", "How long the last commit to the state file took."
)
STATE_SIZE: Final = _declared("state.size", "gauge", "By", "Size of the state file on disk.")
DEGRADED: Final = _declared(
    "state.degraded", "gauge", "", "Whether commits go to memory alone: 1 or 0."
)
HOSTS: Final = _declared("hosts", "gauge", "{host}", "Hosts of the last sweep, by state.")


def resource_of_itself(
    state: Mapping[str, Any], service_name: str, time_unix_nano: int
) -> ResourceData:
    """Return the service's own series at this moment, under a resource of its own.

    They belong to no run, so the resource names none; totals count from this process's start.

    Args:
        state: What `TelemetryCore.state` returns.
        service_name: `service.name` of the configuration; the resource's is derived from it.
        time_unix_nano: Time of every point.
    """
    start = int(state["started_unix_nano"])
    resource: dict[str, AttributeValue] = {
        "service.name": f"{service_name}-telemetry",
        "service.version": str(state["version"]),
        "service.instance.id": str(state["incarnation"]),
        "host.name": str(state["host"]),
        "process.pid": int(state["pid"]),
    }
    metrics = [
        MetricData(
            declaration,
            [
                NumberPoint(
                    attributes,
                    start if declaration.kind == "counter" else 0,
                    max(time_unix_nano, start),
                    float(value),
                )
                for attributes, value in values
            ],
        )
        for declaration, values in _values(state)
        if values
    ]
    return ResourceData(resource, metrics)


def _values(state: Mapping[str, Any]) -> Iterable[tuple[Declaration, list[Value]]]:
    ingest, hosts, disk = state["ingest"], state["hosts"], state["durability"]
    yield ACCEPTED, [({}, ingest["accepted"])]
    yield DROPPED, _by(_REASON, ingest["dropped"])
    yield DUPLICATES, [({}, ingest["duplicate_batches"])]
    yield SERIES, [({}, ingest["series"])]
    yield RUNS, _by(_STATE, _counted(row["state"] for row in state["runs"]))
    yield CLIENTS, _by(_STATE, _counted(row["state"] for row in state["clients"]))
    yield from _of_exporters(state["exporters"])
    yield RESTARTS, [({}, disk["restarts"])]
    yield COMMITS, [({}, disk["commits"])]
    yield COMMIT_DURATION, [({}, disk["last_commit_s"])]
    yield STATE_SIZE, [({}, disk["size_bytes"])]
    yield DEGRADED, [({}, disk["is_degraded"])]
    yield HOSTS, [] if hosts is None else _by(_STATE, hosts["hosts"])


def _of_exporters(
    exporters: Iterable[Mapping[str, Any]],
) -> Iterable[tuple[Declaration, list[Value]]]:
    rows = [(each, {_EXPORTER: str(each["name"])}) for each in exporters]
    for declaration, key in (
        (SENT, "sent"),
        (REJECTED, "rejected"),
        (FAILED, "failed"),
        (RETRIED, "retried"),
        (BACKLOG, "backlog_points"),
        (BACKLOG_SIZE, "backlog_bytes"),
        (BACKLOG_AGE, "backlog_age_s"),
    ):
        yield declaration, [(attributes, each[key]) for each, attributes in rows]
    yield UP, [(attributes, each["state"] != "down") for each, attributes in rows]
    yield (
        EXPORT_DROPPED,
        [
            ({**attributes, _REASON: reason}, count)
            for each, attributes in rows
            for reason, count in each["dropped"].items()
        ],
    )


def _by(key: str, counts: Mapping[str, int]) -> list[Value]:
    return [({key: name}, count) for name, count in counts.items()]


def _counted(names: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts
