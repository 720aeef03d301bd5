# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from nemo_telemetry_actor.demo.optimizer import Adam, clip_by_norm, learning_rate


def test_adams_first_step_is_the_learning_rate_against_the_gradients_sign() -> None:
    stepped = Adam(3).step(np.zeros(3), np.array([10.0, -0.1, 0.0]), learning_rate=0.5)

    np.testing.assert_allclose(stepped, [-0.5, 0.5, 0.0], atol=1e-6)


def test_adam_finds_the_lowest_point_of_a_bowl() -> None:
    adam = Adam(2)
    weights = np.array([3.0, -2.0])
    for _ in range(500):
        weights = adam.step(weights, 2.0 * (weights - [1.0, 1.0]), learning_rate=0.05)

    np.testing.assert_allclose(weights, [1.0, 1.0], atol=1e-2)


def test_a_long_gradient_is_scaled_to_the_bound_and_its_norm_told() -> None:
    clipped, norm = clip_by_norm(np.array([3.0, 4.0]), max_norm=1.0)

    np.testing.assert_allclose(clipped, [0.6, 0.8])
    assert norm == 5.0


def test_a_short_gradient_stays_as_it_is() -> None:
    clipped, norm = clip_by_norm(np.array([0.3, 0.4]), max_norm=1.0)

    np.testing.assert_array_equal(clipped, [0.3, 0.4])
    assert norm == pytest.approx(0.5)


def test_the_rate_climbs_to_its_peak_and_falls_to_a_tenth() -> None:
    rates = [learning_rate(step, 110, peak=1.0, warmup=10) for step in range(111)]

    assert rates[:10] == pytest.approx([0.1 * step for step in range(1, 11)])
    assert max(rates) == 1.0
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[110] == pytest.approx(0.1)
