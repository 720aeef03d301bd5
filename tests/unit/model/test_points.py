# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from nemo_telemetry_actor.model.points import ResourceData, Snapshot
from tests.snapshots import gauge


def test_a_snapshot_counts_the_points_of_all_its_producers() -> None:
    snapshot = Snapshot(
        [
            ResourceData({}, [gauge("rl.a", [1.0, 2.0]), gauge("rl.b", [3.0])]),
            ResourceData({}, [gauge("rl.a", [4.0])]),
            ResourceData({}, []),
        ]
    )

    assert snapshot.point_count == 4
    assert Snapshot([]).point_count == 0
