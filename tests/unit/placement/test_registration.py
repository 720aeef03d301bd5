# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import msgspec
import pytest

from nemo_telemetry_actor.placement.registration import (
    MAX_ID_CHARS,
    check_registration,
    place_count,
)
from nemo_telemetry_actor.wire.messages import PlacementSet, Registration


def test_a_set_survives_the_wire() -> None:
    sent = PlacementSet(
        3,
        [Registration("a", node_ids=["n1"]), Registration("b", bundles=[("pg", 0), ("pg", 1)])],
    )

    assert msgspec.msgpack.decode(msgspec.msgpack.encode(sent), type=PlacementSet) == sent


@pytest.mark.parametrize(
    ("registration", "places"),
    [
        (Registration("a"), 0),
        (Registration("a", node_ids=["n1", "n2"]), 2),
        (Registration("a", bundles=[("pg", 0)]), 1),
    ],
)
def test_nodes_or_bundles_or_neither_can_be_registered(
    registration: Registration, places: int
) -> None:
    check_registration(registration)

    assert place_count(registration) == places


@pytest.mark.parametrize(
    ("registration", "why"),
    [
        (Registration("a,b"), "comma"),
        (Registration("a", ["n1"], [("pg", 0)]), "nodes and bundles; it takes one"),
        (Registration("a", [""]), "an id that is empty or longer than 128"),
        (Registration("a", ["n" * (MAX_ID_CHARS + 1)]), "an id that is empty or longer"),
        (Registration("a", bundles=[("", 0)]), "an id that is empty or longer"),
    ],
)
def test_what_no_client_of_ours_would_send_is_refused(registration: Registration, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check_registration(registration)
