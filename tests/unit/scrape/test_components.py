# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.scrape.components import MAX_CLASSES, component_of, components_of
from nemo_telemetry_actor.scrape.families import PageReading, ProcessSum, read_page
from tests.unit.scrape.builders import page_of


def _page(*processes: tuple[str, float], store_bytes: float | None = None) -> PageReading:
    sums = tuple(ProcessSum(title, "", rss_bytes) for title, rss_bytes in processes)
    return PageReading(processes=sums, store_bytes=store_bytes)


@pytest.mark.parametrize(
    ("title", "component"),
    [
        ("raylet", "raylet"),
        ("gcs", "gcs"),
        ("agent", "agents"),
        ("ray::DashboardAgent", "agents"),
        ("ray::RuntimeEnvAgent", "agents"),
        ("ray::MyActor", "MyActor"),
        ("ray::MyActor.step", "MyActor"),
        ("ray::my_task", "my_task"),
        ("ray::my_task()", "my_task"),
        ("ray::IDLE", "idle_workers"),
        ("ray::IDLE_SpillWorker", "idle_workers"),
        ("ray::SPILL_SpillWorker", "idle_workers"),
        ("ray::", "others"),
        (".venv/bin/python", "others"),
        ("", "others"),
        ("ray::gcs", "ray::gcs"),
        ("ray::others", "ray::others"),
    ],
)
def test_a_title_has_a_component(title: str, component: str) -> None:
    assert component_of(title) == component


def test_a_real_page_splits_into_its_components() -> None:
    components = components_of([read_page(page_of("2.60.0"), components=True)])

    assert components == {
        "A": 307548160.0,
        "agents": 130035712.0 + 83484672.0,
        "gcs": 87142400.0,
        "idle_workers": 81788928.0,
        "object_store": 0.0,
        "others": 392728576.0,
        "raylet": 36548608.0,
    }


def test_the_agent_counts_once_also_before_it_had_a_title() -> None:
    assert components_of([_page(("agent", 5.0))]) == {"agents": 5.0}
    assert components_of([_page(("agent", 5.0), ("ray::DashboardAgent", 5.0))]) == {"agents": 5.0}


def test_a_class_and_its_methods_are_one() -> None:
    assert components_of([_page(("ray::A", 1.0), ("ray::A.go", 2.0))]) == {"A": 3.0}


def test_processes_that_are_gone_are_left_out() -> None:
    assert components_of([_page(("ray::A", 1.0), ("ray::B", 0.0))]) == {"A": 1.0}


def test_the_raylets_of_one_host_add_up() -> None:
    head = _page(("raylet", 1.0), ("gcs", 2.0), ("ray::A", 3.0), store_bytes=4.0)
    worker = _page(("raylet", 10.0), ("ray::A", 30.0), store_bytes=40.0)

    assert components_of([head, worker]) == {
        "A": 33.0,
        "gcs": 2.0,
        "object_store": 44.0,
        "raylet": 11.0,
    }


def test_of_a_raylet_that_has_two_lines_the_last_one_counts() -> None:
    processes = (ProcessSum("raylet", "1", 5.0), ProcessSum("raylet", "2", 7.0))

    assert components_of([PageReading(processes=processes)]) == {"raylet": 7.0}


def test_many_classes_are_bounded_and_lose_nothing() -> None:
    page = _page(*((f"ray::A{i:03}", 1.0 + i) for i in range(MAX_CLASSES + 10)))

    components = components_of([page])

    assert len(components) == MAX_CLASSES + 1
    assert components["others"] == sum(range(1, 11))
    assert sum(components.values()) == sum(process.rss_bytes for process in page.processes)
