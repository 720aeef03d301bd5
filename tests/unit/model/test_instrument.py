# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import math
from typing import Any

import pytest

from nemo_telemetry_actor.model.instrument import (
    DEFAULT_BOUNDARIES,
    INSTRUMENT_KINDS,
    Declaration,
    MetricSpec,
    Scope,
    declaration_of,
    is_observable,
)


def _callback(_options: Any) -> tuple[()]:
    return ()


def test_a_spec_may_be_written_by_position() -> None:
    spec = MetricSpec("score", "rl.env.score", "histogram", "s", "How well.", None, (1, 2))

    assert spec.boundaries == (1.0, 2.0)
    assert MetricSpec("score", "rl.env.score").kind == "gauge"


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        MetricSpec("score", "rl.env.score").key = "x"  # type: ignore[misc]  # that is the test


@pytest.mark.parametrize("kind", INSTRUMENT_KINDS)
def test_every_kind_can_be_declared(kind: Any) -> None:
    callback = _callback if is_observable(kind) else None

    assert MetricSpec("a", "rl.a", kind, callback=callback).kind == kind


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"key": ""}, "MetricSpec.key must be a non-empty string"),
        ({"key": 1}, "MetricSpec.key must be a non-empty string"),
        ({"name": ""}, "MetricSpec.name must be a non-empty string"),
        ({"name": None}, "MetricSpec.name must be a non-empty string"),
        ({"kind": "summary"}, "is not one of gauge, histogram"),
        ({"kind": "observable_gauge"}, "requires a callback"),
        ({"callback": _callback}, "only used by observable kinds"),
        ({"name": "1a"}, "is not allowed by OpenTelemetry"),
        ({"name": "a b"}, "is not allowed by OpenTelemetry"),
        ({"name": "a\n"}, "is not allowed by OpenTelemetry"),
        ({"name": "a" * 256}, "at most 255"),
        ({"unit": "é"}, "must be ASCII"),
        ({"unit": "s" * 64}, "at most 63"),
        ({"unit": None}, "must be ASCII"),
        ({"description": None}, "must be text"),
        ({"description": "\ud800"}, "UTF-8 can carry"),
        ({"boundaries": (1.0,)}, "only used by a histogram"),
        ({"kind": "histogram", "boundaries": (1.0, 1.0)}, "must ascend strictly"),
        ({"kind": "histogram", "boundaries": (2.0, 1.0)}, "must ascend strictly"),
        ({"kind": "histogram", "boundaries": (1.0, math.inf)}, "must be finite"),
        ({"kind": "histogram", "boundaries": (math.nan,)}, "must be finite"),
    ],
)
def test_a_wrong_spec_says_what_is_wrong(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MetricSpec(**{"key": "a", "name": "rl.a", **fields})


@pytest.mark.parametrize(
    ("spec", "boundaries"),
    [
        (MetricSpec("a", "rl.a", "histogram"), DEFAULT_BOUNDARIES),
        (MetricSpec("a", "rl.a", "histogram", boundaries=()), ()),
        (MetricSpec("a", "rl.a", "histogram", boundaries=(1,)), (1.0,)),
        (MetricSpec("a", "rl.a"), ()),
    ],
)
def test_what_travels_of_a_spec_names_its_boundaries(
    spec: MetricSpec, boundaries: tuple[float, ...]
) -> None:
    assert declaration_of(spec, Scope("s")) == Declaration(
        "rl.a", spec.kind, "", "", boundaries, Scope("s")
    )
