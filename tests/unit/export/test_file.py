# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import contextlib
import json
import math
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from nemo_telemetry_actor.config import FileConfig
from nemo_telemetry_actor.errors import MessageTooLargeError, RetryableExportError
from nemo_telemetry_actor.export.encode import to_request
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.export.file import FileExporter, append_line, rotate, to_line
from nemo_telemetry_actor.model.points import HistogramPoint
from tests.snapshots import T0, gauge, histogram, numbers, snapshot


def _refuse_constant(text: str) -> NoReturn:
    raise AssertionError(f"{text} is not JSON")


def _strict(line: bytes) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(line, parse_constant=_refuse_constant)
    return decoded


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def _files(directory: Path) -> dict[str, list[bytes]]:
    return {path.name: _lines(path) for path in directory.iterdir()}


def test_a_line_is_otlp_json() -> None:
    counter = numbers("steps", "counter", [7], {"rl.env": "math", "rank": 3}, start=5)

    decoded = _strict(to_line(snapshot(counter)))

    assert decoded == {
        "resourceMetrics": [
            {
                "resource": {
                    "attributes": [{"key": "nemo.run.id", "value": {"stringValue": "run-1"}}]
                },
                "scopeMetrics": [
                    {
                        "scope": {"name": "nemo_telemetry_actor"},
                        "metrics": [
                            {
                                "name": "steps",
                                "sum": {
                                    "aggregationTemporality": 2,
                                    "isMonotonic": True,
                                    "dataPoints": [
                                        {
                                            "attributes": [
                                                {"key": "rl.env", "value": {"stringValue": "math"}},
                                                {"key": "rank", "value": {"intValue": "3"}},
                                            ],
                                            "startTimeUnixNano": "5",
                                            "timeUnixNano": str(T0),
                                            "asDouble": 7.0,
                                        }
                                    ],
                                },
                            }
                        ],
                    }
                ],
            }
        ]
    }


def test_a_line_is_one_line_of_strict_json_whatever_the_values() -> None:
    text = 'a"b\\c\n\r\t\x00\u2028\u2029\x85\u20ac\U0001f600\x7f'
    extremes = HistogramPoint({}, 1, 2, 2, math.inf, -math.inf, math.nan, (2, 0))
    given = snapshot(
        gauge("g", [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308]),
        gauge("t", [1.0], {text: text, "n": math.nan, "i": 2**63 - 1}),
        histogram("h", (0.1,), extremes),
        resource={"weird": text},
    )

    line = to_line(given)

    assert line.isascii()
    assert line.decode().splitlines() == [line.decode().rstrip("\n")]
    _strict(line)
    back = json_format.Parse(line, ExportMetricsServiceRequest())
    assert back.SerializeToString() == to_request(given).SerializeToString()


async def test_each_snapshot_is_appended_to_a_private_file_in_a_new_directory(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a" / "b" / "metrics.jsonl"
    exporter = FileExporter(FileConfig(), path)
    snapshots = [snapshot(gauge("x", [value])) for value in (1.0, 2.0)]

    results = [await exporter.export(each) for each in snapshots]
    await exporter.shutdown()

    assert results == [ExportResult(), ExportResult()]
    assert _lines(path) == [to_line(each) for each in snapshots]
    assert path.stat().st_mode & 0o777 == 0o600
    assert exporter.name == f"file {path}"


async def test_full_files_are_numbered_and_the_oldest_goes(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    exporter = FileExporter(FileConfig(max_bytes=4096, max_files=3), path)
    snapshots = [snapshot(gauge("x", [float(i)] * 50)) for i in range(5)]
    assert 2048 < len(to_line(snapshots[0])) <= 4096

    for each in snapshots:
        await exporter.export(each)

    assert _files(tmp_path) == {
        "m.jsonl": [to_line(snapshots[4])],
        "m.jsonl.1": [to_line(snapshots[3])],
        "m.jsonl.2": [to_line(snapshots[2])],
    }


@pytest.mark.parametrize("max_files", [1, 2, 3])
def test_a_rotation_leaves_room_for_one_new_file_within_the_bound(
    tmp_path: Path, max_files: int
) -> None:
    path = tmp_path / "m"
    for index, name in enumerate(["m", "m.1", "m.2", "m.3", "m.4"]):
        (tmp_path / name).write_text(str(index))

    rotate(path, max_files)

    kept = {each.name: each.read_text() for each in tmp_path.iterdir()}
    assert kept == {f"m.{i}": str(i - 1) for i in range(1, max_files)}


async def test_a_line_longer_than_a_file_is_too_large(tmp_path: Path) -> None:
    exporter = FileExporter(FileConfig(max_bytes=4096), tmp_path / "m")

    with pytest.raises(MessageTooLargeError, match="max_bytes is 4096"):
        await exporter.export(snapshot(gauge("x", [0.5] * 500)))

    assert not _files(tmp_path)


async def test_a_crash_in_the_middle_of_a_line_costs_that_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(b'{"first":1}\n{"half')
    given = snapshot(gauge("x", [1.0]))

    await FileExporter(FileConfig(), path).export(given)

    assert _lines(path) == [b'{"first":1}\n', b'{"half\n', to_line(given)]


async def test_a_file_that_another_program_moves_away_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "m"
    exporter = FileExporter(FileConfig(), path)
    given = snapshot(gauge("x", [1.0]))
    await exporter.export(given)

    path.rename(tmp_path / "moved")
    await exporter.export(given)

    assert _lines(path) == _lines(tmp_path / "moved") == [to_line(given)]


async def test_a_place_that_cannot_be_written_can_be_tried_again(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("no directory")
    exporter = FileExporter(FileConfig(), blocked / "m")
    given = snapshot(gauge("x", [1.0]))

    with pytest.raises(RetryableExportError, match="blocked"):
        await exporter.export(given)
    blocked.unlink()
    await exporter.export(given)

    assert _lines(blocked / "m") == [to_line(given)]


@contextlib.contextmanager
def file_size_limit(limit_bytes: int) -> Iterator[None]:
    """Bound the size of files this process writes: what a full disk does, for any user.

    No fixture: pytest itself may be writing to a file between a test and its fixtures' end.
    """
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_line_that_a_full_disk_cut_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "m"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    append_line(descriptor, b"first\n")

    with file_size_limit(100), pytest.raises(OSError, match="too large"):
        append_line(descriptor, b"x" * 100 + b"\n")
    append_line(descriptor, b"third\n")

    os.close(descriptor)
    assert path.read_bytes() == b"first\nthird\n"
