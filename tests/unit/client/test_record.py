# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import logging
import threading
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.catalogue.vocabulary import GROUP_NAME, default_vocabulary
from nemo_telemetry_actor.client import intake as intake_module
from nemo_telemetry_actor.client import telemetry as telemetry_module
from nemo_telemetry_actor.client.groups import SELF_GROUP
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.model.instrument import MetricSpec
from nemo_telemetry_actor.testing import InProcess
from tests.unit.client.conftest import Join

SPECS = (
    MetricSpec("score", "rl.env.score"),
    MetricSpec("tokens", "rl.env.tokens", "counter"),
    MetricSpec("group", "rl.env.group"),
    MetricSpec("values", "rl.env.values"),
    MetricSpec("meter", "rl.env.meter"),
    MetricSpec("attributes", "rl.env.attributes"),
)


@pytest.fixture
def telemetry(core: TelemetryCore, join: Join) -> Telemetry:
    return ready(join(core, strict=False))


def ready(telemetry: Telemetry) -> Telemetry:
    telemetry.register_metric_group("env", SPECS)
    return telemetry


def arrived(core: TelemetryCore, telemetry: Telemetry) -> dict[str, float]:
    assert telemetry.flush()
    return {
        row["name"] + "".join(f" {key}={text}" for key, text in row["attributes"].items()): row[
            "value"
        ]
        for row in core.series()
    }


def dropped(reason: str, count: float) -> dict[str, float]:
    return {f"nemo_telemetry.client.dropped reason={reason}": count}


def test_keywords_win_over_the_mapping_and_none_is_skipped(
    core: TelemetryCore, telemetry: Telemetry
) -> None:
    telemetry.record("env", {"score": 1.0, "tokens": None}, score=2.0, meter=None)

    assert arrived(core, telemetry) == {"rl.env.score": 2.0}


def test_a_key_may_be_called_group_values_or_meter(
    core: TelemetryCore, telemetry: Telemetry
) -> None:
    telemetry.record("env", group=1.0, values=2.0, meter=3.0)

    assert arrived(core, telemetry) == {
        "rl.env.group": 1.0,
        "rl.env.values": 2.0,
        "rl.env.meter": 3.0,
    }


def test_a_key_called_attributes_goes_through_the_mapping(
    core: TelemetryCore, telemetry: Telemetry
) -> None:
    telemetry.record("env", {"attributes": 1.0}, attributes={"a": "b"})

    assert arrived(core, telemetry) == {"rl.env.attributes a=b": 1.0}


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        (np.float32(0.5), 0.5),
        (np.array([7.0]), 7.0),
        (Decimal("0.25"), 0.25),
    ],
)
def test_numbers_of_other_libraries_are_read(
    core: TelemetryCore, telemetry: Telemetry, value: Any, number: float
) -> None:
    telemetry.record("env", score=value)

    assert arrived(core, telemetry) == {"rl.env.score": number}


@pytest.mark.parametrize("value", [True, np.bool_(True), "1", [1.0], object(), 1j])
def test_what_is_no_number_is_dropped_counted_and_said_once(
    core: TelemetryCore, telemetry: Telemetry, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        telemetry.record("env", score=value, tokens=1.0)

    assert arrived(core, telemetry) == {"rl.env.tokens": 2.0, **dropped("bad_value", 2.0)}
    assert caplog.text.count("which is no number") == 1


@pytest.mark.parametrize("group", ["nope", SELF_GROUP])
def test_a_group_that_is_not_registered_is_refused_and_said_once(
    core: TelemetryCore, telemetry: Telemetry, group: str, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        telemetry.record(group, {"a": 1.0}, b=2.0)
    telemetry.record(group)

    assert arrived(core, telemetry) == dropped("undeclared", 5.0)
    assert caplog.text.count("is not registered") == 1


@pytest.mark.parametrize("attributes", [5, "text", [1], object()])
def test_attributes_that_are_no_mapping_leave_the_value_without_any(
    core: TelemetryCore, telemetry: Telemetry, attributes: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        telemetry.record("env", score=1.0, attributes=attributes)

    assert arrived(core, telemetry) == {"rl.env.score": 1.0}
    assert caplog.text.count("cannot be read, so its values are recorded without them") == 1


def test_the_caller_may_go_on_using_its_dicts(core: TelemetryCore, telemetry: Telemetry) -> None:
    values, attributes = {"score": 1.0}, {"a": "b"}

    telemetry.record("env", values, attributes=attributes)
    values["score"] = 9.0
    attributes["a"] = "z"

    assert arrived(core, telemetry) == {"rl.env.score a=b": 1.0}


def test_values_that_are_no_mapping_skip_the_call(
    core: TelemetryCore, telemetry: Telemetry, caplog: pytest.LogCaptureFixture
) -> None:
    values: Any = 5
    telemetry.record("env", values)
    telemetry.record("env", score=1.0)

    assert arrived(core, telemetry) == {"rl.env.score": 1.0, **dropped("bad_value", 1.0)}
    assert "record failed (1 so far), training goes on" in caplog.text


def test_strict_lets_a_bug_in_record_through(core: TelemetryCore, join: Join) -> None:
    telemetry = ready(join(core))
    values: Any = 5

    with pytest.raises(AttributeError):
        telemetry.record("env", values)


def test_an_empty_call_does_nothing(core: TelemetryCore, telemetry: Telemetry) -> None:
    telemetry.record("env")
    telemetry.record("env", {}, attributes={"a": 1})

    assert telemetry.undelivered == 0


def test_registering_a_group_again_warns_anew(
    telemetry: Telemetry, caplog: pytest.LogCaptureFixture
) -> None:
    def wrong() -> None:
        telemetry.record("env", nope=1.0, score="x", attributes={"a": object()}, tokens=1.0)
        telemetry.flush()

    caplog.set_level(logging.WARNING)
    wrong()
    once = len(caplog.records)
    wrong()
    assert len(caplog.records) == once

    telemetry.register_metric_group("env", SPECS, allow_override=True)
    wrong()

    assert len(caplog.records) == 2 * once
    assert once == 3


def test_groups_can_be_listed_and_forgotten(telemetry: Telemetry) -> None:
    assert telemetry.registered_metric_groups() == {"env": SPECS}

    telemetry.unregister_metric_group("env")

    assert telemetry.registered_metric_groups() == {}
    with pytest.raises(ValueError, match="is not registered"):
        telemetry.unregister_metric_group("env")


def test_values_arrive_exactly_from_many_threads(core: TelemetryCore, telemetry: Telemetry) -> None:
    def work() -> None:
        for _ in range(500):
            telemetry.record("env", tokens=1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert arrived(core, telemetry) == {"rl.env.tokens": 2000.0}


def test_a_full_buffer_is_folded_by_whoever_fills_it_and_nothing_is_lost(
    core: TelemetryCore, join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_module, "_FIRST_BUFFER_POINTS", 8)
    monkeypatch.setattr(intake_module, "_SLICE_ENTRIES", 4)
    way = InProcess(core)
    way.hanging = threading.Event()
    telemetry = ready(join(way))
    assert way.wait_until(lambda: len(way.hellos) == 1)

    for _ in range(100):
        telemetry.record("env", tokens=1.0)

    assert len(telemetry._buffer) <= 8
    way.hanging.set()
    assert arrived(core, telemetry) == {"rl.env.tokens": 100.0}


# ---- tee


def _logger_key() -> tuple[str, str]:
    row = next(row for row in default_vocabulary().teed() if row.kind == "gauge")
    return row.logger_key, row.name


def test_a_logger_dict_becomes_the_declared_series(
    core: TelemetryCore, telemetry: Telemetry
) -> None:
    key, name = _logger_key()

    telemetry.tee({key: 0.5, "unheard of": 1.0}, "train")
    telemetry.tee({key: 9.0}, "validation")

    assert arrived(core, telemetry) == {name: 0.5}


class _HostileMapping(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("no")

    def __len__(self) -> int:
        raise RuntimeError("no")


def test_a_failing_dict_is_counted_and_the_next_one_arrives(
    core: TelemetryCore, telemetry: Telemetry, caplog: pytest.LogCaptureFixture
) -> None:
    key, name = _logger_key()

    telemetry.tee(_HostileMapping(a=1.0), "train")
    telemetry.tee({key: 0.5}, "train")

    assert arrived(core, telemetry)[name] == 0.5
    assert "training goes on" in caplog.text


def test_strict_lets_a_failing_dict_through(core: TelemetryCore, join: Join) -> None:
    with pytest.raises(RuntimeError, match="no"):
        join(core).tee(_HostileMapping(a=1.0), "train")


def test_a_catalogue_that_cannot_be_declared_turns_the_tee_off_for_good_and_nothing_else(
    core: TelemetryCore, telemetry: Telemetry, caplog: pytest.LogCaptureFixture
) -> None:
    key, name = _logger_key()
    telemetry.register_metric_group("mine", [MetricSpec("x", name, "counter")])

    for _ in range(2):
        telemetry.tee({key: 0.5}, "train")
    telemetry.unregister_metric_group("mine")
    telemetry.tee({key: 0.5}, "train")
    telemetry.record("env", score=1.0)

    assert arrived(core, telemetry) == {"rl.env.score": 1.0}
    assert caplog.text.count("tee failed") == 1


def test_strict_lets_a_failing_tee_through(core: TelemetryCore, join: Join) -> None:
    telemetry = join(core)
    telemetry.register_metric_group("mine", [MetricSpec("x", _logger_key()[1], "counter")])

    with pytest.raises(ValueError, match="rename"):
        telemetry.tee({}, "train")


def test_a_catalogue_group_that_the_user_declared_stays(
    core: TelemetryCore, telemetry: Telemetry
) -> None:
    telemetry.register_metric_group(GROUP_NAME, [MetricSpec("x", "rl.x")])

    telemetry.tee({"x": 1.0}, "train")

    assert telemetry.registered_metric_groups()[GROUP_NAME] == (MetricSpec("x", "rl.x"),)
