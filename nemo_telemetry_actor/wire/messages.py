# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What a client and the actor say to each other.

Every message is msgpack of a Struct whose fields are sent by position. The rule that lets an old
client meet a new actor, and the reverse: new fields go last, with a default; a field is never
removed, reordered or given another meaning. A reader ignores fields that it does not know. A change
that cannot keep this raises `WIRE_VERSION`, and a reader refuses versions above its own.
"""

from typing import Any, Final, Literal, TypeVar

import msgspec

from nemo_telemetry_actor.errors import WireError
from nemo_telemetry_actor.model.instrument import Declaration

WIRE_VERSION: Final = 1

AckStatus = Literal["ok", "unknown_client", "refused"]


class Hello(msgspec.Struct, frozen=True, array_like=True):
    """A client asks to join, or announces itself again after its lease was lost.

    Args:
        version: `WIRE_VERSION` of the client.
        client_id: Unique for the life of the client object; 32 hex digits.
        job_id: Ray job of the process, hex; empty when it has none.
        run_id: The run it insists on: by argument, by environment, or by an earlier welcome.
        scheduler_id: `SLURM_JOB_ID`, used when neither `run_id` nor the job names a run.
        opens_run: Whether this is the run's driver: the run ends with it.
        run_attributes: Resource attributes of the whole run; from its driver.
        process_attributes: Resource attributes of this process; they win over the run's.
        first_sequence: The lowest sequence that may still arrive; what is below was acknowledged.
    """

    version: int
    client_id: str
    job_id: str
    run_id: str
    scheduler_id: str
    opens_run: bool
    run_attributes: dict[str, Any]
    process_attributes: dict[str, Any]
    first_sequence: int = 0


class Welcome(msgspec.Struct, frozen=True, array_like=True):
    """The actor's answer to `Hello`: the run joined, and how to behave."""

    version: int
    run_id: str
    incarnation: str
    flush_interval_s: float
    observe_interval_s: float
    buffer_points: int
    series_per_metric: int
    lease_s: float


class GaugePoints(msgspec.Struct, frozen=True, array_like=True, tag="g"):
    """Values of one gauge series, each with its own time; columns of equal length."""

    attributes: bytes
    times_unix_nano: list[int]
    values: list[float]


class SumDelta(msgspec.Struct, frozen=True, array_like=True, tag="s"):
    """What was added to one counter or up-down counter series between two times."""

    attributes: bytes
    delta: float
    first_unix_nano: int
    last_unix_nano: int


class HistogramDelta(msgspec.Struct, frozen=True, array_like=True, tag="h"):
    """What was recorded into one histogram series between two times."""

    attributes: bytes
    counts: list[int]
    sum: float
    min: float
    max: float
    first_unix_nano: int
    last_unix_nano: int


class MetricBlock(msgspec.Struct, frozen=True, array_like=True):
    """Everything new of one metric; `declaration` is an encoded `Declaration`.

    The declaration rides along as bytes, so that a batch needs no other batch, and a reader that
    has seen these bytes before need not decode them.
    """

    declaration: bytes
    points: list[GaugePoints | SumDelta | HistogramDelta]


class ObservedSet(msgspec.Struct, frozen=True, array_like=True):
    """All points of one collection of an observable; replaces the set before it.

    `sequence` orders the sets of one metric: batches may arrive out of order, and an older set
    never replaces a newer one.
    """

    declaration: bytes
    sequence: int
    time_unix_nano: int
    points: list[tuple[bytes, float]]


class Registration(msgspec.Struct, frozen=True, array_like=True):
    """One worker group's places: nodes by id, or bundles whose nodes the actor looks up.

    Args:
        prefix: The worker group's name.
        node_ids: Ray node ids in hex.
        bundles: Placement group ids in hex, each with the index of one bundle.
    """

    prefix: str
    node_ids: list[str] = []
    bundles: list[tuple[str, int]] = []


class PlacementSet(msgspec.Struct, frozen=True, array_like=True):
    """Every worker group that one client vouches for at present; replaces the set before it.

    `sequence` orders the sets of one client: batches may arrive out of order, and an older set
    never replaces a newer one. A client without groups sends an empty set, once.
    """

    sequence: int
    registrations: list[Registration]


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """What one client sends at once; without content it is a heartbeat.

    Args:
        version: `WIRE_VERSION` of the client.
        client_id: Who sends.
        sequence: Counts up by one a batch. Applied once, however often it arrives.
        metrics: New measurements, folded.
        observed: Collections of observables.
        closing: What ends with this batch: nothing, the client, or (from a driver) its run.
        placements: Every worker group that the client vouches for, when that has changed.
    """

    version: int
    client_id: str
    sequence: int
    metrics: list[MetricBlock] = []
    observed: list[ObservedSet] = []
    closing: Literal["", "client", "run"] = ""
    placements: PlacementSet | None = None


class Ack(msgspec.Struct, frozen=True, array_like=True):
    """The actor's answer to a batch, after what it did is committed.

    `unknown_client` means nothing was applied: say hello and send the same batch again.
    `refused` means that it can never be applied (`message` says why): do not send it again.
    """

    status: AckStatus
    flush_interval_s: float
    message: str = ""


_T = TypeVar("_T")
_encoder = msgspec.msgpack.Encoder()
_decoders: dict[type, msgspec.msgpack.Decoder[Any]] = {
    kind: msgspec.msgpack.Decoder(kind)
    for kind in (Hello, Welcome, Batch, Ack, Declaration, PlacementSet)
}


def encode(message: msgspec.Struct) -> bytes:
    """Return the bytes of a message."""
    return _encoder.encode(message)


def decode(payload: bytes, kind: type[_T]) -> _T:
    """Read a message of the given kind.

    Raises:
        WireError: The bytes are no such message, or of a version above `WIRE_VERSION`.
    """
    try:
        message: _T = _decoders[kind].decode(payload)
    except (msgspec.DecodeError, TypeError, ValueError, RecursionError) as error:
        raise WireError(f"{len(payload)} bytes are no {kind.__name__}: {error}") from error
    version = getattr(message, "version", WIRE_VERSION)
    if version > WIRE_VERSION:
        raise WireError(
            f"a {kind.__name__} of wire version {version} cannot be read: this build knows up to "
            f"{WIRE_VERSION}; install one version of nemo_telemetry_actor on every node"
        )
    return message
