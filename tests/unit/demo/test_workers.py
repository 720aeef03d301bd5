# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from nemo_telemetry_actor.demo.generation import sample_answers
from nemo_telemetry_actor.demo.policy import shard_rollouts
from nemo_telemetry_actor.demo.replay import Rollout


def test_answers_are_drawn_as_often_as_the_policy_says() -> None:
    log_probs = np.log([[0.7, 0.2, 0.1]])

    answers, chosen = sample_answers(log_probs, 20_000, np.random.default_rng(0))

    shares = np.bincount(answers.ravel(), minlength=3) / 20_000
    np.testing.assert_allclose(shares, [0.7, 0.2, 0.1], atol=0.01)
    np.testing.assert_array_equal(chosen[0], log_probs[0][answers[0]])


def rollout(first: int, images: int, version: int) -> Rollout:
    rows = np.arange(first, first + images, dtype=np.float64)[:, None]
    return Rollout(rows, rows.astype(np.int64) * 10, rows * 2, rows * 3, version)


def test_shards_hold_every_image_once_with_its_own_group() -> None:
    shards = shard_rollouts([rollout(0, 3, version=4), rollout(3, 4, version=2)], 2)

    assert [len(shard.images) for shard in shards] == [4, 3]
    images = np.concatenate([shard.images for shard in shards])
    np.testing.assert_array_equal(images.ravel(), np.arange(7.0))
    for shard in shards:
        np.testing.assert_array_equal(shard.answers, shard.images * 10)
        np.testing.assert_array_equal(shard.log_probs, shard.images * 2)
        np.testing.assert_array_equal(shard.rewards, shard.images * 3)
        assert shard.version == 2
