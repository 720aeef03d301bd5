# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from nemo_telemetry_actor.demo.digits import PromptStream, load


def test_the_three_parts_share_no_image_and_leave_none_out() -> None:
    digits = load(seed=3)

    images = np.concatenate(
        [digits.reward_model.images, digits.validation.images, digits.policy.images]
    )
    assert len(images) == 1797
    assert len(np.unique(images, axis=0)) == 1797
    assert images.min() == 0.0
    assert images.max() == 1.0


def test_a_seed_gives_the_same_parts_again() -> None:
    np.testing.assert_array_equal(load(seed=3).policy.labels, load(seed=3).policy.labels)


def test_an_epoch_visits_every_image_once() -> None:
    stream = PromptStream(np.arange(12.0).reshape(12, 1), 4, np.random.default_rng(0))

    epoch = np.concatenate([next(stream) for _ in range(3)])

    assert sorted(epoch.ravel()) == list(range(12))


def test_a_batch_larger_than_the_data_is_refused() -> None:
    with pytest.raises(ValueError, match="13 does not fit 12"):
        PromptStream(np.zeros((12, 1)), 13, np.random.default_rng(0))
