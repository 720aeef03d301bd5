# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from nemo_telemetry_actor.demo.digits import load
from nemo_telemetry_actor.demo.reward_model import train_reward_model


def test_it_learns_the_digits_and_pays_right_answers_more_than_wrong_ones() -> None:
    digits = load(seed=0)

    model = train_reward_model(digits.reward_model, seed=0)

    right = digits.validation.labels[:, None]
    wrong = (right + 1) % 10
    paid_right = model.rewards(digits.validation.images, right)
    paid_wrong = model.rewards(digits.validation.images, wrong)
    assert model.accuracy > 0.9
    assert float((paid_right > paid_wrong).mean()) > 0.95
    assert 0.0 <= paid_wrong.min() <= paid_right.max() <= 1.0


def test_equal_seeds_give_equal_models() -> None:
    examples = load(seed=0).reward_model

    first, second = (train_reward_model(examples, seed=7) for _ in range(2))

    np.testing.assert_array_equal(first.weights, second.weights)
