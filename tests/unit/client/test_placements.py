# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import logging
from typing import Any

import pytest

from nemo_telemetry_actor.client.placements import Placements
from nemo_telemetry_actor.testing import connected, new_core
from nemo_telemetry_actor.wire.messages import PlacementSet, Registration


class _Id:
    def hex(self) -> str:
        return "ab" * 18


class _Group:
    id = _Id()


def test_nothing_is_said_until_something_is_registered() -> None:
    placements = Placements()

    placements.forget("never")
    placements.announce_again()

    assert placements.take() is None


def test_all_that_is_vouched_for_is_said_once_a_change() -> None:
    placements = Placements()
    placements.register_nodes("lm_policy", ["n1", "n2", "n1"])
    placements.register_bundles("generation", [(_Group(), 0), (_Group(), 1)])

    said = placements.take()

    assert said == PlacementSet(
        2,
        [
            Registration("lm_policy", node_ids=["n1", "n2"]),
            Registration("generation", bundles=[("ab" * 18, 0), ("ab" * 18, 1)]),
        ],
    )
    assert placements.take() is None


def test_registering_again_replaces_and_forgetting_removes() -> None:
    placements = Placements()
    placements.register_nodes("a", ["n1"])
    placements.register_nodes("a", ["n2"])
    placements.register_nodes("b", ["n3"])
    placements.forget("b")

    assert placements.take() == PlacementSet(4, [Registration("a", node_ids=["n2"])])


def test_after_a_lost_lease_everything_is_said_again_with_a_newer_sequence() -> None:
    placements = Placements()
    placements.register_nodes("a", ["n1"])
    placements.take()

    placements.announce_again()

    assert placements.take() == PlacementSet(2, [Registration("a", node_ids=["n1"])])


@pytest.mark.parametrize(
    ("name", "bundles", "words"),
    [
        ("a,b", [], "comma"),
        ("", [], "non-empty"),
        ("a", [(_Group(), -1)], "bundle index"),
        ("a", [(None, 0)], "placement group"),
        ("a", 5, "pairs"),
    ],
)
def test_a_wrong_registration_is_refused_with_the_reason_and_never_raises(
    name: str, bundles: Any, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    core = new_core()
    telemetry = connected(core, strict=False)
    with caplog.at_level(logging.WARNING, "nemo_telemetry_actor"):
        telemetry.register_worker_group_placement(name, bundles)
        telemetry.register_worker_group_placement(name, bundles)

    assert [words in record.getMessage() for record in caplog.records] == [True]
    assert telemetry.shutdown()


def test_a_node_id_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="node ids of 'a'"):
        Placements().register_nodes("a", ["n1", ""])
