# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import io

import pytest

from nemo_telemetry_actor.errors import ExportError, RetryableExportError
from nemo_telemetry_actor.export.console import ConsoleExporter
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.model.points import HistogramPoint, MetricData, NumberPoint
from tests.snapshots import T0, gauge, histogram, snapshot


class BrokenPipe(io.StringIO):
    def write(self, text: str, /) -> int:
        raise BrokenPipeError(32, "Broken pipe")


async def test_each_point_is_one_readable_line() -> None:
    stream = io.StringIO()
    given = snapshot(
        gauge("rl.reward", [0.5, 0.25], {"rl.env": "math", "ranks": (0, 1)}),
        MetricData(Declaration("mem", "gauge", "By"), [NumberPoint({}, 0, T0, 1.5e12)]),
        histogram(
            "wait",
            (1.0,),
            HistogramPoint({}, T0, T0, 4, 8.0, 0.5, 4.0, (1, 3)),
            HistogramPoint({}, T0, T0, 0, 0.0, 0.0, 0.0, (0, 0)),
        ),
    )

    await ConsoleExporter(stream).export(given)

    assert stream.getvalue().splitlines() == [
        '2026-09-21T14:13:20.000Z run-1 rl.reward{rl.env="math",ranks=[0, 1]} 0.5',
        '2026-09-21T14:13:21.000Z run-1 rl.reward{rl.env="math",ranks=[0, 1]} 0.25',
        "2026-09-21T14:13:20.000Z run-1 mem 1500000000000 By",
        "2026-09-21T14:13:20.000Z run-1 wait count=4 mean=2 min=0.5 max=4 s",
        "2026-09-21T14:13:20.000Z run-1 wait count=0 s",
    ]


async def test_no_text_reaches_the_terminal_as_a_command() -> None:
    stream = io.StringIO()
    given = snapshot(
        gauge("x", [1.0], {"\x1b[2J": "\x1b]0;\n\u20ac"}), resource={"nemo.run.id": "\x9b"}
    )

    await ConsoleExporter(stream).export(given)

    (line,) = stream.getvalue().splitlines()
    assert line.isascii()
    assert line.isprintable()


@pytest.mark.parametrize(
    ("stream", "kind"), [(BrokenPipe(), RetryableExportError), (io.StringIO(), ExportError)]
)
async def test_a_stream_that_cannot_be_written_is_an_export_error(
    stream: io.StringIO, kind: type[ExportError]
) -> None:
    if kind is ExportError:
        stream.close()

    with pytest.raises(ExportError) as caught:
        await ConsoleExporter(stream).export(snapshot(gauge("x", [1.0])))

    assert type(caught.value) is kind
