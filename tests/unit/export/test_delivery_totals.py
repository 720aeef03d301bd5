# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0

import pytest

from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter
from tests.unit.export.list_source import DOWN, ListSource, SizeLimited, delivery_of, values_of


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


# ---- size


async def test_a_message_that_is_too_large_goes_in_halves(clock: FakeClock) -> None:
    exporter = SizeLimited(limit=30)
    delivery = delivery_of(exporter, ListSource(100), clock)

    assert await delivery.run_once()

    assert exporter.sizes == [100, 50, 25, 25, 25, 25]
    assert values_of(exporter) == [float(i) for i in range(100)]
    assert delivery.state().failed == 0


async def test_the_size_that_passed_is_kept_and_larger_ones_are_tried_again(
    clock: FakeClock,
) -> None:
    source, exporter = ListSource(100), SizeLimited(limit=30)
    delivery = delivery_of(exporter, source, clock)
    await delivery.run_once()
    exporter.sizes.clear()

    source.head = 150
    await delivery.run_once()
    exporter.limit = 100
    source.head = 350
    await delivery.run_once()

    assert exporter.sizes == [50, 25, 25, 50, 50, 50, 50]


async def test_one_point_that_is_too_large_is_dropped_and_leaves_no_mark(clock: FakeClock) -> None:
    source, exporter = ListSource(8), SizeLimited(limit=100, poison=3.0)
    delivery = delivery_of(exporter, source, clock)

    assert await delivery.run_once()

    assert values_of(exporter) == [0.0, 1.0, 2.0, 4.0, 5.0, 6.0, 7.0]
    assert delivery.state().dropped == {"refused": 1}
    assert exporter.sizes == [8, 4, 2, 2, 1, 1, 4]


async def test_totals_that_are_too_large_together_go_in_halves_each_once(clock: FakeClock) -> None:
    source, exporter = ListSource(), SizeLimited(limit=2)
    source.totals = {f"rl.c{i}": (float(i), 1) for i in range(7)}
    delivery = delivery_of(exporter, source, clock)

    assert await delivery.run_once()

    assert [values_of(exporter, f"rl.c{i}") for i in range(7)] == [[float(i)] for i in range(7)]
    assert exporter.sizes == [7, 3, 1, 1, 1, 3, 1, 1, 1, 1]


# ---- totals


async def test_totals_go_when_they_changed(clock: FakeClock) -> None:
    source, exporter = ListSource(), InMemoryExporter()
    source.totals = {"rl.a": (1.0, 1), "rl.b": (1.0, 1)}
    delivery = delivery_of(exporter, source, clock)

    await delivery.run_once()
    source.totals["rl.b"] = (2.0, 2)
    await delivery.run_once()
    await delivery.run_once()

    assert (values_of(exporter, "rl.a"), values_of(exporter, "rl.b")) == ([1.0], [1.0, 2.0])
    assert delivery.revision == 2


async def test_totals_go_once_a_minute_also_when_they_do_not_change(clock: FakeClock) -> None:
    source, exporter = ListSource(), InMemoryExporter()
    source.totals = {"rl.a": (1.0, 1)}
    delivery = delivery_of(exporter, source, clock)

    for _ in range(13):
        await delivery.run_once()
        clock.advance(10.0)

    assert values_of(exporter, "rl.a") == [1.0, 1.0, 1.0]
    assert [everything for _, everything in source.asked] == ([False] * 6 + [True]) + (
        [False] * 5 + [True]
    )


async def test_totals_that_did_not_go_are_read_anew(clock: FakeClock) -> None:
    source, exporter = ListSource(), InMemoryExporter(outcomes=[DOWN])
    source.totals = {"rl.a": (1.0, 1)}
    delivery = delivery_of(exporter, source, clock)

    assert not await delivery.run_once()
    assert delivery.revision == 0
    source.totals = {"rl.a": (3.0, 2)}
    clock.advance(2.0)

    assert await delivery.run_once()
    assert values_of(exporter, "rl.a") == [3.0]


async def test_totals_do_not_wait_behind_a_backlog_of_points(clock: FakeClock) -> None:
    source, exporter = ListSource(1), InMemoryExporter()
    source.totals = {"rl.a": (1.0, 1)}

    await delivery_of(exporter, source, clock).run_once()

    names = [each.resources[0].metrics[0].declaration.name for each in exporter.snapshots]
    assert names == ["rl.a", "rl.reward"]


def test_the_account_is_complete_before_the_first_success(clock: FakeClock) -> None:
    state = delivery_of(InMemoryExporter(), ListSource(4), clock).state()

    assert (state.name, state.state, state.backlog_points) == ("memory", "idle", 4)
    assert (state.last_success_unix_nano, state.last_error) == (0, "")


async def test_a_revision_counts_as_delivered_once_its_points_have_gone_too(
    clock: FakeClock,
) -> None:
    source = ListSource(1)
    source.totals = {"rl.a": (1.0, 4)}
    exporter = InMemoryExporter(outcomes=[ExportResult(), DOWN])
    delivery = delivery_of(exporter, source, clock)

    await delivery.run_once()
    after_totals = (delivery.revision, delivery.delivered_revision)
    clock.advance(5.0)
    await delivery.run_once()

    assert after_totals == (4, 0)
    assert (delivery.revision, delivery.delivered_revision) == (4, 4)
