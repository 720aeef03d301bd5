# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Versions, configuration, the actor and its exporters: which facts are how bad, and what to do."""

import pytest

from nemo_telemetry_actor.cli.doctor_check import Check, report
from nemo_telemetry_actor.cli.doctor_checks import (
    actor_check,
    all_checks,
    cluster_check,
    configuration_check,
    differences_check,
    exporter_checks,
    http_check,
    package_check,
    problem_checks,
    ray_check,
)
from nemo_telemetry_actor.cli.doctor_facts import (
    Cluster,
    Configuration,
    Facts,
    Here,
    Reach,
    Unknown,
)
from tests.unit.cli.facts import FILE, OTLP, actor, facts, reading
from tests.unit.cli.host_rows import about
from tests.unit.cli.states import exporter


def _ray(here: str, there: str = "", source: str = "raylet") -> Check:
    return ray_check(
        facts(
            here=Here("0.1.0", here, "head"),
            cluster=Cluster("h:1", there or here, ()),
            actor=actor(hosts=about(source=source)),
        )
    )


def test_a_sound_installation_has_nothing_to_do() -> None:
    checks = all_checks(facts())

    assert {check.name for check in checks if check.level not in {"ok", "skipped"}} == set()
    assert {check.next_step for check in checks} == {""}
    assert report("h:1", checks).healthy


def test_every_bad_check_says_what_to_do() -> None:
    lost = facts(
        here=Here("0.2.0", "2.40.0", "x"),
        configuration=Configuration("c.yaml", "http.port is -1"),
        actor=actor(problems=["a"], exporters=[exporter(OTLP, state="down", last_error="no")]),
        http=Reach("http://h:1", "refused"),
    )

    bad = [check for check in all_checks(lost) if check.level in {"warning", "failed"}]

    assert len(bad) >= 5
    assert [check.name for check in bad if not check.next_step] == []


def test_without_a_cluster_its_check_fails_and_what_rests_on_it_is_skipped() -> None:
    alone = Facts(
        here=Here("0.1.0", "2.60.0", "x"),
        configuration=Configuration(None),
        cluster=Unknown("no Ray cluster runs on this machine", "ray start --head"),
    )

    levels = {check.name: check.level for check in all_checks(alone)}

    assert levels.pop("cluster") == "failed"
    assert {name for name, level in levels.items() if level == "ok"} == {
        "Ray",
        "package",
        "configuration",
    }
    assert set(levels.values()) == {"ok", "skipped"}
    assert cluster_check(alone).next_step == "ray start --head"


@pytest.mark.parametrize(
    ("version", "level"),
    [
        ("2.48.9", "failed"),
        ("2.49.0", "ok"),
        ("2.51.2", "ok"),
        ("2.52.0", "warning"),
        ("2.56.1", "warning"),
        ("2.57.0", "ok"),
        ("3.0.0", "ok"),
        ("nightly", "warning"),
    ],
)
def test_rays_version_is_judged(version: str, level: str) -> None:
    assert _ray(version).level == level


def test_a_ray_whose_pages_empty_is_fine_while_the_dashboard_is_asked() -> None:
    check = _ray("2.54.1", source="dashboard")

    assert check.level == "ok"
    assert "so host memory comes from the dashboard" in check.found


def test_another_ray_than_the_clusters_is_a_warning_with_the_one_to_install() -> None:
    check = _ray("2.60.0", "2.57.1")

    assert (check.level, "ray[default]==2.57.1" in check.next_step) == ("warning", True)


def test_another_version_of_the_package_is_a_warning() -> None:
    assert (
        package_check(facts(actor=actor(version="0.0.9"))).found == "0.1.0 here, 0.0.9 in the actor"
    )
    assert package_check(facts(actor=actor(version="0.0.9"))).level == "warning"


def test_a_wrong_configuration_fails_and_names_the_command_to_check_it() -> None:
    check = configuration_check(facts(configuration=Configuration("c.yaml", "http.port is -1")))

    assert (check.level, check.found) == ("failed", "http.port is -1")
    assert check.next_step.endswith("nemo-telemetry check-config c.yaml")


def test_an_actor_that_is_not_there_fails_with_start_as_the_next_step() -> None:
    check = actor_check(facts(actor=Unknown("there is no telemetry actor", "nemo-telemetry start")))

    assert (check.level, check.next_step) == ("failed", "nemo-telemetry start")


def test_the_quickest_answer_counts_and_a_slow_actor_is_a_warning() -> None:
    slow = (reading(trip_ms=4000), reading(trip_ms=1500))

    assert actor_check(facts(actor=actor(readings=(*slow, reading())))).level == "ok"
    check = actor_check(facts(actor=actor(readings=slow)))
    assert (check.level, "1500.0 ms" in check.found) == ("warning", True)


def test_each_problem_of_the_actor_is_a_failed_check() -> None:
    checks = list(problem_checks(facts(actor=actor(problems=["a", "b"]))))

    assert [(check.level, check.found) for check in checks] == [("failed", "a"), ("failed", "b")]


def test_another_configuration_than_the_wanted_is_a_warning_and_none_is_not_compared() -> None:
    differs = actor(differences=["http.port: running 1, wanted 2"])

    assert differences_check(facts(actor=differs)).level == "warning"
    assert differences_check(facts(actor=actor(differences=[]))).level == "ok"
    assert differences_check(facts()).level == "skipped"


def test_an_http_server_that_is_off_fails_and_one_not_reached_from_here_is_a_warning() -> None:
    assert http_check(facts(http=None)).level == "failed"
    assert http_check(facts(http=Reach("http://h:1", "timed out"))).level == "warning"
    assert http_check(facts(http=Unknown("RuntimeError: x"))).level == "failed"


@pytest.mark.parametrize(
    ("changes", "problem", "level"),
    [
        ({}, "", "ok"),
        ({}, "refused", "warning"),
        ({"state": "idle"}, "", "ok"),
        ({"state": "idle"}, "refused", "failed"),
        ({"state": "down", "last_error": "UNAVAILABLE"}, "", "failed"),
        ({"rejected": 3, "last_error": "too old"}, "", "warning"),
        ({"dropped": {"queue_full": 2}}, "", "warning"),
    ],
)
def test_an_exporter_is_judged_by_what_both_sides_see(
    changes: dict[str, object], problem: str, level: str
) -> None:
    one = facts(
        actor=actor(exporters=[exporter(OTLP, **changes)]), endpoints=(Reach(OTLP, problem),)
    )

    (check,) = exporter_checks(one)

    assert (check.name, check.level) == (OTLP, level)


def test_a_file_whose_folder_is_full_is_a_warning_while_it_is_written() -> None:
    full = facts(folders=(Reach(FILE, "only 3 MiB left on its disk"),))

    levels = {check.name: check.level for check in exporter_checks(full)}

    assert levels == {OTLP: "ok", FILE: "warning"}


def test_without_an_actor_the_wanted_endpoints_are_tried() -> None:
    alone = facts(actor=Unknown("none"), folders=None, endpoints=(Reach(OTLP, "refused"),))

    assert [(check.name, check.level) for check in exporter_checks(alone)] == [(OTLP, "failed")]


def test_endpoints_that_could_not_be_tried_are_a_failed_check_beside_the_actors_view() -> None:
    checks = exporter_checks(facts(endpoints=Unknown("not found out in time", "longer --timeout")))

    assert [(check.name, check.level) for check in checks] == [
        ("exporters", "failed"),
        (OTLP, "ok"),
        (FILE, "ok"),
    ]
