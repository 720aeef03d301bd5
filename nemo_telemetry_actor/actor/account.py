# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The whole state in builtins, for pages and commands; nothing in it is secret."""

import os
import socket
from typing import Any

import msgspec

from nemo_telemetry_actor.actor.durability import Durability
from nemo_telemetry_actor.export.delivery import Delivery
from nemo_telemetry_actor.ingest.admit import Admission
from nemo_telemetry_actor.registry.producers import Producer, Run
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.version import __version__


def process_rows() -> dict[str, Any]:
    """Return where the actor runs."""
    return {"version": __version__, "host": socket.gethostname(), "pid": os.getpid()}


def run_row(run: Run) -> dict[str, Any]:
    """Return one run."""
    return {
        "run_id": run.run_id,
        "state": "open" if run.is_open else "ended",
        "opened_unix_nano": run.opened_unix_nano,
        "ended_unix_nano": run.ended_unix_nano,
        "clients": sum(each.has_lease for each in run.producers.values()),
        "series": sum(each.series_count for each in run.everyone()),
        "points": sum(each.accepted for each in run.producers.values()),
        "attributes": dict(run.attributes),
    }


def client_row(producer: Producer) -> dict[str, Any]:
    """Return one client."""
    is_live = producer.has_lease
    return {
        "client_id": producer.client_id,
        "run_id": producer.run.run_id,
        "host": producer.attributes.get("host.name"),
        "pid": producer.attributes.get("process.pid"),
        "worker_group": producer.attributes.get("rl.worker_group"),
        "rank": producer.attributes.get("nv.dl.rank"),
        "series": producer.series_count,
        "points": producer.accepted,
        "heard_unix_nano": producer.heard_unix_nano,
        "state": "closed" if producer.is_closed else "live" if is_live else "lost",
    }


def ingest_row(admission: Admission, registry: Registry, undecodable: int) -> dict[str, Any]:
    """Return what came in and what was dropped at the door, by reason."""
    dropped = dict(admission.dropped)
    if undecodable:
        dropped["decode_error"] = undecodable
    return {
        "accepted": admission.accepted,
        "duplicate_batches": admission.duplicates,
        "dropped": dropped,
        "series": registry.series_count,
    }


def durability_row(durability: Durability) -> dict[str, Any]:
    """Return how commits reach the disk."""
    return {
        "restarts": durability.restarts,
        "commits": durability.commits,
        "last_commit_s": durability.last_commit_s,
        "size_bytes": durability.size_bytes,
        "is_degraded": durability.is_degraded,
    }


def exporter_row(delivery: Delivery) -> dict[str, Any]:
    """Return one push exporter."""
    row: dict[str, Any] = msgspec.to_builtins(delivery.state())
    return row
